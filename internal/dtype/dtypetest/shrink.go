package dtypetest

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Shrink searches for the simplest case that still fails, beginning with a case that fails
// with err. smaller returns the cases that are one step simpler. A panic is a failure.
func Shrink[T any](c T, err error, smaller func(T) []T, check func(T) error) (T, error) {
	for again := true; again; {
		again = false
		for _, small := range smaller(c) {
			if e := try(small, check); e != nil {
				c, err, again = small, e, true
				break
			}
		}
	}
	return c, err
}

// try runs check, and returns a panic as an error.
func try[T any](c T, check func(T) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return check(c)
}

// Smaller returns the specs that are one step simpler.
func (s *Spec) Smaller() []*Spec {
	out := append([]*Spec{}, s.Kids...)
	with := func(i int, kid *Spec) {
		c := *s
		c.Kids = append([]*Spec{}, s.Kids...)
		c.Kids[i] = kid
		out = append(out, &c)
	}
	for i, k := range s.Kids {
		for _, small := range k.Smaller() {
			with(i, small)
		}
		if k.Combiner == dtype.CombinerNamed && k.ID != dtype.Byte {
			with(i, Named(dtype.Byte))
		}
	}
	change := func(of func(*Spec) *[]int64) {
		for i, v := range *of(s) {
			if v == 0 || v == 1 {
				continue
			}
			for _, small := range []int64{0, 1, v / 2, v - v/max(v, -v)} {
				c := *s
				l := append([]int64{}, *of(s)...)
				l[i] = small
				*of(&c) = l
				out = append(out, &c)
			}
		}
	}
	switch s.Combiner {
	case dtype.CombinerContiguous, dtype.CombinerVector, dtype.CombinerHvector:
		change(func(s *Spec) *[]int64 { return &s.Ints })
	}
	change(func(s *Spec) *[]int64 { return &s.Addrs })
	return append(out, s.fewer()...)
}

// fewer returns the specs with one block fewer, for combiners with a list of blocks.
func (s *Spec) fewer() (out []*Spec) {
	switch s.Combiner {
	case dtype.CombinerHindexed, dtype.CombinerStruct:
		for i := range s.Addrs {
			c := *s
			c.Addrs = without(s.Addrs, i)
			c.Ints = counted(without(s.Ints[1:], i))
			if s.Combiner == dtype.CombinerStruct {
				c.Kids = without(s.Kids, i)
			}
			out = append(out, &c)
		}
	case dtype.CombinerHindexedBlock:
		for i := range s.Addrs {
			c := *s
			c.Addrs = without(s.Addrs, i)
			c.Ints = []int64{s.Ints[0] - 1, s.Ints[1]}
			out = append(out, &c)
		}
	case dtype.CombinerIndexedBlock:
		for i := range int(s.Ints[0]) {
			c := *s
			c.Ints = append([]int64{s.Ints[0] - 1, s.Ints[1]}, without(s.Ints[2:], i)...)
			out = append(out, &c)
		}
	case dtype.CombinerIndexed:
		n := s.Ints[0]
		for i := range int(n) {
			c := *s
			c.Ints = counted(without(s.Ints[1:1+n], i), without(s.Ints[1+n:], i))
			out = append(out, &c)
		}
	}
	return out
}

func without[T any](l []T, i int) []T {
	return append(append([]T{}, l[:i]...), l[i+1:]...)
}
