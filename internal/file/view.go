package file

import (
	"math"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
)

// View is what a process sees of a file (MPI-5, 14.3): the data of elements of the file type, one
// after the other from the displacement on. It is immutable. It refers to the engine's types, which
// live on when the program frees its handles.
type View struct {
	Disp            int64 // in bytes
	Etype, Filetype *dtype.Type
	Rep             string // the data representation

	converts *Representation // nil if data has the same form in the file as in memory
	bytes    *dtype.Type     // MPI_BYTE
	unit     int64           // bytes of data of an elementary type in the file
	tiles    dtype.Buffer    // elements of the file type at offset 0, as many as fit into 64 bits
	dense    bool            // position p is at byte first+p of the file
	first    int64
	grain    int64 // has the lower bits of all ends of runs
	twice    bool  // bytes of the file occur twice in the view
	most     int64 // positions, so that all offsets fit into 64 bits
}

// Native is the representation of data as in memory; Internal is the same, since all processes of a
// job have one representation; External32 is the standard's portable one.
const (
	Native     = "native"
	Internal   = "internal"
	External32 = "external32"
)

// newView checks the arguments of a view. writes says that the file may be written, so that elements
// must not overlap. bytes is the type MPI_BYTE, and own the representation of the program with the name
// rep, nil if there is none.
func newView(disp int64, etype, filetype *dtype.Type, rep string, writes bool, bytes *dtype.Type, own *Representation) (*View, error) {
	v := &View{Disp: disp, Etype: etype, Filetype: filetype, Rep: rep, bytes: bytes}
	switch {
	case disp < 0:
		return nil, class.Errorf(class.Arg, "displacement %d is negative", disp)
	case etype == nil || filetype == nil:
		return nil, class.Errorf(class.Type, "type is MPI_DATATYPE_NULL")
	case !etype.Committed():
		return nil, class.Errorf(class.Type, "elementary type %s is not committed", etype)
	case !filetype.Committed():
		return nil, class.Errorf(class.Type, "file type %s is not committed", filetype)
	}
	var err error
	switch {
	case rep == Native || rep == Internal:
	case rep == External32:
		v.converts = external32()
	case own != nil:
		v.converts = own
	default:
		return nil, class.Errorf(class.UnsupportedDatarep, "data representation %q, want %q, %q, %q or one of the program", rep, Native, Internal, External32)
	}
	if r := v.converts; r != nil {
		etype, err = r.inFile(etype, bytes)
		if err == nil {
			filetype, err = r.inFile(filetype, bytes)
		}
		if err != nil {
			return nil, err
		}
	}
	v.unit = etype.Size()
	if v.unit == 0 {
		return nil, class.Errorf(class.Arg, "elementary type %s has no data", etype)
	}
	if filetype.Size() == 0 { // a distributed array may have no element for a member
		v.first, v.dense = disp, true
		return v, nil
	}
	if err := filetype.Ascends(); err != nil {
		return nil, err
	}
	if size := filetype.Size(); size%v.unit != 0 {
		return nil, class.Errorf(class.Arg, "file type %s has %d bytes of data, which are no whole number of elements of %s (%d bytes)", filetype, size, etype, v.unit)
	}
	// Only what a file type itself says twice is refused: its extent may be shorter than its data, if the view
	// is to have one element.
	once := !filetype.Tiles() || writes && filetype.Overlaps(2)
	elements := int64(2)
	if once {
		elements = 1
	}
	overlaps := filetype.Overlaps(elements)
	if writes && overlaps {
		return nil, class.Errorf(class.Arg, "elements of file type %s overlap, but the file may be written", filetype)
	}
	v.twice = overlaps
	v.tiles, err = dtype.Tile(filetype)
	if err == nil && once {
		err = v.tiles.At(nil, filetype, 1)
	}
	if err != nil {
		return nil, err
	}
	v.first, v.dense = v.tiles.Dense()
	v.first += disp
	v.grain = v.first
	if !v.dense {
		v.grain = disp | v.tiles.Grain()
	}
	v.most = v.tiles.Size()
	if v.dense {
		v.most = min(v.most, math.MaxInt64-v.first)
	} else if last := math.MaxInt64 - disp; v.tiles.Position(last) < v.most {
		v.most = v.tiles.Position(last)
	}
	return v, nil
}

// position returns the position of an offset in units of unit bytes, elementary types or bytes, for an
// access of n bytes.
func (v *View) position(unit, offset int64, n int) (int64, error) {
	switch {
	case offset < 0:
		return 0, class.Errorf(class.Arg, "offset %d is negative", offset)
	case v.most == 0 && n > 0:
		return 0, class.Errorf(class.Arg, "file type %s has no data: %d bytes cannot be accessed", v.Filetype, n)
	case (offset > v.most/unit || offset*unit > v.most-int64(n)) && v.tiles.Count() == 1:
		return 0, class.Errorf(class.Arg, "offset %d: the view has %d bytes, since a second element of file type %s would begin before the end of the first", offset, v.most, v.Filetype)
	case offset > v.most/unit || offset*unit > v.most-int64(n):
		return 0, class.Errorf(class.Arg, "offset %d: the access would end beyond 64 bits", offset)
	case int64(n)%unit != 0:
		return 0, class.Errorf(class.Type, "%d bytes are no whole number of elements of the elementary type %s (%d bytes)", n, v.Etype, v.unit)
	}
	return offset * unit, nil
}

// Matches returns an error if x, which has a type, is not a whole number of elements of the elementary type
// (MPI-5, 14.6.5). In every representation the elements of memory and of the view must be of the same types.
func (v *View) Matches(x Data) error {
	size, etype := x.Type.Size(), v.Etype.Size()
	if size == 0 || etype == 0 || planted.TypesIgnored {
		return nil
	}
	count := int64(x.Len()) / size
	if err := x.Type.Signature(count).Check(v.Etype, (int64(x.Len())+etype-1)/etype); err != nil {
		return class.Errorf(class.Type, "%s in memory, but the view has elements of type %s", x.Type.Describe(count), v.Etype.Describe(1))
	}
	return nil
}

// Offset returns the offset in the file of a position, and at the end of the view that behind its last byte.
func (v *View) Offset(at int64) int64 {
	if v.dense {
		return v.first + at
	}
	var r [1]dtype.Run
	if n, _ := v.tiles.Runs(r[:], at, 1); n > 0 {
		return v.Disp + r[0].Off
	}
	if n, _ := v.tiles.Runs(r[:], at-1, 1); n > 0 {
		return v.Disp + r[0].Off + 1
	}
	return math.MaxInt64
}

// Position returns the position of the first byte that is at the offset in the file or after it.
func (v *View) Position(off int64) int64 { return v.tiles.Position(off - v.Disp) }

// end returns the end of the file in the view, if the file has size bytes: the position of the
// first elementary type that begins after the last byte (MPI-5, 14.1.1).
func (v *View) end(size int64) int64 {
	if !v.twice {
		return (v.Position(size) + v.unit - 1) / v.unit * v.unit
	}
	// Elements of the file type overlap, so what is later in the view may begin before the end. Each elementary
	// type of the first element has its like in all others.
	t, end := v.tiles.Type(), v.tiles.Size()
	_, extent := t.Extent()
	for at := int64(0); at < t.Size(); at += v.unit {
		element := int64(0)
		if off := v.Offset(at); off < size && v.tiles.Count() > 1 {
			element = (size - off + extent - 1) / extent
		} else if off < size {
			continue
		}
		if element <= (end-at)/t.Size() {
			end = min(end, element*t.Size()+at)
		}
	}
	return end
}
