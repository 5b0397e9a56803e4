package bind

import (
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// Fast is the C code that carries out the shortest calls without entering Go
// (abi/lib/fast.go). Its methods tell C which handles exist. Calls of one method do not overlap.
type Fast interface {
	// KnowType tells C the size, the extent and the true extent in bytes of a predefined type,
	// what C may do with its elements, and what messages say about them: the dtype.Code of messages. Its
	// lower bounds are 0.
	KnowType(h uintptr, size, extent, trueExtent int, kind FastKind, code uint8)
	// Watched reports whether the process runs under a tool that does not know the memory of
	// Go. Then C learns of predefined types only, and reads no record of the engine.
	Watched() bool
	// KnowKernels tells C the addresses of the kernels that combine elements of a predefined
	// type, for the predefined operations from handle 0x20 on: see Kernel in package mpi. 0
	// stands for an operation without a kernel.
	KnowKernels(datatype uintptr, functions *[FastOps]uintptr)
	// OpenComm tells C of a communicator: see CommDescriptor and MessageDescriptor in package mpi.
	// CloseComm tells C that the handle ends.
	OpenComm(h uintptr, rank, size int, inter bool, slot, messages Descriptor)
	CloseComm(h uintptr)
	// OpenWin tells C of a window: see WinDescriptor in package mpi. CloseWin tells C that the
	// handle ends.
	OpenWin(h, descriptor uintptr, layout uint64)
	CloseWin(h uintptr)
	// OpenType tells C of the record of a derived datatype: see ShareType in package mpi.
	// CloseType tells C that the handle ends.
	OpenType(h, record uintptr, layout uint64)
	CloseType(h uintptr)
	// OpenFile tells C of the record of a file: see FileDescriptor in package mpi. CloseFile tells C
	// that the handle ends.
	OpenFile(h, descriptor uintptr, layout uint64)
	CloseFile(h uintptr)
	// CloseAll ends all handles and types.
	CloseAll()
}

// Descriptor is the address of a record that C shares with the engine, 0 for none, and the number of its
// layout.
type Descriptor struct {
	Address uintptr
	Layout  uint64
}

// FastKind says what C may do with elements of a predefined type. Each of the first four kinds
// includes the one before it. C has the same numbers (enum halo_kind).
type FastKind int

// The kinds.
const (
	FastPadded   FastKind = 1 + iota // nothing: the size differs from the layout in memory
	FastDense                        // copies
	FastBits                         // copies and bitwise operations
	FastSigned                       // copies, bitwise operations, sums and comparisons
	FastUnsigned                     // as FastSigned, for unsigned numbers
	FastFloating                     // copies and sums of IEEE 754 numbers
)

// fastKind returns the kind of a type whose single elements C combines, or whose kind its
// layout does not show; otherwise 0. It is not a map, since a map takes memory in every process.
func fastKind(name string) FastKind {
	switch name {
	case "MPI_PACKED", // the form of packed data, not a type of elements
		"MPIX_HANDLE_SYNC": // for messages only
		return FastPadded
	case "MPI_BYTE":
		return FastBits
	case "MPI_SIGNED_CHAR", "MPI_SHORT", "MPI_INT", "MPI_LONG", "MPI_LONG_LONG",
		"MPI_INT8_T", "MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T",
		"MPI_AINT", "MPI_COUNT", "MPI_OFFSET",
		"MPI_INTEGER", "MPI_INTEGER1", "MPI_INTEGER2", "MPI_INTEGER4", "MPI_INTEGER8":
		return FastSigned
	case "MPI_UNSIGNED_CHAR", "MPI_UNSIGNED_SHORT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG",
		"MPI_UINT8_T", "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T":
		return FastUnsigned
	case "MPI_FLOAT", "MPI_DOUBLE", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_REAL4", "MPI_REAL8":
		return FastFloating
	}
	return 0
}

// fastAllowed reports whether the program permits fast paths in C.
func fastAllowed() bool { return os.Getenv("HALO_C_FAST") != "0" }

// sharesRecords reports whether C reads records of the engine.
func sharesRecords(f Fast) bool { return f != nil && fastAllowed() && !f.Watched() }

// startFast tells C of the handles that exist, and arranges that C hears of later ones, unless
// HALO_C_FAST is 0.
func (l *Lib) startFast() {
	f := l.hooks.Fast
	if f == nil || !fastAllowed() {
		return
	}
	watched := f.Watched()
	var functions [FastOps]uintptr
	for _, p := range predefinedTypes {
		d := l.predefined[p.handle-firstPredefined]
		size, kind := fastType(p.name, d)
		_, code := engine.Operand(d)
		lb, extent, err := d.Extent()
		trueLB, trueExtent, failed := d.TrueExtent()
		if err == nil && failed == nil && lb == 0 && trueLB == 0 {
			f.KnowType(p.handle, size, extent, trueExtent, kind, uint8(code))
		}
		if kind >= FastDense && !checking() && !watched {
			l.startKernels(p.handle, &functions)
		}
	}
	layouts := engine.Layouts()
	l.comms.opened = func(h handle, c *mpi.Comm) {
		var slot, messages Descriptor
		if !watched {
			slot = Descriptor{engine.CommDescriptor(c), layouts.Slot}
			messages = Descriptor{engine.MessageDescriptor(c), layouts.Message}
		}
		f.OpenComm(h, c.Rank(), c.Size(), c.Inter(), slot, messages)
	}
	l.comms.closed = func(h handle, c *mpi.Comm) {
		f.CloseComm(h)
		engine.CloseMessages(c)
	}
	if watched {
		l.openFirst()
		return
	}
	l.wins.opened = func(h handle, w *mpi.Window) {
		f.OpenWin(h, engine.WinDescriptor(w), layouts.Win)
	}
	l.wins.closed = func(h handle, _ *mpi.Window) { f.CloseWin(h) }
	l.files.opened = func(h handle, file *mpi.File) {
		f.OpenFile(h, engine.FileDescriptor(file), layouts.File)
	}
	l.files.closed = func(h handle, _ *mpi.File) { f.CloseFile(h) }
	l.types.opened = func(h handle, d mpi.Datatype) {
		if r := l.typeRecords.open(h, d); r != nil {
			f.OpenType(h, uintptr(unsafe.Pointer(r)), layouts.Type)
		}
	}
	l.types.closed = func(h handle, d mpi.Datatype) {
		f.CloseType(h)
		l.typeRecords.close(h, d)
	}
	l.openFirst()
}

// openFirst tells C of MPI_COMM_WORLD and MPI_COMM_SELF.
func (l *Lib) openFirst() {
	world := l.world.Load()
	if world == nil || l.comms.opened == nil { // in a session, or without a fast path
		return
	}
	l.comms.opened(commWorld, world)
	l.comms.opened(commSelf, world.Self())
}

// FastOps is the number of operations that C knows, from opNull on. C has the same number
// (HALO_ROW).
const FastOps = 16

// startKernels tells C the kernels for a predefined type. functions is scratch memory.
func (l *Lib) startKernels(h handle, functions *[FastOps]uintptr) {
	for i := range functions {
		functions[i] = engine.Kernel(predefinedOps[int(opNull)+i], l.predefined[h-firstPredefined])
	}
	l.hooks.Fast.KnowKernels(h, functions)
}

// fastType returns the size and the kind of a predefined type for C.
func fastType(name string, d mpi.Datatype) (size int, kind FastKind) {
	size, err := d.Size()
	lb, extent, failed := d.Extent()
	special := fastKind(name)
	switch {
	case err != nil || failed != nil:
		return 0, FastPadded
	case special == FastFloating && size != 4 && size != 8, special >= FastSigned && size > 8:
		return size, FastDense // a Fortran type of unusual size: see FortranSizes in package mpi
	case special != 0:
		return size, special
	case lb != 0 || extent != size:
		return size, FastPadded
	}
	return size, FastDense
}

// Await calls Await of package mpi for a collective that C has begun, and returns the error
// code, or Fatal.
func (l *Lib) Await(comm uintptr, word *atomic.Uint64, n uint64) (result int) {
	defer l.caught(-1, args{}, &result)
	c, err := l.comm(comm, call.AnyCollective)
	if err == nil {
		err = engine.Await(c, word, n)
	}
	return code(err)
}

// Disagreement calls Disagreement of package mpi for a collective that C has begun, and returns the
// error code, or Fatal.
func (l *Lib) Disagreement(comm uintptr, last bool) (result int) {
	defer l.caught(-1, args{}, &result)
	c, err := l.comm(comm, call.AnyCollective)
	if err == nil {
		err = engine.Disagreement(c, last)
	}
	return code(err)
}

// Ring calls Ring of package mpi.
func (l *Lib) Ring(comm uintptr) {
	if c, err := l.comm(comm, call.AnyCollective); err == nil {
		engine.Ring(c)
	}
}

// Balance calls Balance of package mpi.
func (l *Lib) Balance(comm uintptr) {
	if c, err := l.comm(comm, call.AnyCollective); err == nil {
		engine.Balance(c)
	}
}

// WakeLocal calls WakeLocal of package mpi.
func (l *Lib) WakeLocal(local int, room bool) { engine.WakeLocal(l.base(), local, room) }

// AfterLock calls AfterLock of package mpi. The bits of what say what is to be done: 1 is to wake, 2 to
// unlock.
func (l *Lib) AfterLock(win uintptr, rank, what int) {
	if w, err := l.win(win, call.AnyLock); err == nil {
		engine.AfterLock(w, rank, what&1 != 0, what&2 != 0)
	}
}

// stopFast ends the fast path in C: all further calls enter Go.
func (l *Lib) stopFast() {
	if f := l.hooks.Fast; f != nil {
		f.CloseAll()
	}
}
