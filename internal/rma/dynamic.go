package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/attach"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// attached is the state of a dynamic window in this process: the list of the memory that it has attached,
// the attach table by which the other processes of the node find that memory, and its memory handles. The
// engine's lock guards everything.
type attached struct {
	attach.List
	table   shmfmt.AttachTable
	page    []byte // memory of the table, nil until it is needed
	handles handles
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
		return class.Errorf(class.RMAFlavor, "memory can be attached to dynamic windows only, this one is %v", w.flavor)
	}
	e, a, addr := w.e, w.dynamic, uint64(address(mem))
	e.p.Lock()
	defer e.p.Unlock()
	if r := a.Overlap(addr, len(mem)); r != nil {
		return class.Errorf(class.RMAAttach, "%d bytes at address %#x overlap %d attached at %#x", len(mem), addr, len(r.Memory.Mem), r.Addr)
	}
	if err := w.reserve(len(a.Regions()) + 1); err != nil {
		return err
	}
	r := &attach.Region{Addr: addr, Memory: w.own, Keep: keep}
	r.Memory.Mem, r.Memory.Base = mem, shmfmt.StripeBase(addr)
	w.change(func() int { return a.Insert(r) })
	return nil
}

// Detach removes the memory that begins at addr (MPI_WIN_DETACH). It is local.
func (v *View) Detach(addr uint64) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if w.dynamic == nil {
		return class.Errorf(class.RMAFlavor, "memory can be detached from dynamic windows only, this one is %v", w.flavor)
	}
	e, a := w.e, w.dynamic
	e.p.Lock()
	defer e.p.Unlock()
	if !a.Begins(addr) {
		return class.Errorf(class.RMAAttach, "no attached memory begins at address %#x", addr)
	}
	w.change(func() int { return a.Delete(addr) })
	return nil
}

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
		err = class.Errorf(class.NoMem, "no shared memory for the table of %d attached regions", n)
	}
	if err != nil {
		return err
	}
	old := a.page
	fresh := shmfmt.OpenAttachTable(b.Mem)
	for i, r := range a.Regions() {
		fresh.Set(i, w.entryOf(r))
	}
	version := w.control.TableVersion()
	version.Add(1) // odd: pairs with the loads in read and known
	w.control.TableOff().Store(uint64(b.Off))
	a.table, a.page = fresh, b.Mem
	version.Add(1)
	if old != nil {
		e.mem.Free(old) // a process that still reads it finds that the version has changed
	}
	return nil
}

// change changes the attached regions by edit, which returns the first index at which they differ, and
// writes the entries from there on to the attach table.
func (w *Window) change(edit func() int) {
	a := w.dynamic
	version := w.control.TableVersion()
	if !planted.TableTorn {
		version.Add(1) // odd: pairs with the loads in read and known
	}
	from := edit()
	regions := a.Regions()
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
func (w *Window) entryOf(r *attach.Region) shmfmt.Attached {
	x := shmfmt.Attached{Addr: r.Addr, Size: uint64(len(r.Memory.Mem)), Off: nowhere}
	if off, ok := w.e.mem.Find(r.Memory.Mem); ok {
		x.Off = off
	}
	return x
}
