package mpi

import (
	"io"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
)

// Stream is the view of a file as package io knows files, so that encoders and decoders of the
// standard library work on it: it is an io.Reader, io.Writer and io.Seeker at the individual file
// pointer, and an io.ReaderAt and io.WriterAt. Its offsets are in bytes of data of the view.
//
// C: none; MPI_File_read and the like, section 14.4.
type Stream struct{ f *File }

// Stream returns the Stream of the file. It needs no closing.
//
// C: none; MPI_File_read and the like, section 14.4.
func (f *File) Stream() Stream { return Stream{f} }

var (
	_ io.ReadWriteSeeker = Stream{}
	_ io.ReaderAt        = Stream{}
	_ io.WriterAt        = Stream{}
)

// Read implements io.Reader.
//
// C: MPI_File_read, section 14.4.3.
func (s Stream) Read(p []byte) (int, error) {
	return s.move(call.FileRead, file.Read, file.Individual, p)
}

// Write implements io.Writer.
//
// C: MPI_File_write, section 14.4.3.
func (s Stream) Write(p []byte) (int, error) {
	return s.move(call.FileWrite, file.Write, file.Individual, p)
}

// ReadAt implements io.ReaderAt.
//
// C: MPI_File_read_at, section 14.4.2.
func (s Stream) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.move(call.FileReadAt, file.Read, file.At(off), p)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteAt implements io.WriterAt.
//
// C: MPI_File_write_at, section 14.4.2.
func (s Stream) WriteAt(p []byte, off int64) (int, error) {
	return s.move(call.FileWriteAt, file.Write, file.At(off), p)
}

func (s Stream) move(k call.Number, d file.Direction, off int64, p []byte) (int, error) {
	if err := s.f.usable(k); err != nil {
		return 0, err
	}
	n, err := s.f.f.DoBytes(d, off, mem.Of(p))
	if err == nil && n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return int(n), s.f.done(err, k)
}

// Seek implements io.Seeker.
//
// C: MPI_File_seek, section 14.4.3.
func (s Stream) Seek(offset int64, whence int) (int64, error) {
	if err := s.f.usable(call.FileSeek); err != nil {
		return 0, err
	}
	w, ok := map[int]int{io.SeekStart: SeekSet, io.SeekCurrent: SeekCur, io.SeekEnd: SeekEnd}[whence]
	if !ok {
		w = whence
	}
	at, err := s.f.f.SeekBytes(offset, w)
	return at, s.f.done(err, call.FileSeek)
}
