package benchmark

import (
	"encoding/binary"
	"reflect"

	"github.com/halo-mpi/halo/mpi"
)

// elements has the loops of the operations that compute at the target, for one element type.
type elements interface {
	name() string
	width() int
	fill()                             // fills the operands with ones
	differ(mem []byte, ones int64) int // number of elements of mem that are not the sum of ones
	fetched(ones int64) bool           // whether the last operation has fetched the sum of ones

	accumulate(n int) error
	getAccumulate(n int) error
	fetchAndOp(n int) error
	compareAndSwap(n int) error
}

// elementTypes returns the types that -types accepts.
func elementTypes() map[string]func(o *onesided) elements {
	return map[string]func(o *onesided) elements{
		"int8": elementsOf[int8], "uint8": elementsOf[uint8], "int16": elementsOf[int16], "uint16": elementsOf[uint16],
		"int32": elementsOf[int32], "uint32": elementsOf[uint32], "int64": elementsOf[int64], "uint64": elementsOf[uint64],
		"float32": elementsOf[float32], "float64": elementsOf[float64],
	}
}

// number is the constraint for types that can be summed.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// typed is elements of type T.
type typed[T number] struct {
	o             *onesided
	terms, result []T
}

func elementsOf[T number](o *onesided) elements {
	n := len(o.send) / int(reflect.TypeFor[T]().Size())
	return &typed[T]{o, make([]T, n), make([]T, n)}
}

func (t *typed[T]) name() string { return reflect.TypeFor[T]().Name() }
func (t *typed[T]) width() int   { return int(reflect.TypeFor[T]().Size()) }

func (t *typed[T]) fill() {
	for i := range t.terms {
		t.terms[i], t.result[i] = 1, 0
	}
}

// sum returns the sum of ones in T: modulo 2^n for integers. In single precision the sum
// stays at 2^24, since adding 1 to it gives 2^24 again.
func (t *typed[T]) sum(ones int64) T {
	if reflect.TypeFor[T]().Kind() == reflect.Float32 {
		ones = min(ones, 1<<24)
	}
	return T(ones)
}

func (t *typed[T]) differ(mem []byte, ones int64) (wrong int) {
	values := make([]T, len(mem)/t.width())
	if _, err := binary.Decode(mem, binary.NativeEndian, values); err != nil {
		return len(values)
	}
	for _, v := range values {
		if v != t.sum(ones) {
			wrong++
		}
	}
	return wrong
}

func (t *typed[T]) fetched(ones int64) bool { return t.result[0] == t.sum(ones) }

func (t *typed[T]) accumulate(n int) error {
	o := t.o
	if o.rank != 0 {
		return nil
	}
	win, terms, base := mpi.Win[T]{Window: o.win.Window}, t.terms[:o.size/t.width()], o.base
	o.total += int64(n)
	for range n {
		if err := win.Accumulate(terms, 1, base, mpi.Sum); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

func (t *typed[T]) getAccumulate(n int) error {
	o := t.o
	if o.rank != 0 {
		return nil
	}
	count := o.size / t.width()
	win, terms, result, base := mpi.Win[T]{Window: o.win.Window}, t.terms[:count], t.result[:count], o.base
	o.total += int64(n)
	for range n {
		if err := win.GetAccumulate(terms, result, 1, base, mpi.Sum); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

func (t *typed[T]) fetchAndOp(n int) error {
	o := t.o
	if o.rank != 0 {
		return nil
	}
	win, term, result, base := mpi.Win[T]{Window: o.win.Window}, &t.terms[0], &t.result[0], o.base
	o.total += int64(n)
	for range n {
		if err := win.FetchAndOp(term, result, 1, base, mpi.Sum); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

// compareAndSwap counts up: each swap must find the value of the one before, or else the
// memory does not hold the total at the end.
func (t *typed[T]) compareAndSwap(n int) error {
	o := t.o
	if o.rank != 0 {
		return nil
	}
	win, result, base := mpi.Win[T]{Window: o.win.Window}, &t.result[0], o.base
	next := &t.terms[0]
	expected := &t.terms[1]
	for range n {
		*expected = T(o.total)
		o.total++
		*next = T(o.total)
		if err := win.CompareAndSwap(next, expected, result, 1, base); err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}
