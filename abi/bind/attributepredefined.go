package bind

import (
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// The numbers of the predefined attributes.
const (
	tagUB         = 501
	ioRank        = 502
	hostRank      = 503
	wtimeIsGlobal = 504
	appNum        = 505
	lastUsedCode  = 506
	universeSize  = 507

	winBase     = 601
	winDispUnit = 602
	winSize     = 603
	winFlavor   = 604
	winModel    = 605
)

// attributes holds the values of predefined attributes, and the integers that Fortran has set, in
// memory of C, because programs get and may keep their addresses.
type attributes struct {
	mu    sync.Mutex
	comm  *[universeSize - tagUB + 1]int32 // the same for all communicators
	wins  map[*mpi.Window]*winValues
	free  []*winValues // of freed windows, for reuse
	cells []*int64     // of deleted attributes, for reuse: see attribute
}

// constant is the value of a predefined attribute: to C the address, to Fortran the number.
type constant struct {
	address uintptr
	number  int64
	unset   bool // the attribute exists and has no value
}

func (v constant) as(fortran bool) uintptr {
	if fortran {
		return uintptr(v.number)
	}
	return v.address
}

// winValues holds the values of the predefined attributes of a window.
type winValues struct {
	size                int64 // MPI_Aint
	unit, flavor, model int32
}

// commAttribute returns the value of a predefined attribute of a communicator, which in C is the
// address of an int.
func (l *Lib) commAttribute(c *mpi.Comm, number int) (constant, bool) {
	var value int
	switch number {
	case tagUB:
		value = c.TagUB()
	case ioRank:
		value = c.IO()
	case hostRank:
		value = c.Host()
	case wtimeIsGlobal:
		if c.WtimeIsGlobal() {
			value = 1
		}
	case appNum:
		value = c.AppNum()
		if value < 0 {
			return constant{unset: true}, true
		}
	case lastUsedCode:
		value = int(mpi.LastUsedCode())
	case universeSize:
		value = c.UniverseSize()
		if value < 0 {
			return constant{unset: true}, true
		}
	default:
		return constant{}, false
	}
	s := &l.attributes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.comm == nil {
		s.comm = (*[universeSize - tagUB + 1]int32)(l.hooks.Malloc(unsafe.Sizeof(*s.comm)))
	}
	at := &s.comm[number-tagUB]
	*at = int32(value)
	return constant{address: uintptr(unsafe.Pointer(at)), number: int64(value)}, true
}

// codeAdded updates the value of MPI_LASTUSEDCODE, because the program may hold its address.
func (l *Lib) codeAdded() {
	s := &l.attributes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.comm != nil {
		s.comm[lastUsedCode-tagUB] = int32(mpi.LastUsedCode())
	}
}

// addErrorClass and addErrorCode are MPI_Add_error_class and MPI_Add_error_code.
func (l *Lib) addErrorClass() mpi.Class {
	defer l.codeAdded()
	return mpi.AddErrorClass()
}

func (l *Lib) addErrorCode(class int) (mpi.Class, error) {
	defer l.codeAdded()
	return mpi.AddErrorCode(mpi.Class(class))
}

// winAttribute returns the value of a predefined attribute of a window: the base address of
// its memory, or the address of a number.
func (l *Lib) winAttribute(w *mpi.Window, number int) (constant, bool) {
	if number < winBase || number > winModel {
		return constant{}, false
	}
	if number == winBase {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(w.Untyped().Local())))
		return constant{address: base, number: int64(base)}, true
	}
	s := &l.attributes
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.wins[w]
	if v == nil {
		if n := len(s.free); n > 0 {
			v, s.free = s.free[n-1], s.free[:n-1]
		} else {
			v = (*winValues)(l.hooks.Malloc(unsafe.Sizeof(*v)))
		}
		*v = winValues{w.Bytes(), int32(w.DispUnit()), int32(w.Flavor()), int32(w.Model())}
		if s.wins == nil {
			s.wins = map[*mpi.Window]*winValues{}
		}
		s.wins[w] = v
	}
	switch number {
	case winSize:
		return constant{address: uintptr(unsafe.Pointer(&v.size)), number: v.size}, true
	case winDispUnit:
		return constant{address: uintptr(unsafe.Pointer(&v.unit)), number: int64(v.unit)}, true
	case winFlavor:
		return constant{address: uintptr(unsafe.Pointer(&v.flavor)), number: int64(v.flavor)}, true
	}
	return constant{address: uintptr(unsafe.Pointer(&v.model)), number: int64(v.model)}, true
}

// dropWin removes the handle of a freed window and recycles the values of its attributes.
func (l *Lib) dropWin(h handle) bool {
	if w, ok := l.wins.get(h); ok {
		s := &l.attributes
		s.mu.Lock()
		if v := s.wins[w]; v != nil {
			s.free = append(s.free, v)
			delete(s.wins, w)
		}
		s.mu.Unlock()
	}
	return l.wins.drop(h)
}
