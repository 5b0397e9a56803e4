package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// ReadAtAllBegin begins a ReadAtAll, which ReadAtAllEnd ends. The program must not access buf until
// then. Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_read_at_all_begin, section 14.4.5.
func ReadAtAllBegin[T any](f *File, offset int64, buf []T) error {
	return f.begin(call.FileReadAtAllBegin, file.Read, file.At(offset), fileData(f, buf))
}

// ReadAtAllBegin is the function ReadAtAllBegin for a Buffer.
//
// C: MPI_File_read_at_all_begin, section 14.4.5.
func (f *File) ReadAtAllBegin(offset int64, b Buffer) error {
	return f.begin(call.FileReadAtAllBegin, file.Read, file.At(offset), b.fileTarget())
}

// ReadAtAllEnd waits for the access that ReadAtAllBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_read_at_all_end, section 14.4.5.
func (f *File) ReadAtAllEnd() (Status, error) {
	return f.end(call.FileReadAtAllEnd, call.FileReadAtAllBegin)
}

// ReadAllBegin begins a ReadAll, which ReadAllEnd ends. The program must not access buf until then.
// Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_read_all_begin, section 14.4.5.
func ReadAllBegin[T any](f *File, buf []T) error {
	return f.begin(call.FileReadAllBegin, file.Read, file.Individual, fileData(f, buf))
}

// ReadAllBegin is the function ReadAllBegin for a Buffer.
//
// C: MPI_File_read_all_begin, section 14.4.5.
func (f *File) ReadAllBegin(b Buffer) error {
	return f.begin(call.FileReadAllBegin, file.Read, file.Individual, b.fileTarget())
}

// ReadAllEnd waits for the access that ReadAllBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_read_all_end, section 14.4.5.
func (f *File) ReadAllEnd() (Status, error) { return f.end(call.FileReadAllEnd, call.FileReadAllBegin) }

// ReadOrderedBegin begins a ReadOrdered, which ReadOrderedEnd ends. The program must not access buf
// until then. Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_read_ordered_begin, section 14.4.5.
func ReadOrderedBegin[T any](f *File, buf []T) error {
	return f.begin(call.FileReadOrderedBegin, file.Read, file.Shared, fileData(f, buf))
}

// ReadOrderedBegin is the function ReadOrderedBegin for a Buffer.
//
// C: MPI_File_read_ordered_begin, section 14.4.5.
func (f *File) ReadOrderedBegin(b Buffer) error {
	return f.begin(call.FileReadOrderedBegin, file.Read, file.Shared, b.fileTarget())
}

// ReadOrderedEnd waits for the access that ReadOrderedBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_read_ordered_end, section 14.4.5.
func (f *File) ReadOrderedEnd() (Status, error) {
	return f.end(call.FileReadOrderedEnd, call.FileReadOrderedBegin)
}

// WriteAtAllBegin begins a WriteAtAll, which WriteAtAllEnd ends. The program must not change buf
// until then. Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_write_at_all_begin, section 14.4.5.
func WriteAtAllBegin[T any](f *File, offset int64, buf []T) error {
	return f.begin(call.FileWriteAtAllBegin, file.Write, file.At(offset), fileData(f, buf))
}

// WriteAtAllBegin is the function WriteAtAllBegin for a Buffer.
//
// C: MPI_File_write_at_all_begin, section 14.4.5.
func (f *File) WriteAtAllBegin(offset int64, b Buffer) error {
	return f.begin(call.FileWriteAtAllBegin, file.Write, file.At(offset), b.fileSource())
}

// WriteAtAllEnd waits for the access that WriteAtAllBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_write_at_all_end, section 14.4.5.
func (f *File) WriteAtAllEnd() (Status, error) {
	return f.end(call.FileWriteAtAllEnd, call.FileWriteAtAllBegin)
}

// WriteAllBegin begins a WriteAll, which WriteAllEnd ends. The program must not change buf until
// then. Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_write_all_begin, section 14.4.5.
func WriteAllBegin[T any](f *File, buf []T) error {
	return f.begin(call.FileWriteAllBegin, file.Write, file.Individual, fileData(f, buf))
}

// WriteAllBegin is the function WriteAllBegin for a Buffer.
//
// C: MPI_File_write_all_begin, section 14.4.5.
func (f *File) WriteAllBegin(b Buffer) error {
	return f.begin(call.FileWriteAllBegin, file.Write, file.Individual, b.fileSource())
}

// WriteAllEnd waits for the access that WriteAllBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_write_all_end, section 14.4.5.
func (f *File) WriteAllEnd() (Status, error) {
	return f.end(call.FileWriteAllEnd, call.FileWriteAllBegin)
}

// WriteOrderedBegin begins a WriteOrdered, which WriteOrderedEnd ends. The program must not change
// buf until then. Between the two calls no other collective access of the file is allowed.
//
// C: MPI_File_write_ordered_begin, section 14.4.5.
func WriteOrderedBegin[T any](f *File, buf []T) error {
	return f.begin(call.FileWriteOrderedBegin, file.Write, file.Shared, fileData(f, buf))
}

// WriteOrderedBegin is the function WriteOrderedBegin for a Buffer.
//
// C: MPI_File_write_ordered_begin, section 14.4.5.
func (f *File) WriteOrderedBegin(b Buffer) error {
	return f.begin(call.FileWriteOrderedBegin, file.Write, file.Shared, b.fileSource())
}

// WriteOrderedEnd waits for the access that WriteOrderedBegin has begun. ErrRequest if that is not what has
// been begun last.
//
// C: MPI_File_write_ordered_end, section 14.4.5.
func (f *File) WriteOrderedEnd() (Status, error) {
	return f.end(call.FileWriteOrderedEnd, call.FileWriteOrderedBegin)
}
