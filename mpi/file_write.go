package mpi

import "github.com/halo-mpi/halo/internal/file"

// WriteAt writes buf at an offset, which is in elementary types of the view from its beginning. A
// write beyond the end of the file makes it longer.
//
// C: MPI_File_write_at, section 14.4.2.
func WriteAt[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.access(callWriteAt, file.Write, offset, fileData(buf))
}

// IwriteAt starts a WriteAt. The program must not change buf until the request is complete.
//
// C: MPI_File_iwrite_at, section 14.4.2.
func IwriteAt[T any](f *File, offset int64, buf []T) Request {
	return f.start(callIwriteAt, file.Write, offset, fileData(buf))
}

// Write writes buf at the individual file pointer, and moves the pointer behind what it has
// written.
//
// C: MPI_File_write, section 14.4.3.
func Write[T any](f *File, buf []T) (Status, error) {
	return f.access(callWrite, file.Write, file.Individual, fileData(buf))
}

// Iwrite starts a Write. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iwrite, section 14.4.3.
func Iwrite[T any](f *File, buf []T) Request {
	return f.start(callIwrite, file.Write, file.Individual, fileData(buf))
}
