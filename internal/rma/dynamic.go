package rma

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// attached is the memory that this process has attached to a dynamic window. Frames are applied to
// it, and the process itself looks it up here; the other processes of the node read the attach
// table, which has the same contents.
type attached struct {
	regions []*attachedRegion // by address, not overlapping; under the engine's lock
	joined  *attachedRegion   // several of those, as join has made it last; nil after changes
	table   shmfmt.AttachTable
	page    []byte // memory of the table, nil until it is needed
	handles handles
}

// attachedRegion is memory that was given to Attach.
type attachedRegion struct {
	addr   uint64
	region apply.Region
	keep   any // what keeps the memory alive
}

// attachTableMin is how many regions the first table has room for.
const attachTableMin = 16

// Attach makes mem part of the own memory of a dynamic window (MPI_WIN_ATTACH). keep stays
// referenced until Detach. It is local.
func (v *View) Attach(mem []byte, keep any) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if w.dynamic == nil {
		return fail(class.RMAFlavor, "memory can be attached to dynamic windows only, this one is %v", w.flavor)
	}
	e, a, addr := w.e, w.dynamic, uint64(address(mem))
	e.p.Lock()
	defer e.p.Unlock()
	i := a.index(addr)
	if i < len(a.regions) && a.regions[i].addr-addr < max(uint64(len(mem)), 1) {
		return overlaps(addr, len(mem), a.regions[i])
	}
	if i > 0 {
		if r := a.regions[i-1]; addr-r.addr < uint64(len(r.region.Mem)) {
			return overlaps(addr, len(mem), r)
		}
	}
	if err := w.reserve(len(a.regions) + 1); err != nil {
		return err
	}
	r := &attachedRegion{addr: addr, region: w.own, keep: keep}
	r.region.Mem, r.region.Base = mem, shmfmt.StripeBase(addr)
	w.change(i, slices.Insert(a.regions, i, r))
	return nil
}

// Detach removes the memory that begins at addr (MPI_WIN_DETACH). It is local.
func (v *View) Detach(addr uint64) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if w.dynamic == nil {
		return fail(class.RMAFlavor, "memory can be detached from dynamic windows only, this one is %v", w.flavor)
	}
	e, a := w.e, w.dynamic
	e.p.Lock()
	defer e.p.Unlock()
	i := a.index(addr)
	if i == len(a.regions) || a.regions[i].addr != addr {
		return fail(class.RMAAttach, "no attached memory begins at address %#x", addr)
	}
	w.change(i, slices.Delete(a.regions, i, i+1))
	return nil
}

func overlaps(addr uint64, n int, r *attachedRegion) error {
	return fail(class.RMAAttach, "%d bytes at address %#x overlap %d attached at %#x", n, addr, len(r.region.Mem), r.addr)
}

// index is the index of the first region that begins at addr or behind.
func (a *attached) index(addr uint64) int {
	i, _ := slices.BinarySearchFunc(a.regions, addr, func(r *attachedRegion, addr uint64) int { return cmp.Compare(r.addr, addr) })
	return i
}

// find returns the attached region that holds n bytes from an address on, or several regions side
// by side that hold them, as one; nil if some bytes are not attached. The lock is held.
func (a *attached) find(addr, n uint64) *attachedRegion {
	i := a.index(addr)
	if i == len(a.regions) || a.regions[i].addr != addr {
		if i--; i < 0 {
			return nil
		}
	}
	r := a.regions[i]
	size, at := uint64(len(r.region.Mem)), addr-r.addr
	switch {
	case at > size:
		return nil
	case n > size-at:
		return a.join(i, addr, n)
	}
	return r
}

// gap is the first address from addr on that is not attached. The lock is held.
func (a *attached) gap(addr uint64) uint64 {
	for r := a.find(addr, 1); r != nil; r = a.find(addr, 1) {
		addr = r.addr + uint64(len(r.region.Mem))
	}
	return addr
}

// join makes one region of those from index i on that together hold n bytes from an address on, nil
// if there is a gap. MPI-5, 12.2.4, permits memory to be attached in pieces.
func (a *attached) join(i int, addr, n uint64) *attachedRegion {
	if j := a.joined; j != nil && addr >= j.addr && addr-j.addr <= uint64(len(j.region.Mem)) && n <= uint64(len(j.region.Mem))-(addr-j.addr) {
		return j
	}
	first := a.regions[i]
	keep := []any{first.keep}
	have := uint64(len(first.region.Mem)) - (addr - first.addr)
	for last := first; have < n; {
		if i++; i == len(a.regions) || a.regions[i].addr != last.addr+uint64(len(last.region.Mem)) {
			return nil
		}
		last = a.regions[i]
		keep = append(keep, last.region.Mem, last.keep)
		have += uint64(len(last.region.Mem))
	}
	j := &attachedRegion{addr: first.addr, region: first.region, keep: keep}
	j.region.Mem = adjoining(first.region.Mem, int(addr-first.addr+have))
	a.joined = j
	return j
}

// adjoining is the n bytes that begin where mem does: mem and the memory behind it, all of
// which is attached and kept alive by the caller. It may be part of several objects, which
// checkptr takes for an error.
//
//go:nocheckptr
func adjoining(mem []byte, n int) []byte { return unsafe.Slice(unsafe.SliceData(mem), n) }

// reserve makes room for n regions in the table that others read.
func (w *Window) reserve(n int) error {
	e, a := w.e, w.dynamic
	if e.node == nil || n <= a.table.Cap() {
		return nil
	}
	size := shmfmt.AttachTableSize(max(attachTableMin, 2*n))
	b, err := e.mem.Alloc(size, shmfmt.Line)
	if err == nil && b.Off < 0 {
		e.mem.Free(b.Mem)
		err = fail(class.NoMem, "no shared memory for the table of %d attached regions", n)
	}
	if err != nil {
		return err
	}
	old := a.page
	fresh := shmfmt.OpenAttachTable(b.Mem)
	for i, r := range a.regions {
		fresh.Set(i, w.entryOf(r))
	}
	version := w.control.TableVersion()
	version.Add(1) // odd: pairs with the loads in read and known
	w.control.TableOff().Store(uint64(b.Off))
	a.table, a.page = fresh, b.Mem
	version.Add(1)
	if old != nil {
		e.mem.Free(old) // a process that still reads it finds another version
	}
	return nil
}

// change replaces the attached regions; they differ from index from on.
func (w *Window) change(from int, regions []*attachedRegion) {
	a := w.dynamic
	version := w.control.TableVersion()
	if !planted.TableTorn {
		version.Add(1) // odd: pairs with the loads in read and known
	}
	a.regions, a.joined = regions, nil
	if w.e.node != nil {
		for i := from; i < len(regions); i++ {
			a.table.Set(i, w.entryOf(regions[i]))
		}
	}
	w.control.TableLen().Store(uint64(len(regions)))
	if planted.TableTorn {
		version.Add(1)
	}
	version.Add(1)
}

// entryOf is the entry of a region in the attach table.
func (w *Window) entryOf(r *attachedRegion) shmfmt.Attached {
	x := shmfmt.Attached{Addr: r.addr, Size: uint64(len(r.region.Mem)), Off: nowhere}
	if off, ok := w.e.mem.Find(r.region.Mem); ok {
		x.Off = off
	}
	return x
}

// place returns where size bytes at off of the own memory are, for operations that have come by
// frames: off is what the origin has sent, in a dynamic window an address. The lock is held.
func (w *Window) place(off uint64, size int64) (mem *apply.Region, at int64, err error) {
	if w.dynamic == nil {
		room := uint64(len(w.mem))
		if size < 0 || off > room || uint64(size) > room-off {
			return nil, 0, fail(class.RMARange, "%d bytes at %d of a window of %d", size, off, room)
		}
		return &w.own, int64(off), nil
	}
	switch {
	case size < 0:
	case off >= memhandle.Space:
		if r := w.dynamic.handles.Find(off, uint64(size)); r != nil {
			return &r.Region, int64(off - r.Key), nil
		}
		return nil, 0, fail(class.RMARange, "no memory handle names these %d bytes", size)
	default:
		if r := w.dynamic.find(off, uint64(size)); r != nil {
			return &r.region, int64(off - r.addr), nil
		}
	}
	return nil, 0, fail(class.RMARange, "%d bytes at address %#x are not attached", size, off)
}
