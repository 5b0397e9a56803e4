package bind

import (
	"bytes"
	"strconv"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// fortran holds what a Fortran library has told about its compiler, once and before MPI_Init. What
// nobody has told is as with gfortran. These calls return errors without calling an error handler:
// there is none before MPI_Init, and the library can continue without the setting.
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

// optionalTypes are the optional types of Fortran in the keys of the info, and whether gfortran has
// them. Halo has all of them, whatever the info says.
var optionalTypes = [...]struct {
	name string
	has  bool
}{
	{"logical1", true}, {"logical2", true}, {"logical4", true}, {"logical8", true}, {"logical16", true},
	{"integer1", true}, {"integer2", true}, {"integer4", true}, {"integer8", true}, {"integer16", true},
	{"real2", false}, {"real4", true}, {"real8", true}, {"real16", true},
	{"complex4", false}, {"complex8", true}, {"complex16", true}, {"complex32", true}, {"double_complex", true},
}

// getFortranInfo is MPI_Abi_get_fortran_info.
func (l *Lib) getFortranInfo() *mpi.Info {
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info != nil {
		return f.info.Dup()
	}
	i, sizes := mpi.NewInfo(), f.usual()
	for k, key := range sizeKeys {
		i.Set(key, strconv.Itoa(sizes[k])) // these calls cannot fail
	}
	for _, t := range optionalTypes {
		i.Set("mpi_"+t.name+"_supported", strconv.FormatBool(t.has))
	}
	return i
}

// usual returns the sizes while no info is set. The caller holds mu.
func (f *fortran) usual() [len(sizeKeys)]int {
	sizes := usualSizes
	if f.set {
		sizes[0] = f.size
	}
	return sizes
}

// setFortranInfo is MPI_Abi_set_fortran_info. MPI_Init makes the predefined Fortran types with
// these sizes.
func (l *Lib) setFortranInfo(i *mpi.Info) error {
	const by = call.AbiSetFortranInfo
	if i == nil {
		return newError(mpi.ErrInfo, by, "info is MPI_INFO_NULL")
	}
	sizes := usualSizes
	for k, key := range sizeKeys {
		text, ok := i.Get(key)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return newError(mpi.ErrABI, by, "%s is %q, which is no number", key, text)
		}
		sizes[k] = n
	}
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.state.Load() != beforeInit:
		return newError(mpi.ErrABI, by, "called after MPI_Init")
	case f.info != nil:
		return newError(mpi.ErrABI, by, "called twice")
	case f.set && sizes[0] != f.size:
		return newError(mpi.ErrABI, by, "logicals of %d bytes, MPI_Abi_set_fortran_booleans was told of %d", sizes[0], f.size)
	}
	if err := expressible(by, sizes); err != nil {
		return err
	}
	f.info, f.sizes = i.Dup(), sizes
	return nil
}

// expressible returns an error unless the table of types has types of these sizes.
func expressible(by call.Number, sizes [len(sizeKeys)]int) error {
	for k, n := range sizes {
		switch {
		case n == 2 || n == 4 || n == 8 || n == 16:
		case n == 1 && k < 2: // a LOGICAL or INTEGER
		default:
			return newError(mpi.ErrABI, by, "%s is %d, which Halo has no type of", sizeKeys[k], n)
		}
	}
	return nil
}

// startFortran tells package mpi the sizes before that makes the types.
func (l *Lib) startFortran() error {
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	l.allOnes = f.set && isAllOnes(f.yes)
	sizes := f.sizes
	switch {
	case f.info == nil && !f.set:
		return nil
	case f.info == nil:
		sizes = f.usual()
	}
	return engine.FortranSizes(sizes[0], sizes[1], sizes[2], sizes[3])
}

// setBooleans is MPI_Abi_set_fortran_booleans. True is 1, or, in logicals of 2 bytes and more, has all
// bits set; false is 0. Operations take every value but 0 as true in the first case, and these two
// values in the second. Other values are refused, since the compiler of the program would not
// understand the results of reductions.
func (l *Lib) setBooleans(size int, yes, no uintptr) error {
	const by = call.AbiSetFortranBooleans
	if err := logical(by, size, yes, no); err != nil {
		return err
	}
	y, n := bytes.Clone(unsafe.Slice((*byte)(pointer(yes)), size)), bytes.Clone(unsafe.Slice((*byte)(pointer(no)), size))
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.state.Load() != beforeInit:
		return newError(mpi.ErrABI, by, "called after MPI_Init")
	case f.set:
		return newError(mpi.ErrABI, by, "called twice")
	case f.info != nil && f.sizes[0] != size:
		return newError(mpi.ErrABI, by, "logicals of %d bytes, MPI_Abi_set_fortran_info was told of %d", size, f.sizes[0])
	case !isNumber(y, 1) && !isAllOnes(y) || !isNumber(n, 0):
		return newError(mpi.ErrABI, by, "logicals are %x and %x in memory: true can be 1, or -1 in 2 bytes and more, and false 0", y, n)
	}
	f.set, f.size, f.yes, f.no = true, size, y, n
	return nil
}

// isNumber reports whether b is the number n in the byte order of this machine.
func isNumber(b []byte, n byte) bool {
	return b[0] == n && len(bytes.Trim(b[1:], "\x00")) == 0
}

// isAllOnes reports whether b is a logical of 2 bytes or more with all bits set.
func isAllOnes(b []byte) bool { return len(b) >= 2 && len(bytes.Trim(b, "\xff")) == 0 }

// logical checks the size and the addresses of two logicals.
func logical(by call.Number, size int, yes, no uintptr) error {
	switch {
	case size != 1 && size != 2 && size != 4 && size != 8 && size != 16:
		return newError(mpi.ErrArg, by, "logicals of %d bytes", size)
	case pointer(yes) == nil || pointer(no) == nil:
		return newError(mpi.ErrArg, by, "logicals at %#x and %#x, where one is no address", yes, no)
	}
	return nil
}

// getBooleans is MPI_Abi_get_fortran_booleans. While nothing is set it stores 1 and 0 in the size
// that is asked for, as gfortran has them, and says that they are not set.
func (l *Lib) getBooleans(a args) error {
	const by = call.AbiGetFortranBooleans
	if err := logical(by, a.int(0), a.word(1), a.word(2)); err != nil {
		return err
	}
	if err := l.need(by, a, "is_set", 3); err != nil {
		return err
	}
	f := &l.fortran
	f.mu.Lock()
	set, size, yes, no := f.set, f.size, f.yes, f.no
	f.mu.Unlock()
	switch n := a.int(0); {
	case !set:
		yes, no = make([]byte, n), make([]byte, n)
		yes[0] = 1 // Halo's platforms are little-endian
	case size != n:
		return newError(mpi.ErrArg, by, "logicals of %d bytes, those that were set are of %d", n, size)
	}
	copy(unsafe.Slice((*byte)(a.result(1)), a.int(0)), yes)
	copy(unsafe.Slice((*byte)(a.result(2)), a.int(0)), no)
	a.setBool(3, set)
	return nil
}
