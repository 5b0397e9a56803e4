package file

import (
	"encoding/binary"
	"fmt"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// The shared file pointer is 8 bytes of a window at rank 0, a position in the view. An access adds its
// length by fetch-and-add and begins at the previous value: on the node that is one instruction of the
// processor. Rank 0 takes no part in it.
//
// Rejected: a file beside the file with the pointer in it and a lock, as ROMIO has it: it needs locks
// on every file system and is left when a job is killed.

// Shared is the value of an offset that stands for the shared file pointer.
const Shared = Individual + 1

// At is an offset that a program gives: none of the two that stand for a pointer.
func At(offset int64) int64 { return max(offset, Shared+1) }

// window is the window with the shared pointer.
type window struct{ view *rma.View }

// open makes the window: collective.
func (w *window) open(e *rma.Engine, c *comm.Comm) error {
	s := rma.Spec{Flavor: rma.Allocated, DispUnit: 1, Own: true, Options: rma.Options{Ordering: rma.Ordered}}
	if c.Rank == 0 {
		s.Size = 8
	}
	v, err := e.Create(c, s)
	if err != nil {
		return err
	}
	w.view = v
	return v.LockAll(rma.ModeNoCheck)
}

// close frees the window: collective.
func (w *window) close(by call.Number) error {
	if w.view == nil {
		return nil
	}
	defer w.view.Begin(by)()
	return firstError(w.view.UnlockAll(), w.view.Free())
}

// update applies an operation to the pointer and returns its previous value.
func (w *window) update(o op.Op, n int64) (int64, error) {
	var value, was [8]byte
	binary.NativeEndian.PutUint64(value[:], uint64(n))
	if w.view.Fetched(value[:], was[:], 0, 0, o, op.Int64) {
		return int64(binary.NativeEndian.Uint64(was[:])), nil
	}
	v, r := make([]byte, 8), make([]byte, 8) // which the operation keeps
	copy(v, value[:])
	_, err := w.view.Do(&operation.Op{Kind: operation.Accumulate, Fn: o, Elem: op.Int64, Origin: mem.Of(v), Result: mem.Of(r), Call: call.SharedFilePointer}, 0)
	err = firstError(err, w.view.Flush(0))
	return int64(binary.NativeEndian.Uint64(r)), err
}

// take moves the shared pointer by n bytes, and returns where it was. It also moves if the access would end behind the
// view, which is an error: others may have moved it further already.
func (f *File) take(v *View, n int) (int64, error) {
	if _, err := v.position(v.unit, 0, n); err != nil {
		return 0, err
	}
	by := int64(n)
	if planted.SharedTwice {
		by = 0
	}
	at, err := f.shared.update(op.Sum, by)
	if err == nil {
		_, err = v.position(1, at, n)
	}
	return at, err
}

// inOrder makes an access at the shared pointer, in the order of the ranks: each member begins behind
// what those before it access.
func (x *exchange) inOrder(a collectiveAccess, own error) (int64, error) {
	f := x.f
	mine := [2]int64{0, int64(a.m.Len())}
	if own != nil {
		mine[0] = int64(classOf(own))
	}
	told, err := x.allgather(mine[:])
	if err != nil || own != nil {
		return 0, firstError(own, err)
	}
	before, total := int64(0), int64(0)
	for r := 0; 2*r < len(told); r++ {
		if err := notTaken(r, told[2*r]); err != nil {
			return 0, err
		}
		if r < f.c.Rank {
			before += told[2*r+1]
		}
		total += told[2*r+1]
	}
	base := int64(0)
	if f.c.Rank == 0 {
		base, err = f.shared.update(op.Sum, total)
		if err != nil {
			base = -int64(classOf(err))
		}
	}
	base, err = x.bcast(base)
	if err != nil {
		return 0, err
	}
	if base < 0 {
		return 0, class.Errorf(toldClass(-base), "rank 0 cannot access the shared file pointer, which is in its memory")
	}
	if _, err := a.v.position(1, base, int(total)); err != nil { // all have it
		return 0, err
	}
	return f.move(a.v, a.d, a.m, base+before, x.apart)
}

// SeekShared moves the shared pointer: collective. All members pass the same arguments. It returns the
// offset from the beginning of the view.
func (f *File) SeekShared(offset int64, whence int) (int64, error) {
	own := f.sharedSeekable()
	v := f.view.Load()
	now, to := int64(0), int64(0)
	if own == nil {
		now, own = f.shared.update(op.NoOp, 0)
	}
	if own == nil {
		to, own = f.target(v, v.unit, now, offset, whence)
	}
	f.queue.wait()
	if err := f.e.agree(f.c, call.FileSeekShared, fmt.Sprintf("offset %d from %d", offset, whence), own); err != nil {
		return 0, err
	}
	return to / v.unit, f.placeShared(to)
}

// placeShared sets the shared pointer: collective.
func (f *File) placeShared(to int64) error {
	var err error
	if f.c.Rank == 0 {
		_, err = f.shared.update(op.Replace, to)
	}
	return f.e.agree(f.c, call.FileSeekShared, "", err)
}

// PositionShared is the shared pointer, in elementary types.
func (f *File) PositionShared() (int64, error) {
	if err := f.sharedSeekable(); err != nil {
		return 0, err
	}
	at, err := f.shared.update(op.NoOp, 0)
	return at / f.Bytes(), err
}

// sharedSeekable returns an error if the shared pointer cannot be moved.
func (f *File) sharedSeekable() error {
	switch {
	case f.closed.Load():
		return class.Errorf(class.File, "file is closed")
	case f.mode.has(Sequential):
		return class.Errorf(class.UnsupportedOperation, "the file is sequential: its shared file pointer cannot be set or read")
	}
	return nil
}
