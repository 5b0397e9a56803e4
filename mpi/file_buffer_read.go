package mpi

import "github.com/halo-mpi/halo/internal/file"

// ReadAt is the function ReadAt for a Buffer.
//
// C: MPI_File_read_at, section 14.4.2.
func (f *File) ReadAt(offset int64, b Buffer) (Status, error) {
	return f.access(callReadAt, file.Read, offset, b.fileTarget())
}

// IreadAt is the function IreadAt for a Buffer.
//
// C: MPI_File_iread_at, section 14.4.2.
func (f *File) IreadAt(offset int64, b Buffer) Request {
	return f.start(callIreadAt, file.Read, offset, b.fileTarget())
}

// Read is the function Read for a Buffer.
//
// C: MPI_File_read, section 14.4.3.
func (f *File) Read(b Buffer) (Status, error) {
	return f.access(callRead, file.Read, file.Individual, b.fileTarget())
}

// Iread is the function Iread for a Buffer.
//
// C: MPI_File_iread, section 14.4.3.
func (f *File) Iread(b Buffer) Request {
	return f.start(callIread, file.Read, file.Individual, b.fileTarget())
}
