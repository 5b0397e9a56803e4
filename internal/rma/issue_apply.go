package rma

import (
	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// apply makes an access, whose bounds have been checked, to memory that is mapped here;
// displacement 0 of its layout is at byte off.
func (a *access) apply(r *apply.Region, off int64) error {
	if a.layout.Type == nil {
		return a.applyRun(r, off)
	}
	var b dtype.Buffer
	if err := b.Bind(r.Mem, off, a.layout.Type, a.layout.Count); err != nil {
		return err
	}
	if a.kind == kindAccumulate {
		a.accumulate(r, off, &b)
		return nil
	}
	near := &a.origin
	if a.kind == kindGet {
		near = &a.result
	}
	switch {
	case near.Layout == nil && a.kind == kindPut:
		b.Unpack(near.Bytes, 0)
	case near.Layout == nil:
		b.Pack(near.Bytes, 0)
	case a.kind == kindPut:
		mem.Copy(mem.In(&b), mem.In(near.Layout))
	default:
		mem.Copy(mem.In(near.Layout), mem.In(&b))
	}
	return nil
}

// applyRun is apply where the memory at the target is contiguous.
func (a *access) applyRun(r *apply.Region, off int64) error {
	switch a.kind {
	case kindPut:
		if l := a.origin.Layout; l != nil {
			l.Pack(r.Mem[off:off+l.Size()], 0)
		} else {
			move(r.Mem[off:], a.origin.Bytes)
		}
	case kindGet:
		if l := a.result.Layout; l != nil {
			l.Unpack(r.Mem[off:off+l.Size()], 0)
		} else {
			move(a.result.Bytes, r.Mem[off:off+int64(len(a.result.Bytes))])
		}
	case kindCompare:
		r.CompareSwap(off, a.typ.Size(), a.origin.Bytes, a.compare, a.result.Bytes)
	case kindAccumulate:
		data, plain := a.origin.bytes()
		old, too := a.result.bytes()
		switch {
		case !plain || !too:
			a.accumulate(r, off, nil)
		case len(old) == a.typ.Size():
			r.FetchOp(off, a.op, a.typ, data, old)
		default:
			r.Accumulate(off, a.op, a.typ, data, old)
		}
	}
	return nil
}

// bytes returns the data if they are one run in memory; nil if there are none.
func (d *Data) bytes() ([]byte, bool) {
	if d.Layout == nil {
		return d.Bytes, true
	}
	return d.Layout.Contiguous()
}

const (
	// accumulatePiece is how much of an accumulate between layouts is packed at a time,
	// in bytes: a multiple of the size of every element, small beside the nearest cache.
	accumulatePiece = 4 << 10
	// accumulateRuns is how many runs at the target are asked for at a time.
	accumulateRuns = 16
)

// accumulate makes an accumulate piece by piece and run by run. b is the layout at the
// target, nil if it is contiguous from off on.
func (a *access) accumulate(r *apply.Region, off int64, b *dtype.Buffer) {
	var scratch [2][accumulatePiece]byte
	step := int64(accumulatePiece / a.typ.Size() * a.typ.Size())
	for at, size := int64(0), a.size(); at < size; at += step {
		n := min(step, size-at)
		data, old := a.pieces(&scratch, at, n)
		if b == nil {
			r.Accumulate(off+at, a.op, a.typ, data, old)
		} else {
			done := int64(0)
			eachRun(b, at, n, func(x dtype.Run) error {
				lo, hi := done, done+x.Len
				done = hi
				r.Accumulate(x.Off, a.op, a.typ, part(data, lo, hi), part(old, lo, hi))
				return nil
			})
		}
		if a.result.Layout != nil {
			a.result.Layout.Unpack(old, at)
		}
	}
}

// none reports whether there is nowhere to put data.
func (d *Data) none() bool { return d.Layout == nil && len(d.Bytes) == 0 }

// piece is where bytes at, at+1 ... of the packed data are or can be: scratch, unless
// the data are bytes.
func (d *Data) piece(scratch []byte, at int64) []byte {
	if d.Layout != nil {
		return scratch
	}
	return d.Bytes[at : at+int64(len(scratch))]
}

// checkElements returns an error unless the data of an accumulate are whole elements.
func (a *access) checkElements(size int64) error {
	width := int64(a.typ.Size())
	switch {
	case width == 0:
		return fail(class.Type, "%v is no type of elements", a.typ)
	case a.kind == kindCompare && (size != width || int64(len(a.compare)) != width || int64(len(a.result.Bytes)) != width):
		return fail(class.Count, "%d, %d and %d bytes are not one element of %v each", size, len(a.compare), len(a.result.Bytes), a.typ)
	case size%width != 0:
		return fail(class.Count, "%d bytes are not whole elements of %v", size, a.typ)
	case a.kind == kindAccumulate && !a.result.none() && a.result.size() != size:
		return fail(class.Count, "room for %d bytes before, where %d are accumulated", a.result.size(), size)
	}
	return nil
}
