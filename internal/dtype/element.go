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
	Character                 // text, one byte: no arithmetic
	Wide                      // wchar_t
	Raw                       // MPI_BYTE: no conversion
	Opaque                    // MPI_PACKED: no conversion
	Handle                    // of a synchronisation object: opaque, for messages only
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

// size is the number of bytes that a number takes in memory.
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

	// Elements match if their codes are equal. Types of different names or languages
	// with the same representation have equal codes (DT-16); the code of an F90 type
	// contains its precision and range (DT-20).
	code uint64
}

// newElem makes an element and computes alignment and code. An external size of 0 means that
// it equals size.
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

// raw reports whether the element matches elements of any type.
func (e *Elem) raw() bool { return e.Kind == Raw || e.Kind == Opaque }
