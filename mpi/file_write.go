package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// WriteAt writes buf at an offset, which is in elementary types of the view from its beginning. A
// write beyond the end of the file makes it longer.
//
// C: MPI_File_write_at, section 14.4.2.
func WriteAt[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.access(call.FileWriteAt, file.Write, file.At(offset), fileData(f, buf))
}

// IwriteAt starts a WriteAt. The program must not change buf until the request is complete.
//
// C: MPI_File_iwrite_at, section 14.4.2.
func IwriteAt[T any](f *File, offset int64, buf []T) Request {
	return f.start(call.FileIwriteAt, file.Write, file.At(offset), fileData(f, buf))
}

// WriteAtAll is WriteAt by all members, which may make it faster together. Collective over the
// file.
//
// C: MPI_File_write_at_all, section 14.4.2.
func WriteAtAll[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.accessAll(call.FileWriteAtAll, file.Write, file.At(offset), fileData(f, buf))
}

// IwriteAtAll starts a WriteAtAll.
//
// C: MPI_File_iwrite_at_all, section 14.4.2.
func IwriteAtAll[T any](f *File, offset int64, buf []T) Request {
	return f.startAll(call.FileIwriteAtAll, file.Write, file.At(offset), fileData(f, buf))
}

// Write writes buf at the individual file pointer, and moves the pointer behind what it has
// written.
//
// C: MPI_File_write, section 14.4.3.
func Write[T any](f *File, buf []T) (Status, error) {
	return f.access(call.FileWrite, file.Write, file.Individual, fileData(f, buf))
}

// Iwrite starts a Write. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iwrite, section 14.4.3.
func Iwrite[T any](f *File, buf []T) Request {
	return f.start(call.FileIwrite, file.Write, file.Individual, fileData(f, buf))
}

// WriteAll is Write by all members. Collective over the file.
//
// C: MPI_File_write_all, section 14.4.3.
func WriteAll[T any](f *File, buf []T) (Status, error) {
	return f.accessAll(call.FileWriteAll, file.Write, file.Individual, fileData(f, buf))
}

// IwriteAll starts a WriteAll. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iwrite_all, section 14.4.3.
func IwriteAll[T any](f *File, buf []T) Request {
	return f.startAll(call.FileIwriteAll, file.Write, file.Individual, fileData(f, buf))
}

// WriteShared writes buf at the shared file pointer, and moves the pointer by all of buf first, so
// that no two accesses of members overlap. Their order is not defined. All members must have the
// same view.
//
// C: MPI_File_write_shared, section 14.4.4.
func WriteShared[T any](f *File, buf []T) (Status, error) {
	return f.access(call.FileWriteShared, file.Write, file.Shared, fileData(f, buf))
}

// IwriteShared starts a WriteShared. The shared file pointer has moved when it returns.
//
// C: MPI_File_iwrite_shared, section 14.4.4.
func IwriteShared[T any](f *File, buf []T) Request {
	return f.start(call.FileIwriteShared, file.Write, file.Shared, fileData(f, buf))
}

// WriteOrdered is WriteShared by all members in the order of their ranks. Collective over the file.
//
// C: MPI_File_write_ordered, section 14.4.4.
func WriteOrdered[T any](f *File, buf []T) (Status, error) {
	return f.accessAll(call.FileWriteOrdered, file.Write, file.Shared, fileData(f, buf))
}
