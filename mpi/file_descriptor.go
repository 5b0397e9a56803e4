package mpi

// FileDescriptor is the address of a file's record outside of the Go heap. It exists for bindings for other
// languages, whose compiled code then makes the shortest accesses itself: see Layouts. The address is valid
// until the file is closed, as long as the File is reachable. It is 0 in checking mode, and for a file that
// has been closed.
//
// C: none; MPI_File_write_at and MPI_File_read_at look at it.
func (internals) FileDescriptor(f *File) uintptr {
	if f.c.w.SlowPath() || f.c.freed.Load() {
		return 0
	}
	return f.f.Descriptor()
}
