package histories_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi"
)

// A storm is many additions of 1 to the same elements by several origins at the same time: by
// fetch_and_op, get_accumulate and accumulate in turn. Its purpose is to cause simultaneous
// updates, which are rare otherwise. At the end the sum must be correct, and the values that
// were fetched from an element must all be different, and ascending at each origin.

// addStorms adds storms on one place, by all members that may access the target.
func (m *roundMaker) addStorms(origin, target int) {
	var place *rmaOp
	if all := m.storms[target]; len(all) > 0 && !m.one(4) {
		place = all[m.IntN(len(all))]
	}
	origins := []int{origin}
	times := 20 + m.IntN(150)
	if m.one(8) {
		times = 2000 // long enough for several storms to overlap on any machine
	}
	switch m.phase.kind {
	case byPost:
		origins = m.round.origins[target]
	case byFence, byLockAll:
		origins = m.Perm(m.members())
	}
	for _, who := range origins {
		o := &rmaOp{kind: isStorm, origin: who, target: target, times: times, op: mpi.Sum}
		m.through(o)
		if place != nil {
			o.elem, o.there = place.elem, place.there
			if !m.where(o, place.slot, place.at) {
				m.by(o, 0)
				if !m.where(o, place.slot, place.at) {
					continue
				}
			}
		} else {
			o.elem = []dtype.ID{dtype.Int, dtype.Long, dtype.Int16, dtype.Uint8}[m.IntN(4)]
			s := dtypetest.Named(o.elem)
			o.there = half{spec: s, count: []int64{1, 2, 5, 40}[m.IntN(4)], m: s.Typemap(types, 1)}
			if !m.place(o, types.Type(o.elem).Size()) {
				return
			}
		}
		if !m.claims.take(o) {
			return
		}
		if place == nil {
			place = o
			m.storms[target] = append(m.storms[target], o)
		}
		m.addOp(o)
	}
}

// storm is a running storm.
type storm interface {
	run(w *mpi.Window, o *rmaOp, disp, unit int64) error
	// on returns the values that were fetched from element i, in order, and the number of
	// additions.
	on(i int) (fetched []int64, times int)
}

func newStorm(id dtype.ID) storm {
	switch id {
	case dtype.Int:
		return &stormOf[int32]{}
	case dtype.Long:
		return &stormOf[int64]{}
	case dtype.Int16:
		return &stormOf[int16]{}
	}
	return &stormOf[uint8]{}
}

type stormOf[T int16 | int32 | int64 | uint8] struct {
	ones  []T
	turns []stormTurn[T]
}

// stormTurn is one call: on all elements, or on one.
type stormTurn[T any] struct {
	alone   int // -1: all
	fetched []T // nil: the call fetches nothing
}

func (s *stormOf[T]) run(window *mpi.Window, o *rmaOp, disp, unit int64) error {
	w := mpi.Win[T]{Window: window}
	n, size := int(o.there.count), types.Type(o.elem).Size()
	s.ones = slices.Repeat([]T{1}, n)
	s.turns = make([]stormTurn[T], o.times)
	for k := range s.turns {
		t := &s.turns[k]
		t.alone = -1
		var err error
		switch {
		case k%3 == 2:
			err = w.Accumulate(s.ones, o.target, int(disp), mpi.Sum)
		case k%3 == 1:
			t.fetched = make([]T, n)
			err = w.GetAccumulate(s.ones, t.fetched, o.target, int(disp), mpi.Sum)
		default:
			t.alone = k % n
			if int64(t.alone)*size%unit != 0 {
				t.alone = 0
			}
			t.fetched = make([]T, 1)
			err = w.FetchAndOp(&s.ones[0], &t.fetched[0], o.target, int(disp+int64(t.alone)*size/unit), mpi.Sum)
		}
		if err != nil {
			return fmt.Errorf("addition %d: %w", k, err)
		}
	}
	return nil
}

func (s *stormOf[T]) on(i int) (fetched []int64, times int) {
	for _, t := range s.turns {
		switch {
		case t.alone >= 0 && t.alone != i:
			continue
		case t.alone == i:
			fetched = append(fetched, int64(t.fetched[0]))
		case t.fetched != nil:
			fetched = append(fetched, int64(t.fetched[i]))
		}
		times++
	}
	return fetched, times
}

// stormed is the effect of storms on an element.
type stormed struct {
	*element
	times   int
	fetched [][]int64 // by storm
}

// stormAt records the effect of a storm on each element.
func (c *checker) stormAt(o *issued) {
	i := 0
	o.each(func(off, _ int64) bool {
		at := place{o.target, o.slot, off}
		h := c.storms[at]
		if h == nil {
			h = &stormed{element: elementOf(o.elem)}
			c.storms[at] = h
		}
		fetched, times := o.storm.on(i)
		h.fetched = append(h.fetched, fetched)
		h.times += times
		i++
		return true
	})
}

// check compares an element before and after.
func (h *stormed) check(first, last string, loose bool) error {
	from, to := signed(first), signed(last)
	shift := 64 - 8*len(first)
	if (to-from-int64(h.times))<<shift != 0 {
		return fmt.Errorf("%d times 1 was added to %d, which makes %d", h.times, from, to)
	}
	if h.size < 4 {
		return nil // the fetched values wrap around
	}
	seen := map[int64]bool{}
	for _, list := range h.fetched {
		for k, v := range list {
			v -= from
			switch {
			case v<<shift>>shift < 0 || v<<shift>>shift >= int64(h.times):
				return fmt.Errorf("%d was fetched, but it went from %d to %d", list[k], from, to)
			case seen[v]:
				return fmt.Errorf("%d was fetched twice", list[k])
			case !loose && k > 0 && (list[k]-list[k-1])<<shift < 0:
				return errors.New("later operations of an origin were done before earlier ones")
			default:
				seen[v] = true
			}
		}
	}
	return nil
}

// signed is a value as a number.
func signed(value string) (v int64) {
	for i := range len(value) {
		v |= int64(value[i]) << (8 * i)
	}
	shift := 64 - 8*len(value)
	return v << shift >> shift
}
