package mpi

import "unsafe"

// Barrier returns when all members of c have called it.
//
// C: MPI_Barrier, section 6.3.
func (c *Comm) Barrier() error {
	if err := c.usable(callBarrier); err != nil {
		return err
	}
	if err := c.w.Coll.Barrier(c.core); err != nil {
		return wrap(err, callBarrier, c, Undefined, Undefined)
	}
	return nil
}

// Bcast copies buf from rank root to all members of c, who pass buffers of the
// same length.
//
// C: MPI_Bcast, section 6.4.
func Bcast[T Elem](c *Comm, buf []T, root int) error {
	if err := c.checkRoot(callBcast, root); err != nil {
		return err
	}
	if err := c.w.Coll.Bcast(c.core, bytesOf(buf), root); err != nil {
		return wrap(err, callBcast, c, Undefined, Undefined)
	}
	return nil
}

// Reduce combines the send slices of all members element by element and leaves
// the result in recv at rank root; elsewhere recv is not looked at. In place:
// at the root send and recv are the same slice. All send slices have the same
// length, and recv at the root at least that.
//
// C: MPI_Reduce, section 6.9.1.
func Reduce[T Elem](c *Comm, send, recv []T, op Op, root int) error {
	if err := c.checkRoot(callReduce, root); err != nil {
		return err
	}
	if c.Rank() == root {
		if err := c.checkResult(callReduce, bytesOf(send), bytesOf(recv), len(send), len(recv)); err != nil {
			return err
		}
		recv = recv[:len(send)]
	}
	if err := c.w.Coll.Reduce(c.core, bytesOf(send), bytesOf(recv), op.kernel, opType[T](), root); err != nil {
		return wrap(err, callReduce, c, Undefined, Undefined)
	}
	return nil
}

// Allreduce combines the send slices of all members element by element and
// leaves the result, bitwise the same, in recv of all. In place: send and recv
// are the same slice. All slices have the same length; recv may be longer.
//
// C: MPI_Allreduce, section 6.9.6.
func Allreduce[T Elem](c *Comm, send, recv []T, op Op) error {
	if err := c.usable(callAllreduce); err != nil {
		return err
	}
	if err := c.checkResult(callAllreduce, bytesOf(send), bytesOf(recv), len(send), len(recv)); err != nil {
		return err
	}
	if err := c.w.Coll.Allreduce(c.core, bytesOf(send), bytesOf(recv[:len(send)]), op.kernel, opType[T]()); err != nil {
		return wrap(err, callAllreduce, c, Undefined, Undefined)
	}
	return nil
}

// Gather collects the send slices of all members at rank root, in rank order:
// recv there has c.Size()*len(send) elements; elsewhere it is not looked at. In
// place: the root's send is its own block of recv.
//
// C: MPI_Gather, section 6.5.
func Gather[T Elem](c *Comm, send, recv []T, root int) error {
	if err := c.checkRoot(callGather, root); err != nil {
		return err
	}
	if c.Rank() == root {
		want := c.Size() * len(send)
		if len(recv) < want {
			return fail(ErrCount, "Gather", c, "receive slice of %d elements, want %d of %d members", len(recv), want, c.Size())
		}
		recv = recv[:want]
		if overlap(bytesOf(send), bytesOf(recv)) && len(send) > 0 && &send[0] != &recv[root*len(send)] {
			return fail(ErrBuffer, "Gather", c, "send slice overlaps the receive slice and is not the root's own block of it")
		}
	}
	if err := c.w.Coll.Gather(c.core, bytesOf(send), bytesOf(recv), root); err != nil {
		return wrap(err, callGather, c, Undefined, Undefined)
	}
	return nil
}

func (c *Comm) checkRoot(k call, root int) error {
	if err := c.usable(k); err != nil {
		return err
	}
	if root < 0 || root >= c.Size() {
		return fail(ErrRoot, k.String(), c, "root %d in a communicator of %d", root, c.Size())
	}
	return nil
}

// checkResult validates the slices of a reduction where its result goes.
func (c *Comm) checkResult(k call, send, recv []byte, count, room int) error {
	if room < count {
		return fail(ErrCount, k.String(), c, "receive slice of %d elements for %d", room, count)
	}
	if len(send) > 0 && &send[0] != &recv[0] && overlap(send, recv[:len(send)]) {
		return fail(ErrBuffer, k.String(), c, "send and receive slices overlap in part")
	}
	return nil
}

// overlap reports whether two slices share memory.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}
