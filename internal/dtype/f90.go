package dtype

import (
	"strconv"

	"github.com/halo-mpi/halo/internal/class"
)

// f90Key identifies an F90 type: its kind and the arguments of the call that asks for it.
type f90Key struct {
	kind       Kind
	prec, rang int
}

// realModel is a kind of REAL of the Fortran compiler: decimal precision and exponent
// range.
type realModel struct {
	prec, rang int
	format     Format
}

// realModels lists the kinds of gfortran, smallest first.
func realModels() []realModel {
	m := []realModel{{6, 37, Single}, {15, 307, Double64}}
	if cLongDouble() == Extended {
		m = append(m, realModel{18, 4931, Extended})
	}
	return append(m, realModel{33, 4931, Quad})
}

// F90Real returns the type of REAL(KIND=selected_real_kind(p, r)). One of p and r
// may be Undefined.
func (s *Set) F90Real(p, r int) (*Type, error) { return s.f90Real(p, r, Floating, CombinerF90Real) }

// F90Complex is F90Real for COMPLEX.
func (s *Set) F90Complex(p, r int) (*Type, error) {
	return s.f90Real(p, r, Complex, CombinerF90Complex)
}

func (s *Set) f90Real(p, r int, kind Kind, comb Combiner) (*Type, error) {
	if p == Undefined && r == Undefined {
		return nil, class.Errorf(class.Arg, "precision and range are both MPI_UNDEFINED")
	}
	prec, rang, err := f90Bounds(p, r)
	if err != nil {
		return nil, err
	}
	for _, m := range realModels() {
		if prec > m.prec || rang > m.rang {
			continue
		}
		size, external := m.format.size(), f90RealExternal(prec, rang)
		if kind == Complex {
			size, external = 2*size, 2*external
		}
		name := "MPI_REAL"
		if kind == Complex {
			name = "MPI_COMPLEX"
		}
		return s.f90Type(f90Key{kind, p, r}, call{combiner: comb, ints: []int64{int64(p), int64(r)}},
			newElem(0, f90Name(name, p, r), size, kind, m.format, external)), nil
	}
	return nil, class.Errorf(class.Arg, "no REAL has precision %d and range %d", p, r)
}

// F90Integer returns the type of INTEGER(KIND=selected_int_kind(r)).
func (s *Set) F90Integer(r int) (*Type, error) {
	if r < 0 {
		return nil, class.Errorf(class.Arg, "range %d is negative", r)
	}
	// rang is the exponent of the largest power of ten that fits into size bytes. The
	// size in external32 is the same.
	for _, m := range [...]struct {
		rang int
		size int64
	}{{2, 1}, {4, 2}, {9, 4}, {18, 8}, {38, 16}} {
		if r <= m.rang {
			return s.f90Type(f90Key{Integer, r, 0}, call{combiner: CombinerF90Integer, ints: []int64{int64(r)}},
				newElem(0, f90Name("MPI_INTEGER", r), m.size, Integer, 0, m.size)), nil
		}
	}
	return nil, class.Errorf(class.Arg, "no INTEGER has range %d", r)
}

// f90Bounds replaces MPI_UNDEFINED by 0 and checks precision and range.
func f90Bounds(p, r int) (prec, rang int, err error) {
	prec, rang = p, r
	if p == Undefined {
		prec = 0
	}
	if r == Undefined {
		rang = 0
	}
	if prec < 0 || rang < 0 {
		return 0, 0, class.Errorf(class.Arg, "precision %d or range %d is negative", p, r)
	}
	return prec, rang, nil
}

// f90RealExternal is the size in external32, which follows from precision and range
// (DT-25) and may differ from the size of the compiler's kind.
func f90RealExternal(prec, rang int) int64 {
	switch {
	case prec > 15 || rang > 307:
		return 16
	case prec > 6 || rang > 37:
		return 8
	}
	return 4
}

// f90Type returns the only type with key k, and makes it on the first call. The type
// matches no other type.
func (s *Set) f90Type(k f90Key, made call, e *Elem) *Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.f90[k]
	if t == nil {
		// Precision and range are at most 4931, so each fits 16 bits with a value for Undefined.
		e.code |= 1<<31 | uint64(uint16(k.prec))<<32 | uint64(uint16(k.rang))<<48
		t = newElemType(made, e)
		s.f90[k] = t
	}
	return t
}

func f90Name(name string, args ...int) string {
	text := name + "(KIND="
	for i, a := range args {
		if i > 0 {
			text += ","
		}
		if a == Undefined {
			text += "MPI_UNDEFINED"
		} else {
			text += strconv.Itoa(a)
		}
	}
	return text + ")"
}
