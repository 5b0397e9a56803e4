package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Memory handles, the target's side
//
// A memory handle names memory of one member of a dynamic window, and opens it to the members that
// have the handle. Making a handle is local, and so is making a window of it (handle_window.go).
//
// The key of the handle protects the memory (package memhandle). A process that maps the target's
// memory finds the key in a slot of its handle table (shmfmt.HandleSlot) and compares it before each
// operation: one load of a line that is not written. The target's service looks the key up as an
// address (Window.place), and uses it for nothing else.

// HandleMax is the length of the longest encoded handle in bytes
// (MPI_MAX_MEMORY_HANDLE_SIZE).
const HandleMax = 512

// parseHandle reads the bytes of a handle of window w, and finds the rank of the process that it names; likely is
// tried first. It ignores what follows. It checks all that needs no other process.
func (w *Window) parseHandle(b []byte, likely int) (x memhandle.Handle, rank int, err error) {
	if len(b) < memhandle.Size {
		return x, -1, class.Errorf(class.Arg, "%d bytes are no memory handle, which has %d", len(b), memhandle.Size)
	}
	x, ok := memhandle.Parse(b)
	switch {
	case !ok:
		return x, -1, class.Errorf(class.Arg, "these bytes are no memory handle")
	case x.Window != w.id:
		return x, -1, class.Errorf(class.Win, "the memory handle was made for another window")
	}
	rank = w.named(x.Process, likely)
	if rank < 0 {
		return x, -1, class.Errorf(class.Arg, "the memory handle names a process that is not in the window")
	}
	return x, rank, nil
}

// named returns the rank of the member with a brief identity, -1 if there is none. likely is tried first.
func (w *Window) named(brief uint32, likely int) int {
	p, members := w.e.p, w.Comm.Members
	if p.Met() { // else the identities do not change
		p.Lock()
		defer p.Unlock()
	}
	is := func(m int32) bool { return p.Brief(int(m)) == brief }
	if uint(likely) < uint(len(members)) && is(members[likely]) {
		return likely
	}
	return slices.IndexFunc(members, is)
}

// handles is the memory of this process that handles of a window name. All is under the engine's
// lock.
type handles struct {
	memhandle.Table

	dir   shmfmt.HandleDir
	used  int      // slots that were ever used
	free  []int    // those of them that are free
	pages [][]byte // memory of the table and its directory
	chunk [][]byte // those of them that are chunks
}

// AppendHandle opens mem to the members of a dynamic window that have the handle, and appends the
// handle to b (MPIX_MEMHANDLE_CREATE). It is local, and takes the lock. The memory is kept until
// ReleaseHandle or Free.
//
// Cost: a random number, four stores, two or three changes of a map.
func (v *View) AppendHandle(b, mem []byte) ([]byte, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return b, err
	}
	if w.dynamic == nil {
		return b, class.Errorf(class.RMAFlavor, "memory handles belong to dynamic windows, this one is %v", w.flavor)
	}
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	hs := &w.dynamic.handles
	if err := hs.Start(); err != nil {
		return b, err
	}
	r := &memhandle.Memory{Slot: -1, Region: w.own}
	r.Region.Mem, r.Region.Base = mem, shmfmt.StripeBase(uint64(address(mem)))
	if err := w.takeSlot(r); err != nil {
		return b, err
	}
	hs.Enter(r)
	x := shmfmt.Handled{Addr: uint64(address(mem)), Size: uint64(len(mem)), Off: nowhere}
	if off, ok := e.mem.Find(mem); ok {
		x.Off = off
	}
	r.Shown.Fill(r.Key, x)
	h := memhandle.Handle{Process: e.brief, Window: w.id, Key: r.Key, Size: x.Size, Slot: uint32(max(r.Slot, 0))}
	return h.Append(b), nil
}

// ReleaseHandle closes the memory that a handle of this process names (MPIX_MEMHANDLE_RELEASE):
// later accesses by windows that were made of it are errors. It is local, and takes the lock.
func (v *View) ReleaseHandle(b []byte) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if w.dynamic == nil {
		return class.Errorf(class.RMAFlavor, "memory handles belong to dynamic windows, this one is %v", w.flavor)
	}
	me := w.Comm.Rank
	x, rank, err := w.parseHandle(b, me)
	if err != nil {
		return err
	}
	if rank != me {
		return class.Errorf(class.Rank, "the memory handle is of rank %d, and this is rank %d", rank, me)
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	hs := &w.dynamic.handles
	r := hs.Get(x.Key)
	if r == nil {
		return class.Errorf(class.RMAAttach, "the memory handle has been released, or was never made")
	}
	r.Shown.Clear()
	if !planted.HandleKept {
		hs.Remove(r)
	}
	if r.Slot >= 0 {
		hs.free = append(hs.free, r.Slot)
	}
	return nil
}

// takeSlot gives r a slot in the table that the other processes of the node read.
func (w *Window) takeSlot(r *memhandle.Memory) error {
	hs := &w.dynamic.handles
	if w.e.node == nil {
		r.Shown = new(shmfmt.HandleSlot)
		return nil
	}
	if n := len(hs.free); n > 0 {
		r.Slot = hs.free[n-1]
		hs.free = hs.free[:n-1]
	} else {
		if hs.used == shmfmt.HandleSlots {
			return class.Errorf(class.NoMem, "%d memory handles are live, the limit is that", hs.used)
		}
		if err := w.growSlots(); err != nil {
			return err
		}
		r.Slot = hs.used
		hs.used++
	}
	chunk, at, _ := shmfmt.HandleChunk(r.Slot)
	r.Shown = shmfmt.OpenHandleSlot(hs.chunk[chunk][at*shmfmt.Line:])
	return nil
}

// growSlots makes room for one more slot.
func (w *Window) growSlots() error {
	hs := &w.dynamic.handles
	if w.control.HandleDir().Load() == 0 {
		mem, off, err := w.newPage(shmfmt.HandleDirSize)
		if err != nil {
			return err
		}
		hs.pages = append(hs.pages, mem)
		hs.dir = shmfmt.OpenHandleDir(mem)
		w.control.HandleDir().Store(uint64(off) + 1) // pairs with the load in handleSlot
	}
	chunk, _, size := shmfmt.HandleChunk(hs.used)
	if chunk < len(hs.chunk) {
		return nil
	}
	mem, off, err := w.newPage(size)
	if err != nil {
		return err
	}
	hs.pages, hs.chunk = append(hs.pages, mem), append(hs.chunk, mem)
	hs.dir.Chunk(chunk).Store(uint64(off) + 1) // pairs with the load in handleSlot
	return nil
}

// handleSlot is the slot of a handle of t, a target on the node, as this process maps it; nil if
// there is none. It reports false if it cannot know, because there is no room to map it.
func (t *target) handleSlot(i int) (slot *shmfmt.HandleSlot, known bool) {
	mem := func(word uint64, size int64) (b []byte, known bool) {
		if word == 0 {
			return nil, true
		}
		b, err := t.view.Memory(int64(word-1), size)
		return b, err == nil
	}
	dir, known := mem(t.control.HandleDir().Load(), shmfmt.HandleDirSize) // pairs with the store in growSlots
	if dir == nil {
		return nil, known
	}
	chunk, at, size := shmfmt.HandleChunk(i)
	slots, known := mem(shmfmt.OpenHandleDir(dir).Chunk(chunk).Load(), size) // pairs with the store in growSlots
	if slots == nil {
		return nil, known
	}
	return shmfmt.OpenHandleSlot(slots[at*shmfmt.Line:]), true
}
