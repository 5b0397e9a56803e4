package bind

import (
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// Fast is C that does the shortest calls without Go (abi/lib/fast.h): it is told what there
// is. Calls of one method come one after the other.
type Fast interface {
	// KnowType tells of a predefined type the size, the extent and the true extent in bytes, and
	// what can be done with it. Its bounds begin at 0.
	KnowType(h uintptr, size, extent, trueExtent int, kind FastKind)
	// Watched reports whether a tool watches the process to which memory of Go means nothing:
	// then C is told of predefined types only, and looks at no struct of the engine.
	Watched() bool
	// KnowKernels tells the addresses of what combines elements of a predefined type by the
	// predefined operations from handle 0x20 on, see mpi.Op.Kernel, 0 where there is nothing.
	KnowKernels(datatype uintptr, functions *[FastOps]uintptr)
	// OpenComm tells of a communicator, see mpi.Comm.Descriptor, and CloseComm that its handle
	// ends.
	OpenComm(h uintptr, rank, size int, inter bool, descriptor uintptr, layout uint64)
	CloseComm(h uintptr)
	// OpenWin tells of a window, see mpi.Window.Descriptor, and CloseWin that its handle ends.
	OpenWin(h, descriptor uintptr, layout uint64)
	CloseWin(h uintptr)
	// OpenType tells of the record of a derived datatype, see mpi.Datatype.Share. CloseType
	// tells that its handle ends.
	OpenType(h, record uintptr, layout uint64)
	CloseType(h uintptr)
	// CloseAll ends all handles and types.
	CloseAll()
}

// FastKind is what can be done with a predefined type, each more than the one before it but
// for the last three. C has the same numbers (enum halo_kind).
type FastKind int

// The kinds.
const (
	FastPadded   FastKind = 1 + iota // nothing: its size is not how it lies in memory
	FastDense                        // copies
	FastBits                         // and bitwise operations
	FastSigned                       // and sums, and comparisons
	FastUnsigned                     // the same
	FastFloating                     // sums of numbers of IEEE 754, but nothing bitwise
)

// fastKind is that of a type of which single elements are combined without Go, 0 of others, on
// which operations may be defined, too. It is no map, since those take memory in every process.
func fastKind(name string) FastKind {
	switch name {
	case "MPI_PACKED", // is what has been packed, and no data of its own
		"MPIX_HANDLE_SYNC": // is for messages only
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

// startFast tells C what there is, now and later, unless HALO_C_FAST is 0.
func (l *Lib) startFast() {
	f := l.hooks.Fast
	if f == nil || os.Getenv("HALO_C_FAST") == "0" {
		return
	}
	watched := f.Watched()
	var functions [FastOps]uintptr
	for _, p := range predefinedTypes {
		d := l.predefined[p.handle-firstPredefined]
		size, kind := fastType(p.name, d)
		lb, extent, err := d.Extent()
		trueLB, trueExtent, failed := d.TrueExtent()
		if err == nil && failed == nil && lb == 0 && trueLB == 0 {
			f.KnowType(p.handle, size, extent, trueExtent, kind)
		}
		if kind >= FastDense && !checking() && !watched {
			l.startKernels(p.handle, &functions)
		}
	}
	l.comms.opened = func(h handle, c *mpi.Comm) {
		descriptor, layout := engine.CommDescriptor(c)
		if watched {
			descriptor, layout = 0, 0
		}
		f.OpenComm(h, c.Rank(), c.Size(), c.Inter(), descriptor, layout)
	}
	l.comms.closed = func(h handle, _ *mpi.Comm) { f.CloseComm(h) }
	if watched {
		l.openFirst()
		return
	}
	l.wins.opened = func(h handle, w *mpi.Window) {
		descriptor, layout := engine.WinDescriptor(w)
		f.OpenWin(h, descriptor, layout)
	}
	l.wins.closed = func(h handle, _ *mpi.Window) { f.CloseWin(h) }
	typeLayout := engine.TypeLayout()
	l.types.opened = func(h handle, d mpi.Datatype) {
		if r := l.typeRecords.open(h, d); r != nil {
			f.OpenType(h, uintptr(unsafe.Pointer(r)), typeLayout)
		}
	}
	l.types.closed = func(h handle, d mpi.Datatype) {
		f.CloseType(h)
		l.typeRecords.close(h, d)
	}
	l.openFirst()
}

// openFirst tells C of the communicators that are there from the start.
func (l *Lib) openFirst() {
	world := l.world.Load()
	l.comms.opened(commWorld, world)
	l.comms.opened(commSelf, world.Self())
}

// FastOps is how many operations C knows of, from opNull on. C has the same number (HALO_ROW).
const FastOps = 16

// startKernels tells C of the kernels for a predefined type, by way of functions.
func (l *Lib) startKernels(h handle, functions *[FastOps]uintptr) {
	for i := range functions {
		functions[i] = engine.Kernel(predefinedOps[int(opNull)+i], l.predefined[h-firstPredefined])
	}
	l.hooks.Fast.KnowKernels(h, functions)
}

// fastType is what C is told of a predefined type.
func fastType(name string, d mpi.Datatype) (size int, kind FastKind) {
	size, err := d.Size()
	lb, extent, failed := d.Extent()
	special := fastKind(name)
	switch {
	case err != nil || failed != nil:
		return 0, FastPadded
	case special == FastFloating && size != 4 && size != 8, special >= FastSigned && size > 8:
		return size, FastDense // of a compiler of Fortran: see FortranSizes in package mpi
	case special != 0:
		return size, special
	case lb != 0 || extent != size:
		return size, FastPadded
	}
	return size, FastDense
}

// Await is mpi.Comm.Await for a collective that C has begun, and returns the error code, or
// Fatal.
func (l *Lib) Await(comm uintptr, word *atomic.Uint64, n uint64) (result int) {
	defer l.caught(-1, args{}, &result)
	c, err := l.comm(comm, "a collective")
	if err == nil {
		err = engine.Await(c, word, n)
	}
	return code(err)
}

// Ring is mpi.Comm.Ring.
func (l *Lib) Ring(comm uintptr) {
	if c, err := l.comm(comm, "a collective"); err == nil {
		engine.Ring(c)
	}
}

// stopFast has all calls come here.
func (l *Lib) stopFast() {
	if f := l.hooks.Fast; f != nil {
		f.CloseAll()
	}
}
