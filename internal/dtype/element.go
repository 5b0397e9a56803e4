package dtype

// Kind says what the bits of an element mean.
type Kind uint8

// The kinds. An element of a pair type has none of its own: see Type.Elem.
const (
	Integer   Kind = 1 + iota // two's complement
	Natural                   // unsigned
	Floating                  // Format says which
	Complex                   // two of Floating
	Logical                   // of Fortran: zero is false
	Boolean                   // of C and C++
	Character                 // of text, one byte: no arithmetic
	Wide                      // wchar_t
	Raw                       // MPI_BYTE: no conversion
	Opaque                    // MPI_PACKED: no conversion
	Handle                    // of an object: means something as a whole only, and to whoever may use it
)

// Format is a representation of floating-point numbers.
type Format uint8

// The formats. Extended is the x87 format of 80 bits in 16 bytes; Quad is IEEE
// binary128.
const (
	Half Format = 1 + iota
	Single
	Double64
	Extended
	Quad
)

// size is the room a number takes in memory.
func (f Format) size() int64 {
	switch f {
	case Half:
		return 2
	case Single:
		return 4
	case Double64:
		return 8
	}
	return 16
}

// Elem is an element of typemaps: a basic datatype.
type Elem struct {
	Name     string
	ID       ID    // 0 for types of F90Real
	Size     int64 // bytes
	Align    int64 // of the address, in C
	Kind     Kind
	Format   Format // of floating-point and complex numbers
	External int64  // bytes in external32

	// code is what matching goes by: equal for types of different names or
	// languages with the same representation (DT-16), and peculiar to (p, r) for
	// types of F90Real (DT-20).
	code uint64
}

// newElem fills in what follows from the rest. An external size of 0 is the size.
func newElem(id ID, name string, size int64, kind Kind, f Format, external int64) *Elem {
	e := &Elem{Name: name, ID: id, Size: size, Align: size, Kind: kind, Format: f, External: external}
	if kind == Complex {
		e.Align = f.size()
	}
	if e.External == 0 {
		e.External = e.Size
	}
	e.code = uint64(kind) | uint64(f)<<8 | uint64(size)<<16
	return e
}

// handleSize is the size of a handle in bytes.
const handleSize = 8

// newHandle is the element of handles of synchronisation objects, MPIX_HANDLE_SYNC.
func newHandle() *Elem {
	return newElem(0, "MPIX_HANDLE_SYNC", handleSize, Handle, 0, 0)
}

// raw reports whether the element matches bytes of anything.
func (e *Elem) raw() bool { return e.Kind == Raw || e.Kind == Opaque }
