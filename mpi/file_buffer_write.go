package mpi

import "github.com/halo-mpi/halo/internal/file"

// WriteAt is the function WriteAt for a Buffer.
//
// C: MPI_File_write_at, section 14.4.2.
func (f *File) WriteAt(offset int64, b Buffer) (Status, error) {
	return f.access(callWriteAt, file.Write, offset, b.fileSource())
}

// IwriteAt is the function IwriteAt for a Buffer.
//
// C: MPI_File_iwrite_at, section 14.4.2.
func (f *File) IwriteAt(offset int64, b Buffer) Request {
	return f.start(callIwriteAt, file.Write, offset, b.fileSource())
}

// Write is the function Write for a Buffer.
//
// C: MPI_File_write, section 14.4.3.
func (f *File) Write(b Buffer) (Status, error) {
	return f.access(callWrite, file.Write, file.Individual, b.fileSource())
}

// Iwrite is the function Iwrite for a Buffer.
//
// C: MPI_File_iwrite, section 14.4.3.
func (f *File) Iwrite(b Buffer) Request {
	return f.start(callIwrite, file.Write, file.Individual, b.fileSource())
}
