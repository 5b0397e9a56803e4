package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/file"
)

// What Seek is relative to: the beginning of the view, the file pointer, or the end of the file.
//
// C: MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END, section 14.4.3.
const (
	SeekCur = file.SeekCur
	SeekEnd = file.SeekEnd
	SeekSet = file.SeekSet
)

// Seek moves the individual file pointer by an offset, in elementary types, from what whence says, and
// returns the new offset from the beginning of the view. The end of the file is the first elementary
// type of the view behind its last byte. ErrArg if the pointer would be before the beginning.
//
// C: MPI_File_seek, section 14.4.3.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if err := f.usable(call.FileSeek); err != nil {
		return 0, err
	}
	at, err := f.f.Seek(offset, whence)
	return at, f.done(err, call.FileSeek)
}

// Position is the individual file pointer, in elementary types from the beginning of the view.
//
// C: MPI_File_get_position, section 14.4.3.
func (f *File) Position() (int64, error) {
	if err := f.usable(call.FileGetPosition); err != nil {
		return 0, err
	}
	at, err := f.f.Position()
	return at, f.done(err, call.FileGetPosition)
}

// ByteOffset is the number of the byte in the file at an offset in the view, which is in elementary
// types.
//
// C: MPI_File_get_byte_offset, section 14.4.3.
func (f *File) ByteOffset(offset int64) (int64, error) {
	if err := f.usable(call.FileGetByteOffset); err != nil {
		return 0, err
	}
	at, err := f.f.ByteOffset(offset)
	return at, f.done(err, call.FileGetByteOffset)
}

// SeekShared is Seek of the shared file pointer. All members pass the same arguments. Collective over
// the file.
//
// C: MPI_File_seek_shared, section 14.4.4.
func (f *File) SeekShared(offset int64, whence int) (int64, error) {
	if err := f.usable(call.FileSeekShared); err != nil {
		return 0, err
	}
	at, err := f.f.SeekShared(offset, whence)
	return at, f.done(err, call.FileSeekShared)
}

// PositionShared is the shared file pointer, in elementary types from the beginning of the view.
//
// C: MPI_File_get_position_shared, section 14.4.4.
func (f *File) PositionShared() (int64, error) {
	if err := f.usable(call.FileGetPositionShared); err != nil {
		return 0, err
	}
	at, err := f.f.PositionShared()
	return at, f.done(err, call.FileGetPositionShared)
}
