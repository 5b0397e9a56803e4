package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
)

// attribute is the value of an attribute, with the language that has set it (MPI-5, 19.3.7). What
// C has set is a pointer: Fortran reads its bits. What Fortran has set is an integer, which is kept
// in memory of C: C reads the address of that memory. An INTEGER is there as an MPI_Aint with its
// sign extended, and its lower half is the INTEGER, since Halo's platforms are little-endian: so C
// finds the value behind an int * and behind an MPI_Aint *, and one form serves both widths.
type attribute struct {
	pointer uintptr
	cell    *int64 // the integer; nil: C has set a pointer
}

// as returns the attribute as C or Fortran reads it.
func (v attribute) as(fortran bool) uintptr {
	switch {
	case v.cell == nil:
		return v.pointer
	case fortran:
		return uintptr(*v.cell)
	}
	return uintptr(unsafe.Pointer(v.cell))
}

// attribute returns the attribute that C, or Fortran, sets by a word.
func (l *Lib) attribute(word uintptr, fortran bool) attribute {
	if !fortran {
		return attribute{pointer: word}
	}
	s := &l.attributes
	s.mu.Lock()
	defer s.mu.Unlock()
	var cell *int64
	if n := len(s.cells); n > 0 {
		cell, s.cells = s.cells[n-1], s.cells[:n-1]
	} else {
		cell = (*int64)(l.hooks.Malloc(unsafe.Sizeof(*cell)))
	}
	*cell = int64(word)
	return attribute{cell: cell}
}

// drop ends an attribute that no object holds any more.
func (s *attributes) drop(v attribute) {
	if v.cell != nil {
		s.mu.Lock()
		s.cells = append(s.cells, v.cell)
		s.mu.Unlock()
	}
}

// fortranKeyval makes a keyval whose callbacks see attributes as Fortran does, by one of
// addCommKeyval and so on: MPIX_Comm_create_keyval_as_fortran and so on.
func (l *Lib) fortranKeyval(by call.Number, add func(*keyval) int, copied, deleted, destroy, extra uintptr) (int, error) {
	end, err := l.destructor(by, destroy, extra)
	if err != nil {
		return 0, err
	}
	return add(&keyval{copy: copied, delete: deleted, extra: extra, fortran: true, end: end}), nil
}
