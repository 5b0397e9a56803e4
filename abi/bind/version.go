package bind

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// abiVersion is MPI_Abi_get_version.
func abiVersion() (major, minor int) { return 1, 0 }

// abiInfo is MPI_Abi_get_info: the sizes of the types of numbers of the ABI.
func abiInfo() *mpi.Info {
	i := mpi.NewInfo()
	for _, name := range []string{"mpi_aint_size", "mpi_count_size", "mpi_offset_size"} {
		i.Set(name, strconv.Itoa(int(word))) // cannot fail
	}
	return i
}

// fortran is what a Fortran layer has told of its types, once.
type fortran struct {
	mu      sync.Mutex
	info    *mpi.Info // nil until it is set
	set     bool      // the values of logicals
	size    int
	yes, no []byte
}

// getFortranInfo is MPI_Abi_get_fortran_info: null unless somebody has set it.
func (l *Lib) getFortranInfo() *mpi.Info {
	f := &l.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info == nil {
		return nil
	}
	return f.info.Dup()
}

// setFortranInfo is MPI_Abi_set_fortran_info.
func (l *Lib) setFortranInfo(i *mpi.Info) error {
	const call = "MPI_Abi_set_fortran_info"
	if i == nil {
		return l.fail(mpi.ErrInfo, call, "info is MPI_INFO_NULL")
	}
	f := &l.fortran
	f.mu.Lock()
	again := f.info != nil
	if !again {
		f.info = i.Dup()
	}
	f.mu.Unlock()
	if again {
		return l.fail(mpi.ErrABI, call, "called twice")
	}
	return nil
}

// setBooleans is MPI_Abi_set_fortran_booleans.
func (l *Lib) setBooleans(size int, yes, no uintptr) error {
	const call = "MPI_Abi_set_fortran_booleans"
	if err := l.logical(call, size, yes, no); err != nil {
		return err
	}
	f := &l.fortran
	f.mu.Lock()
	again := f.set
	if !again {
		f.set, f.size = true, size
		f.yes = append([]byte(nil), unsafe.Slice((*byte)(pointer(yes)), size)...)
		f.no = append([]byte(nil), unsafe.Slice((*byte)(pointer(no)), size)...)
	}
	f.mu.Unlock()
	if again {
		return l.fail(mpi.ErrABI, call, "called twice")
	}
	return nil
}

// logical checks the size of logicals, and where two of them are.
func (l *Lib) logical(call string, size int, yes, no uintptr) error {
	switch {
	case size != 1 && size != 2 && size != 4 && size != 8 && size != 16:
		return l.fail(mpi.ErrArg, call, "logicals of %d bytes", size)
	case pointer(yes) == nil || pointer(no) == nil:
		return l.fail(mpi.ErrArg, call, "logicals at %#x and %#x, where one is no address", yes, no)
	}
	return nil
}

// getBooleans is MPI_Abi_get_fortran_booleans.
func (l *Lib) getBooleans(a args) error {
	const call = "MPI_Abi_get_fortran_booleans"
	if err := l.logical(call, a.int(0), a.word(1), a.word(2)); err != nil {
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
		return l.fail(mpi.ErrArg, call, "logicals of %d bytes, those that were set are of %d", a.int(0), size)
	}
	a.setBool(3, set)
	return nil
}

// pcontrol is MPI_Pcontrol, which tools replace: it does nothing.
func pcontrol(int) {}
