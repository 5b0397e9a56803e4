package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
)

// DisplacementCurrent is the displacement of a view of a sequential file: where the shared file pointer
// is.
//
// C: MPI_DISPLACEMENT_CURRENT, section 14.3.
const DisplacementCurrent = file.Current

// SetView sets what the calling member sees of the file: the data of elements of filetype, one after
// the other from byte disp on. Offsets count elements of etype, the elementary type, of which filetype
// consists. The representation is "native", or "internal", which is the same, or "external32", the
// portable one of the standard, or one that RegisterDatarep has named. The file pointers return to the beginning of the view.
//
// Members pass elementary types of the same size and the same representation: ErrNotSame. Their
// displacements and file types may differ, so that each member sees its own part. ErrArg if
// displacements in filetype are negative or descend, or elements overlap in a file that may be
// written. The types may be freed afterwards. Collective over the file.
//
// C: MPI_File_set_view, section 14.3.
func (f *File) SetView(disp int64, etype, filetype Datatype, representation string, hints ...FileHint) error {
	const k = call.FileSetView
	if err := f.usable(k); err != nil {
		return err
	}
	checkKeys(f.c, k, hints...)
	var v *file.View
	e, own := etype.engine()
	if own == nil {
		var t *dtype.Type
		t, own = filetype.engine()
		if own == nil {
			v, own = f.f.NewView(disp, e, t, representation, current.datareps.find(representation))
		}
	}
	if err := f.f.SetView(v, own); err != nil {
		return f.done(err, k)
	}
	f.setHints(hints)
	return nil
}

// View returns what SetView has set. The types are new ones, unless they are predefined, and may be
// freed.
//
// C: MPI_File_get_view, section 14.3.
func (f *File) View() (disp int64, etype, filetype Datatype, representation string, err error) {
	if err := f.usable(call.FileGetView); err != nil {
		return 0, Datatype{}, Datatype{}, "", err
	}
	v := f.f.View()
	return v.Disp, handleOf(v.Etype), handleOf(v.Filetype), v.Rep, nil
}

// handleOf returns a handle of a type that the program may free, unless the type is predefined.
func handleOf(t *dtype.Type) Datatype {
	if t.Predefined() || t.Place() > 0 {
		return types().lasting(t)
	}
	return Datatype{&datatype{t: t}}
}

// TypeExtent is the extent in bytes of elements of a type in the file, in the representation of the
// view.
//
// C: MPI_File_get_type_extent, section 14.5.1.
func (f *File) TypeExtent(d Datatype) (int64, error) {
	if err := f.usable(call.FileGetTypeExtent); err != nil {
		return 0, err
	}
	t, err := d.engine()
	if err != nil {
		return 0, f.done(err, call.FileGetTypeExtent)
	}
	extent, err := f.f.Extent(t)
	return extent, f.done(err, call.FileGetTypeExtent)
}
