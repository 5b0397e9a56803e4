package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// WriteAt is the function WriteAt for a Buffer.
//
// C: MPI_File_write_at, section 14.4.2.
func (f *File) WriteAt(offset int64, b Buffer) (Status, error) {
	return f.access(call.FileWriteAt, file.Write, file.At(offset), b.fileSource())
}

// IwriteAt is the function IwriteAt for a Buffer.
//
// C: MPI_File_iwrite_at, section 14.4.2.
func (f *File) IwriteAt(offset int64, b Buffer) Request {
	return f.start(call.FileIwriteAt, file.Write, file.At(offset), b.fileSource())
}

// WriteAtAll is the function WriteAtAll for a Buffer.
//
// C: MPI_File_write_at_all, section 14.4.2.
func (f *File) WriteAtAll(offset int64, b Buffer) (Status, error) {
	return f.accessAll(call.FileWriteAtAll, file.Write, file.At(offset), b.fileSource())
}

// IwriteAtAll is the function IwriteAtAll for a Buffer.
//
// C: MPI_File_iwrite_at_all, section 14.4.2.
func (f *File) IwriteAtAll(offset int64, b Buffer) Request {
	return f.startAll(call.FileIwriteAtAll, file.Write, file.At(offset), b.fileSource())
}

// Write is the function Write for a Buffer.
//
// C: MPI_File_write, section 14.4.3.
func (f *File) Write(b Buffer) (Status, error) {
	return f.access(call.FileWrite, file.Write, file.Individual, b.fileSource())
}

// Iwrite is the function Iwrite for a Buffer.
//
// C: MPI_File_iwrite, section 14.4.3.
func (f *File) Iwrite(b Buffer) Request {
	return f.start(call.FileIwrite, file.Write, file.Individual, b.fileSource())
}

// WriteAll is the function WriteAll for a Buffer.
//
// C: MPI_File_write_all, section 14.4.3.
func (f *File) WriteAll(b Buffer) (Status, error) {
	return f.accessAll(call.FileWriteAll, file.Write, file.Individual, b.fileSource())
}

// IwriteAll is the function IwriteAll for a Buffer.
//
// C: MPI_File_iwrite_all, section 14.4.3.
func (f *File) IwriteAll(b Buffer) Request {
	return f.startAll(call.FileIwriteAll, file.Write, file.Individual, b.fileSource())
}

// WriteShared is the function WriteShared for a Buffer.
//
// C: MPI_File_write_shared, section 14.4.4.
func (f *File) WriteShared(b Buffer) (Status, error) {
	return f.access(call.FileWriteShared, file.Write, file.Shared, b.fileSource())
}

// IwriteShared is the function IwriteShared for a Buffer.
//
// C: MPI_File_iwrite_shared, section 14.4.4.
func (f *File) IwriteShared(b Buffer) Request {
	return f.start(call.FileIwriteShared, file.Write, file.Shared, b.fileSource())
}

// WriteOrdered is the function WriteOrdered for a Buffer.
//
// C: MPI_File_write_ordered, section 14.4.4.
func (f *File) WriteOrdered(b Buffer) (Status, error) {
	return f.accessAll(call.FileWriteOrdered, file.Write, file.Shared, b.fileSource())
}
