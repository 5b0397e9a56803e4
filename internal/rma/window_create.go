package rma

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Create makes a window of the members of c, each with its Spec: collective. If one member cannot,
// all get an error, and nothing is left. It takes the lock.
//
// Cost: a bcast of 16 bytes, which duplicates the communicator, and an allgather of 48 bytes per
// member; a contiguous Shared window has a bcast of 48 and an allreduce of 8 bytes more. On one
// node these go through shared memory without messages, as long as there are slots for
// communicators; elsewhere each member sends some 2 log2 n messages, with 48 (n-1) + 16 log2 n
// bytes. A member keeps 8 bytes for each other one and at most 40 for its entry, none of which
// where it is the same for all; records of 128 bytes, in pages that exist once a rank on them is a
// target; and its control block, see shmfmt.WindowSize.
func (e *Engine) Create(c *comm.Comm, s Spec) (*View, error) {
	d, err := e.colls.Dup(c)
	if err != nil {
		return nil, err
	}
	d.Join(c)
	w := e.newWindow(d, d.Ctx, s.Flavor)
	if !s.Own {
		w.check = w.checker(d)
	}
	across := e.crosses(c, &s)
	mine, own := w.prepare(c, &s, across)
	if own == nil {
		e.p.Lock()
		e.windows[w.id] = w // before others can know that it exists
		e.p.Unlock()
	}
	err = w.agree(own, mine)
	switch {
	case err == nil && across:
		err = w.exchangeBlocks(&s)
	case err == nil && s.Flavor == Shared && !s.Noncontig:
		err = w.layOut(s.Align)
	}
	if err != nil {
		w.freed.Store(true)
		e.p.Lock()
		w.discard(classOf(err) != class.ProcFailed) // else others may have succeeded
		e.p.Unlock()
		return nil, err
	}
	d.Leave()
	v := newView(w)
	v.first = true
	e.p.Lock()
	defer e.p.Unlock()
	w.open()
	w.join(v)
	v.setOptions(s.Options)
	return v, nil
}

// prepare does the local part of this member: its memory, in a block if members are across jobs, and its control block.
func (w *Window) prepare(c *comm.Comm, s *Spec, across bool) (mine entry, err error) {
	e := w.e
	mine = entry{unit: s.DispUnit, where: nowhere, control: nowhere, fine: s.Options.Granularity > 0}
	err = s.check()
	if err != nil {
		return mine, err
	}
	switch s.Flavor {
	case Created:
		w.mem = s.Mem
	case Dynamic:
		mine.unit = 1
		w.attaches()
	case Shared:
		for r, m := range c.Members {
			if !across && !e.near(m) {
				return mine, class.Errorf(class.RMAShared, "rank %d shares no memory with rank %d", r, c.Rank)
			}
		}
		mine.size = s.Size
		if !s.Noncontig {
			break
		}
		fallthrough
	case Allocated:
		if across {
			w.mem, err = w.newBlock(s.Size, s.Align)
			if err == nil {
				break
			} else if s.Flavor == Shared {
				return mine, err
			}
		}
		b, err := e.mem.Alloc(s.Size, max(s.Align, store.Align))
		if err != nil {
			return mine, err
		}
		w.mem, w.block = b.Mem, b.Mem
	}
	if w.mem != nil {
		mine.size, mine.addr = int64(len(w.mem)), address(w.mem)
		if off, ok := e.mem.Find(w.mem); ok {
			mine.where = off
		}
	}
	n, me := e.locals()
	page, off, err := w.newPage(shmfmt.WindowSize(n))
	if err != nil {
		return mine, err
	}
	if e.node != nil {
		w.page = page
	}
	mine.control = off
	w.control, err = shmfmt.FormatWindow(page, w.id, n)
	if err != nil {
		return mine, err
	}
	w.own = e.region(w.mem, w.control, me)
	w.own.Fine = mine.fine
	return mine, nil
}

// region is memory of the process with that control block, for operations by this process, number
// me of the node.
func (e *Engine) region(mem []byte, control *shmfmt.Window, me int) apply.Region {
	r := apply.Region{Mem: mem, Stripes: control.Stripes(), Me: me, Kernel: e.colls.Kernel(), Yield: e.p.Yield}
	if e.node != nil {
		r.Dead = e.localGone
	}
	return r
}

// newPage returns zeroed memory for a control block, and its offset in the segment. Where no other
// process maps it, it is memory of records: C reads the stripes in it.
func (w *Window) newPage(size int64) ([]byte, int64, error) {
	if e := w.e; e.node != nil {
		b, err := e.mem.Alloc(size, shmfmt.Line)
		if err == nil && b.Off < 0 {
			e.mem.Free(b.Mem)
			err = class.Errorf(class.NoMem, "no shared memory for %d bytes of a window's control block or counters", size)
		}
		return b.Mem, b.Off, err
	}
	return offheap.OwnedBytes(w, int(size)), nowhere, nil
}

// lines returns zeroed memory of the process that begins at a cache line.
func lines(size int64) []byte {
	words := make([]uint64, (size+shmfmt.Line)/8)
	skip := -uintptr(unsafe.Pointer(&words[0])) % shmfmt.Line / 8
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[skip])), size)
}

// check returns an error if the Spec is not valid.
func (s *Spec) check() error {
	switch {
	case s.Refused != nil:
		return s.Refused
	case s.Flavor < Created || s.Flavor > Shared:
		return class.Errorf(class.RMAFlavor, "flavor %d is none", s.Flavor)
	case s.Flavor != Dynamic && s.DispUnit <= 0:
		return class.Errorf(class.Disp, "displacement unit %d is not positive", s.DispUnit)
	case s.Size < 0:
		return class.Errorf(class.Size, "size %d is negative", s.Size)
	case s.Align < 0 || bits.OnesCount64(uint64(s.Align)) > 1:
		return class.Errorf(class.Arg, "alignment %d is no power of two", s.Align)
	}
	return nil
}

// agree exchanges the entries of all members. own is why this one cannot make the window.
func (w *Window) agree(own error, mine entry) error {
	mine.class = classOf(own)
	n := w.Comm.Size()
	give, all := make([]byte, entrySize), make([]byte, n*entrySize)
	mine.encode(give)
	err := w.e.colls.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 1, Call: call.WindowCreation})
	if own != nil {
		return own
	}
	if err != nil {
		return err
	}
	fine := false
	for r := range n {
		var x entry
		x.decode(all[r*entrySize:])
		if x.class != class.Success {
			return class.Errorf(x.class, "rank %d could not make its part of the window", r)
		}
		if x.size < 0 || x.unit <= 0 {
			return class.Errorf(class.Intern, "rank %d shows %d bytes in units of %d", r, x.size, x.unit)
		}
		fine = fine || x.fine
	}
	w.e.p.Lock()
	w.own.Fine = fine // of all members or of none
	w.e.p.Unlock()
	w.table = newTable(all)
	return nil
}

// places returns where the memory of each member is in one block for all, and the size of that block. Behind
// memory of 0 bytes at the end it has one byte more, so that this memory has an address in the block.
func (w *Window) places() (at []int64, total int64) {
	n := w.Comm.Size()
	at = make([]int64, n)
	for r := range n {
		at[r] = total
		size := w.table.size.at(r)
		if r == n-1 {
			size = max(size, 1)
		}
		total += size
		if total < 0 {
			total = math.MaxInt64 // more than there is
		}
	}
	return at, total
}

// layOut has the first member allocate the memory of all members as one block.
func (w *Window) layOut(align int64) error {
	e, n := w.e, w.Comm.Size()
	at, total := w.places()
	told := entry{class: class.Success, where: nowhere}
	var err error
	if w.Comm.Rank == 0 {
		b, failed := e.mem.Alloc(total, max(align, store.Align))
		if failed == nil {
			w.block, told.where = b.Mem, b.Off
		}
		err, told.class = failed, classOf(failed)
	}
	buf := make([]byte, entrySize)
	told.encode(buf)
	if lost := e.colls.Bcast(w.Comm, buf, dtype.Mixed, 0); lost != nil {
		return lost
	}
	told.decode(buf)
	if told.class != class.Success {
		if err == nil {
			err = class.Errorf(told.class, "rank 0 could not allocate the %d bytes of all members", total)
		}
		return err
	}
	w.host = 0
	w.table.where = newColumn(n, func(r int) int64 { return told.where + at[r] })
	size := w.table.size.at(w.Comm.Rank)
	if w.Comm.Rank == 0 {
		w.mem = heap.Part(w.block, 0, size)
	} else {
		e.p.Lock()
		view := w.ofHost()
		e.p.Unlock()
		// All of it is accessible, since a program may calculate where the others' parts are.
		var all []byte
		all, err = view.Memory(told.where, total)
		if err == nil {
			w.mem = heap.Part(all, at[w.Comm.Rank], size)
		}
	}
	w.own.Mem = w.mem
	// Mapping may have failed here: all members learn of it.
	var bad, worst [8]byte
	bad[0] = byte(classOf(err))
	if lost := e.colls.Allreduce(w.Comm, bad[:], worst[:], op.Max, op.Uint64, dtype.Mixed); lost != nil && err == nil {
		err = lost
	}
	if worst[0] != 0 && err == nil {
		err = class.Errorf(class.Class(worst[0]), "a member could not map the memory of rank 0")
	}
	return err
}

// classOf is the class of an error.
func classOf(err error) class.Class {
	if err == nil {
		return class.Success
	}
	if e, ok := err.(*class.Error); ok {
		return e.Class
	}
	return class.Other
}

// address is the address at which b begins.
func address(b []byte) int64 { return int64(uintptr(pointer(b))) }

// pointer is address as a pointer.
func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
