package operation

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Apply carries out an operation, whose bounds have been checked, in memory that is mapped here;
// displacement 0 of its place is at byte off.
func (o *Op) Apply(r *apply.Region, off int64) error {
	if o.Place.Type == nil {
		o.applyAt(r, off)
		return nil
	}
	var b dtype.Buffer
	if err := b.Bind(r.Mem, off, o.Place.Type, o.Place.Count); err != nil {
		return err
	}
	if s, ok := b.Contiguous(); ok { // contiguous elements of a type that is not
		o.applyAt(r, int64(uintptr(unsafe.Pointer(&s[0]))-uintptr(unsafe.Pointer(&r.Mem[0]))))
		return nil
	}
	switch o.Kind {
	case Put:
		mem.Copy(mem.In(&b), o.Origin)
	case Get:
		mem.Copy(o.Result, mem.In(&b))
	case Accumulate:
		o.accumulate(r, off, &b)
	}
	return nil
}

// applyAt is Apply where the place is contiguous.
func (o *Op) applyAt(r *apply.Region, off int64) {
	origin, ok := o.Origin.Bytes()
	result, also := o.Result.Bytes()
	switch {
	case o.Kind == Put && ok:
		mem.Move(r.Mem[off:], origin)
	case o.Kind == Put:
		o.Origin.Pack(r.Mem[off:][:o.Origin.Len()], 0)
	case o.Kind == Get && also:
		mem.Move(result, r.Mem[off:][:len(result)])
	case o.Kind == Get:
		o.Result.Unpack(r.Mem[off:][:o.Result.Len()], 0)
	case o.Kind == CompareAndSwap:
		r.CompareSwap(off, o.Elem.Size(), origin, o.Compare, result)
	case !ok || !also || o.Gaps():
		o.accumulate(r, off, nil)
	case len(result) == o.Elem.Size():
		r.FetchOp(off, o.Fn, o.Elem, origin, result)
	default:
		r.Accumulate(off, o.Fn, o.Elem, origin, result)
	}
}

const (
	// accumulatePiece is how much of an accumulate between layouts is packed at a time,
	// in bytes: a multiple of the size of every element, small beside the nearest cache.
	accumulatePiece = 4 << 10
	// accumulateRuns is how many runs at the target are asked for at a time.
	accumulateRuns = 16
)

// accumulate carries out an accumulate piece by piece and run by run. b is the layout at the
// target, nil if it is contiguous from off on.
func (o *Op) accumulate(r *apply.Region, off int64, b *dtype.Buffer) {
	var scratch [2][accumulatePiece]byte
	step := int64(accumulatePiece / o.Elem.Size() * o.Elem.Size())
	for at, size := int64(0), o.Size(); at < size; at += step {
		n := min(step, size-at)
		data, old := o.pieces(&scratch, at, n)
		if b == nil {
			r.Accumulate(off+at, o.Fn, o.Elem, data, old)
		} else {
			done := int64(0)
			EachRun(b, at, n, func(x dtype.Run) error {
				lo, hi := done, done+x.Len
				done = hi
				r.Accumulate(x.Off, o.Fn, o.Elem, part(data, lo, hi), part(old, lo, hi))
				return nil
			})
		}
		o.took(old, at)
	}
}

// ApplyRuns carries out an operation run by run, where runs of b, the layout at the target, may be in several regions:
// find returns the region of a run, and the offset in it. It stops at the first error of find.
func (o *Op) ApplyRuns(b *dtype.Buffer, find func(dtype.Run) (*apply.Region, int64, error)) error {
	var scratch [2][accumulatePiece]byte
	step, size := int64(accumulatePiece), o.Size()
	if o.Kind == Accumulate {
		step -= step % int64(o.Elem.Size())
	}
	for at := int64(0); at < size; at += step {
		n := min(step, size-at)
		give, take := o.pieces(&scratch, at, n)
		done := int64(0)
		err := EachRun(b, at, n, func(x dtype.Run) error {
			r, off, err := find(x)
			if err != nil {
				return err
			}
			lo, hi := done, done+x.Len
			done = hi
			switch o.Kind {
			case Put:
				mem.Move(r.Mem[off:], give[lo:hi])
			case Get:
				mem.Move(take[lo:hi], r.Mem[off:off+x.Len])
			default:
				r.Accumulate(off, o.Fn, o.Elem, part(give, lo, hi), part(take, lo, hi))
			}
			return nil
		})
		if err != nil {
			return err
		}
		o.took(take, at)
	}
	return nil
}

// pieces returns n packed bytes of the operand, from at on, and memory for as many bytes of the
// result; nil if the operation has none. Data that are not contiguous are in scratch, and took
// unpacks the result.
func (o *Op) pieces(scratch *[2][accumulatePiece]byte, at, n int64) (give, take []byte) {
	if o.Sends() {
		if b, ok := o.Origin.Bytes(); ok {
			give = b[at : at+n]
		} else {
			give = scratch[0][:n]
			o.Origin.Pack(give, int(at))
		}
	}
	if o.Result.Len() > 0 {
		if b, ok := o.Result.Bytes(); ok && !o.Gaps() {
			take = b[at : at+n]
		} else {
			take = scratch[1][:n]
		}
	}
	return give, take
}

// took stores the memory of pieces for the result, from at on, unless it is the result itself.
func (o *Op) took(take []byte, at int64) {
	if take != nil && (o.Gaps() || !o.Result.Contiguous()) {
		o.Deliver(take, int(at))
	}
}

// Gaps reports whether the result of an operation has gaps, which belong to the program, and not to
// the element before them.
func (o *Op) Gaps() bool { return o.Kind == Accumulate && o.Elem.Gaps() && o.Result.Len() > 0 }

// Deliver stores packed data of the result, from at on: whole elements, if these have gaps.
func (o *Op) Deliver(data []byte, at int) {
	if !o.Gaps() {
		o.Result.Unpack(data, at)
		return
	}
	if b, ok := o.Result.Bytes(); ok {
		o.Elem.Copy(b[at:at+len(data)], data)
		return
	}
	var one [1][]byte
	size := o.Elem.Size()
	for k := 0; k+size <= len(data); k += size { // a peer may send less
		o.Result.Blocks(one[:], at+k, at+k+size)
		o.Elem.Copy(one[0], data[k:k+size])
	}
}

// EachRun calls fn for the runs of n packed bytes of b from at on, until it fails.
func EachRun(b *dtype.Buffer, at, n int64, fn func(dtype.Run) error) error {
	var runs [accumulateRuns]dtype.Run
	for end := at + n; at < end; {
		k, next := b.Runs(runs[:], at, end-at)
		for _, x := range runs[:k] {
			if err := fn(x); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// part is b[lo:hi], nil if b is.
func part(b []byte, lo, hi int64) []byte {
	if b == nil {
		return nil
	}
	return b[lo:hi]
}
