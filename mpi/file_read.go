package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// ReadAt reads into buf from an offset, which is in elementary types of the view from its
// beginning. It reads less, and returns no error, where the file ends: the Status tells how much.
//
// C: MPI_File_read_at, section 14.4.2.
func ReadAt[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.access(call.FileReadAt, file.Read, file.At(offset), fileData(f, buf))
}

// IreadAt starts a ReadAt. The program must not access buf until the request is complete.
//
// C: MPI_File_iread_at, section 14.4.2.
func IreadAt[T any](f *File, offset int64, buf []T) Request {
	return f.start(call.FileIreadAt, file.Read, file.At(offset), fileData(f, buf))
}

// ReadAtAll is ReadAt by all members, which may make it faster together. Collective over the file.
//
// C: MPI_File_read_at_all, section 14.4.2.
func ReadAtAll[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.accessAll(call.FileReadAtAll, file.Read, file.At(offset), fileData(f, buf))
}

// IreadAtAll starts a ReadAtAll.
//
// C: MPI_File_iread_at_all, section 14.4.2.
func IreadAtAll[T any](f *File, offset int64, buf []T) Request {
	return f.startAll(call.FileIreadAtAll, file.Read, file.At(offset), fileData(f, buf))
}

// Read reads into buf at the individual file pointer, and moves the pointer behind what it has
// read. It reads less, and returns no error, where the file ends.
//
// C: MPI_File_read, section 14.4.3.
func Read[T any](f *File, buf []T) (Status, error) {
	return f.access(call.FileRead, file.Read, file.Individual, fileData(f, buf))
}

// Iread starts a Read. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iread, section 14.4.3.
func Iread[T any](f *File, buf []T) Request {
	return f.start(call.FileIread, file.Read, file.Individual, fileData(f, buf))
}

// ReadAll is Read by all members. Collective over the file.
//
// C: MPI_File_read_all, section 14.4.3.
func ReadAll[T any](f *File, buf []T) (Status, error) {
	return f.accessAll(call.FileReadAll, file.Read, file.Individual, fileData(f, buf))
}

// IreadAll starts a ReadAll. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iread_all, section 14.4.3.
func IreadAll[T any](f *File, buf []T) Request {
	return f.startAll(call.FileIreadAll, file.Read, file.Individual, fileData(f, buf))
}

// ReadShared reads into buf at the shared file pointer, and moves the pointer by all of buf first,
// so that no two accesses of members overlap. Their order is not defined. All members must have the
// same view.
//
// C: MPI_File_read_shared, section 14.4.4.
func ReadShared[T any](f *File, buf []T) (Status, error) {
	return f.access(call.FileReadShared, file.Read, file.Shared, fileData(f, buf))
}

// IreadShared starts a ReadShared. The shared file pointer has moved when it returns.
//
// C: MPI_File_iread_shared, section 14.4.4.
func IreadShared[T any](f *File, buf []T) Request {
	return f.start(call.FileIreadShared, file.Read, file.Shared, fileData(f, buf))
}

// ReadOrdered is ReadShared by all members in the order of their ranks. Collective over the file.
//
// C: MPI_File_read_ordered, section 14.4.4.
func ReadOrdered[T any](f *File, buf []T) (Status, error) {
	return f.accessAll(call.FileReadOrdered, file.Read, file.Shared, fileData(f, buf))
}
