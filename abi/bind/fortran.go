package bind

import (
	"bytes"
	"strconv"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// fortran holds what a Fortran library has told about its compiler, once and before MPI_Init.
// These calls return errors without calling an error handler: there is none before MPI_Init,
// and the library can continue without the setting.
type fortran struct {
	mu      sync.Mutex
	info    *mpi.Info // nil until it is set
	sizes   [len(sizeKeys)]int
	set     bool // MPI_Abi_set_fortran_booleans has set size, yes and no
	size    int
	yes, no []byte
}

// sizeKeys are the keys of MPI_Abi_set_fortran_info whose values are sizes in bytes.
var sizeKeys = [...]string{"mpi_logical_size", "mpi_integer_size", "mpi_real_size", "mpi_double_precision_size"}

// usualSizes are the default sizes, in the order of sizeKeys.
var usualSizes = [len(sizeKeys)]int{4, 4, 4, 8}

// getFortranInfo is MPI_Abi_get_fortran_info. It returns nil unless the info has been set.
func (l *Lib) getFortranInfo() *mpi.Info {
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info == nil {
		return nil
	}
	return f.info.Dup()
}

// setFortranInfo is MPI_Abi_set_fortran_info. MPI_Init makes the predefined Fortran types with
// these sizes.
func (l *Lib) setFortranInfo(i *mpi.Info) error {
	const call = "MPI_Abi_set_fortran_info"
	if i == nil {
		return newError(mpi.ErrInfo, call, "info is MPI_INFO_NULL")
	}
	sizes := usualSizes
	for k, key := range sizeKeys {
		text, ok := i.Get(key)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return newError(mpi.ErrABI, call, "%s is %q, which is no number", key, text)
		}
		sizes[k] = n
	}
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.state.Load() != beforeInit:
		return newError(mpi.ErrABI, call, "called after MPI_Init")
	case f.info != nil:
		return newError(mpi.ErrABI, call, "called twice")
	case f.set && sizes[0] != f.size:
		return newError(mpi.ErrABI, call, "logicals of %d bytes, MPI_Abi_set_fortran_booleans was told of %d", sizes[0], f.size)
	}
	if err := expressible(call, sizes); err != nil {
		return err
	}
	f.info, f.sizes = i.Dup(), sizes
	return nil
}

// expressible returns an error unless the table of types has types of these sizes.
func expressible(call string, sizes [len(sizeKeys)]int) error {
	for k, n := range sizes {
		switch {
		case n == 2 || n == 4 || n == 8 || n == 16:
		case n == 1 && k < 2: // a LOGICAL or INTEGER
		default:
			return newError(mpi.ErrABI, call, "%s is %d, which Halo has no type of", sizeKeys[k], n)
		}
	}
	return nil
}

// startFortran tells package mpi the sizes before that makes the types.
func (l *Lib) startFortran() error {
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	sizes := f.sizes
	if f.info == nil {
		if !f.set {
			return nil
		}
		sizes = usualSizes
		sizes[0] = f.size
	}
	return engine.FortranSizes(sizes[0], sizes[1], sizes[2], sizes[3])
}

// setBooleans is MPI_Abi_set_fortran_booleans. The engine's operations produce the logicals 1
// and 0 and treat every value but 0 as true. Other values are refused, since the compiler of
// the program would not understand the results of reductions.
func (l *Lib) setBooleans(size int, yes, no uintptr) error {
	const call = "MPI_Abi_set_fortran_booleans"
	if err := logical(call, size, yes, no); err != nil {
		return err
	}
	y, n := bytes.Clone(unsafe.Slice((*byte)(pointer(yes)), size)), bytes.Clone(unsafe.Slice((*byte)(pointer(no)), size))
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.state.Load() != beforeInit:
		return newError(mpi.ErrABI, call, "called after MPI_Init")
	case f.set:
		return newError(mpi.ErrABI, call, "called twice")
	case f.info != nil && f.sizes[0] != size:
		return newError(mpi.ErrABI, call, "logicals of %d bytes, MPI_Abi_set_fortran_info was told of %d", size, f.sizes[0])
	case !isNumber(y, 1) || !isNumber(n, 0):
		return newError(mpi.ErrABI, call, "logicals are %x and %x in memory, Halo has 1 for true and 0 for false only", y, n)
	}
	f.set, f.size, f.yes, f.no = true, size, y, n
	return nil
}

// isNumber reports whether b is the number n in the byte order of this machine.
func isNumber(b []byte, n byte) bool {
	return b[0] == n && len(bytes.Trim(b[1:], "\x00")) == 0
}

// logical checks the size and the addresses of two logicals.
func logical(call string, size int, yes, no uintptr) error {
	switch {
	case size != 1 && size != 2 && size != 4 && size != 8 && size != 16:
		return newError(mpi.ErrArg, call, "logicals of %d bytes", size)
	case pointer(yes) == nil || pointer(no) == nil:
		return newError(mpi.ErrArg, call, "logicals at %#x and %#x, where one is no address", yes, no)
	}
	return nil
}

// getBooleans is MPI_Abi_get_fortran_booleans.
func (l *Lib) getBooleans(a args) error {
	const call = "MPI_Abi_get_fortran_booleans"
	if err := logical(call, a.int(0), a.word(1), a.word(2)); err != nil {
		return err
	}
	if err := l.need(call, a, "is_set", 3); err != nil {
		return err
	}
	f := &l.fortran
	f.mu.Lock()
	set, size := f.set, f.size
	if set && size == a.int(0) {
		copy(unsafe.Slice((*byte)(a.result(1)), size), f.yes)
		copy(unsafe.Slice((*byte)(a.result(2)), size), f.no)
	}
	f.mu.Unlock()
	if set && size != a.int(0) {
		return newError(mpi.ErrArg, call, "logicals of %d bytes, those that were set are of %d", a.int(0), size)
	}
	a.setBool(3, set)
	return nil
}
