package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// ReadAt is the function ReadAt for a Buffer.
//
// C: MPI_File_read_at, section 14.4.2.
func (f *File) ReadAt(offset int64, b Buffer) (Status, error) {
	return f.access(call.FileReadAt, file.Read, file.At(offset), b.fileTarget())
}

// IreadAt is the function IreadAt for a Buffer.
//
// C: MPI_File_iread_at, section 14.4.2.
func (f *File) IreadAt(offset int64, b Buffer) Request {
	return f.start(call.FileIreadAt, file.Read, file.At(offset), b.fileTarget())
}

// ReadAtAll is the function ReadAtAll for a Buffer.
//
// C: MPI_File_read_at_all, section 14.4.2.
func (f *File) ReadAtAll(offset int64, b Buffer) (Status, error) {
	return f.accessAll(call.FileReadAtAll, file.Read, file.At(offset), b.fileTarget())
}

// IreadAtAll is the function IreadAtAll for a Buffer.
//
// C: MPI_File_iread_at_all, section 14.4.2.
func (f *File) IreadAtAll(offset int64, b Buffer) Request {
	return f.startAll(call.FileIreadAtAll, file.Read, file.At(offset), b.fileTarget())
}

// Read is the function Read for a Buffer.
//
// C: MPI_File_read, section 14.4.3.
func (f *File) Read(b Buffer) (Status, error) {
	return f.access(call.FileRead, file.Read, file.Individual, b.fileTarget())
}

// Iread is the function Iread for a Buffer.
//
// C: MPI_File_iread, section 14.4.3.
func (f *File) Iread(b Buffer) Request {
	return f.start(call.FileIread, file.Read, file.Individual, b.fileTarget())
}

// ReadAll is the function ReadAll for a Buffer.
//
// C: MPI_File_read_all, section 14.4.3.
func (f *File) ReadAll(b Buffer) (Status, error) {
	return f.accessAll(call.FileReadAll, file.Read, file.Individual, b.fileTarget())
}

// IreadAll is the function IreadAll for a Buffer.
//
// C: MPI_File_iread_all, section 14.4.3.
func (f *File) IreadAll(b Buffer) Request {
	return f.startAll(call.FileIreadAll, file.Read, file.Individual, b.fileTarget())
}

// ReadShared is the function ReadShared for a Buffer.
//
// C: MPI_File_read_shared, section 14.4.4.
func (f *File) ReadShared(b Buffer) (Status, error) {
	return f.access(call.FileReadShared, file.Read, file.Shared, b.fileTarget())
}

// IreadShared is the function IreadShared for a Buffer.
//
// C: MPI_File_iread_shared, section 14.4.4.
func (f *File) IreadShared(b Buffer) Request {
	return f.start(call.FileIreadShared, file.Read, file.Shared, b.fileTarget())
}

// ReadOrdered is the function ReadOrdered for a Buffer.
//
// C: MPI_File_read_ordered, section 14.4.4.
func (f *File) ReadOrdered(b Buffer) (Status, error) {
	return f.accessAll(call.FileReadOrdered, file.Read, file.Shared, b.fileTarget())
}
