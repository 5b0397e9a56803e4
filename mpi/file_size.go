package mpi

import "github.com/halo-mpi/halo/internal/call"

// Path is the path of the file, without a prefix that names a file system.
//
// C: none; the argument filename of MPI_File_open.
func (f *File) Path() string { return f.f.Path() }

// Mode is the mode that the file was opened with.
//
// C: MPI_File_get_amode, section 14.2.7.
func (f *File) Mode() FileMode { return FileMode(f.f.Mode()) }

// Group is the group of the members, which is that of the communicator that the file was opened on.
//
// C: MPI_File_get_group, section 14.2.7.
func (f *File) Group() (Group, error) {
	if err := f.usable(call.FileGetGroup); err != nil {
		return Group{}, err
	}
	return f.c.group(f.c.core.Members), nil
}

// Size is the size of the file in bytes.
//
// C: MPI_File_get_size, section 14.2.6.
func (f *File) Size() (int64, error) {
	if err := f.usable(call.FileGetSize); err != nil {
		return 0, err
	}
	n, err := f.f.Size()
	return n, f.done(err, call.FileGetSize)
}

// SetSize cuts the file to, or extends it with zeros to, a size in bytes, which all members pass.
// File pointers do not move. Collective over the file.
//
// C: MPI_File_set_size, section 14.2.4.
func (f *File) SetSize(size int64) error {
	if err := f.usable(call.FileSetSize); err != nil {
		return err
	}
	return f.done(f.f.SetSize(size), call.FileSetSize)
}

// Preallocate makes sure that the first size bytes have room on the disk, and that the file is at
// least as long. All members pass the same size. ErrNoSpace if there is not enough. Collective over
// the file.
//
// C: MPI_File_preallocate, section 14.2.5.
func (f *File) Preallocate(size int64) error {
	if err := f.usable(call.FilePreallocate); err != nil {
		return err
	}
	return f.done(f.f.Preallocate(size), call.FilePreallocate)
}

// Sync returns when everything that members have written is on the disk, so that it survives the end
// of the operating system. What others have written before their Sync, a member sees after its own.
// Collective over the file.
//
// C: MPI_File_sync, section 14.6.1.
func (f *File) Sync() error {
	if err := f.usable(call.FileSync); err != nil {
		return err
	}
	return f.done(f.f.Sync(), call.FileSync)
}

// SetAtomicity sets atomic mode, or ends it: accesses that overlap, of members of this file, have the
// result of some order of them. Halo locks the bytes from the first to the last one of an access, in memory on one
// node, and on several nodes by the file system: ErrUnsupportedOperation or ErrIO if that has no locks. All members pass the same value. Collective over the file.
//
// C: MPI_File_set_atomicity, section 14.6.1.
func (f *File) SetAtomicity(on bool) error {
	if err := f.usable(call.FileSetAtomicity); err != nil {
		return err
	}
	return f.done(f.f.SetAtomicity(on), call.FileSetAtomicity)
}

// Atomicity reports whether the file is in atomic mode.
//
// C: MPI_File_get_atomicity, section 14.6.1.
func (f *File) Atomicity() (bool, error) {
	if err := f.usable(call.FileGetAtomicity); err != nil {
		return false, err
	}
	return f.f.Atomicity(), nil
}
