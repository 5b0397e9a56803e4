package mpi

import "github.com/halo-mpi/halo/internal/file"

// ReadAt reads into buf from an offset, which is in elementary types of the view from its
// beginning. It reads less, and returns no error, where the file ends: the Status tells how much.
//
// C: MPI_File_read_at, section 14.4.2.
func ReadAt[T any](f *File, offset int64, buf []T) (Status, error) {
	return f.access(callReadAt, file.Read, offset, fileData(buf))
}

// IreadAt starts a ReadAt. The program must not access buf until the request is complete.
//
// C: MPI_File_iread_at, section 14.4.2.
func IreadAt[T any](f *File, offset int64, buf []T) Request {
	return f.start(callIreadAt, file.Read, offset, fileData(buf))
}

// Read reads into buf at the individual file pointer, and moves the pointer behind what it has
// read. It reads less, and returns no error, where the file ends.
//
// C: MPI_File_read, section 14.4.3.
func Read[T any](f *File, buf []T) (Status, error) {
	return f.access(callRead, file.Read, file.Individual, fileData(buf))
}

// Iread starts a Read. The file pointer moves at once, by all of buf.
//
// C: MPI_File_iread, section 14.4.3.
func Iread[T any](f *File, buf []T) Request {
	return f.start(callIread, file.Read, file.Individual, fileData(buf))
}
