package rma

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Memory handles, the target's side
//
// A memory handle names memory of one member of a dynamic window, and opens it to the members that
// have the handle, which is bytes that the program sends. Making a handle is local, and so is
// making a window of it (handle_window.go).
//
// The key protects the memory: 62 random bits, drawn anew for each handle, so that a handle that
// was forged, released or made for another window names nothing. A process that maps the target's
// memory finds the key in a slot of its handle table (shmfmt.HandleSlot) and compares it before
// each operation: one load of a line that is not written. For the target's service the key is an
// address: byte 0 of the memory has the key as its address in a space above all real addresses. So
// frames are those of any dynamic window, and one word of them names the handle, a place in its
// memory and the right to access it. Window.place looks the address up, and uses it for nothing
// else.
//
// Rejected: a frame that opens a handle before its first use. It would permit longer keys, and cost
// a message for each window, state at the target for each origin, and an order between channels. A
// stray access hits with a probability of the memory of all handles in 2^62 bytes.

// HandleMax is the length of the longest encoded handle in bytes
// (MPI_MAX_MEMORY_HANDLE_SIZE).
const HandleMax = 512

// handleSpace is where the addresses begin by which frames name the memory of handles; addresses of
// processes are below it on all systems.
const handleSpace = 1 << 63

// handleBytes is a handle as the program has it:
//
//	mark uint32 | process uint32 | window uint64 | key uint64 | size uint64 | slot uint32 | check uint32
//
// in little-endian words. The check finds bytes that have changed in transit. A process that has a
// handle can make others of it, but only to parts of the memory that the handle opens anyway.
type handleBytes struct {
	process int32
	window  uint64
	key     uint64
	size    uint64
	slot    uint32
}

// HandleSize is the length of an encoded handle in bytes.
const HandleSize = 40

// handleMark marks a handle: "HMH" and the version of this layout.
const handleMark = 0x484d4801

func (x *handleBytes) append(b []byte) []byte {
	le := binary.LittleEndian
	from := len(b)
	b = le.AppendUint32(b, handleMark)
	b = le.AppendUint32(b, uint32(x.process))
	for _, w := range [...]uint64{x.window, x.key, x.size} {
		b = le.AppendUint64(b, w)
	}
	b = le.AppendUint32(b, x.slot)
	return le.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// parseHandle reads what append wrote for window w; it ignores what follows. It checks all that
// needs no other process.
func (w *Window) parseHandle(b []byte) (x handleBytes, err error) {
	if len(b) < HandleSize {
		return x, fail(class.Arg, "%d bytes are no memory handle, which has %d", len(b), HandleSize)
	}
	le := binary.LittleEndian
	x = handleBytes{int32(le.Uint32(b[4:])), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint32(b[32:])}
	switch {
	case le.Uint32(b) != handleMark || le.Uint32(b[36:]) != crc32.ChecksumIEEE(b[:36]) || x.key < handleSpace || x.size > handleSpace/2 || x.slot >= shmfmt.HandleSlots:
		return x, fail(class.Arg, "these bytes are no memory handle")
	case x.window != w.id:
		return x, fail(class.Win, "the memory handle was made for another window")
	case w.Comm.RankOf(x.process) < 0:
		return x, fail(class.Arg, "the memory handle names a process that is not in the window")
	}
	return x, nil
}

// handles is the memory of this process that handles of a window name. All is under the engine's
// lock.
type handles struct {
	// live has each handle under every 4 GiB of the handle space that it uses; no two handles use
	// the same.
	live   map[uint32]*handled
	random *rand.ChaCha8

	dir   shmfmt.HandleDir
	used  int      // slots that were ever used
	free  []int    // those of them that are free
	pages [][]byte // memory of the table and its directory
	chunk [][]byte // those of them that are chunks
}

// handled is memory that a handle names.
type handled struct {
	key    uint64
	slot   int
	told   *shmfmt.HandleSlot
	region apply.Region
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
		return b, fail(class.RMAFlavor, "memory handles belong to dynamic windows, this one is %v", w.flavor)
	}
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	hs := &w.dynamic.handles
	if err := hs.start(); err != nil {
		return b, err
	}
	r := &handled{slot: -1, region: w.own}
	r.region.Mem, r.region.Base = mem, shmfmt.StripeBase(uint64(address(mem)))
	if err := w.takeSlot(r); err != nil {
		return b, err
	}
	r.key = hs.place(r)
	x := shmfmt.Handled{Addr: uint64(address(mem)), Size: uint64(len(mem)), Off: nowhere}
	if off, ok := e.mem.Find(mem); ok {
		x.Off = off
	}
	r.told.Fill(r.key, x)
	h := handleBytes{w.Comm.Members[w.Comm.Rank], w.id, r.key, x.Size, uint32(max(r.slot, 0))}
	return h.append(b), nil
}

// ReleaseHandle closes the memory that a handle of this process names (MPIX_MEMHANDLE_RELEASE):
// later accesses by windows that were made of it are errors. It is local, and takes the lock.
func (v *View) ReleaseHandle(b []byte) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if w.dynamic == nil {
		return fail(class.RMAFlavor, "memory handles belong to dynamic windows, this one is %v", w.flavor)
	}
	x, err := w.parseHandle(b)
	if err != nil {
		return err
	}
	if me := w.Comm.Rank; x.process != w.Comm.Members[me] {
		return fail(class.Rank, "the memory handle is of rank %d, and this is rank %d", w.Comm.RankOf(x.process), me)
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	hs := &w.dynamic.handles
	r := hs.live[uint32(x.key>>32)]
	if r == nil || r.key != x.key {
		return fail(class.RMAAttach, "the memory handle has been released, or was never made")
	}
	r.told.Clear()
	if !planted.HandleKept {
		hs.eachPage(r.key, len(r.region.Mem), func(page uint32) bool { delete(hs.live, page); return true })
	}
	if r.slot >= 0 {
		hs.free = append(hs.free, r.slot)
	}
	return nil
}

// start makes the state that the first handle needs.
func (hs *handles) start() error {
	if hs.random != nil {
		return nil
	}
	var seed [32]byte
	if _, err := cryptorand.Read(seed[:]); err != nil {
		return err
	}
	hs.random = rand.NewChaCha8(seed)
	hs.live = make(map[uint32]*handled)
	return nil
}

// place draws the key of r, and enters r under it.
func (hs *handles) place(r *handled) uint64 {
	for {
		key := handleSpace | hs.random.Uint64()>>2
		if hs.eachPage(key, len(r.region.Mem), func(page uint32) bool { return hs.live[page] == nil }) {
			hs.eachPage(key, len(r.region.Mem), func(page uint32) bool { hs.live[page] = r; return true })
			return key
		}
	}
}

// eachPage calls fn for each 4 GiB of the handle space that n bytes from key on use, until it
// returns false, which it reports.
func (hs *handles) eachPage(key uint64, n int, fn func(page uint32) bool) bool {
	for page := key >> 32; page <= (key+uint64(max(n, 1))-1)>>32; page++ {
		if !fn(uint32(page)) {
			return false
		}
	}
	return true
}

// find returns the handle whose memory has n bytes from an address of the handle space on, nil if
// none has.
func (hs *handles) find(addr, n uint64) *handled {
	r := hs.live[uint32(addr>>32)]
	if r == nil {
		return nil
	}
	size, at := uint64(len(r.region.Mem)), addr-r.key // below the key it is very large
	if at > size || n > size-at {
		return nil
	}
	return r
}

// takeSlot gives r a slot in the table that the other processes of the node read.
func (w *Window) takeSlot(r *handled) error {
	hs := &w.dynamic.handles
	if w.e.node == nil {
		r.told = new(shmfmt.HandleSlot)
		return nil
	}
	if n := len(hs.free); n > 0 {
		r.slot = hs.free[n-1]
		hs.free = hs.free[:n-1]
	} else {
		if hs.used == shmfmt.HandleSlots {
			return fail(class.NoMem, "%d memory handles are live, the limit is that", hs.used)
		}
		if err := w.growSlots(); err != nil {
			return err
		}
		r.slot = hs.used
		hs.used++
	}
	chunk, at, _ := shmfmt.HandleChunk(r.slot)
	r.told = shmfmt.OpenHandleSlot(hs.chunk[chunk][at*shmfmt.Line:])
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
