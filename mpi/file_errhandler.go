package mpi

import "github.com/halo-mpi/halo/internal/call"

// CreateFileErrhandler makes an error handler for files. fn gets the file, nil for errors of calls
// that were to open one, and the error that the call will return. A nil fn gives the null handler.
//
// C: MPI_File_create_errhandler, section 9.3.3.
func CreateFileErrhandler(fn func(f *File, err *Error)) Errhandler {
	if fn == nil {
		return Errhandler{}
	}
	return Errhandler{&errhandler{"user-defined", func(c *Comm, err *Error) { fn(c.file, err) }, aFile}}
}

// SetErrhandler sets the error handler of the file in this process. A new file has the default error
// handler of files. ErrErrhandler if h is null or was made for other objects.
//
// C: MPI_File_set_errhandler, section 9.3.3.
func (f *File) SetErrhandler(h Errhandler) error {
	if err := f.usable(call.FileSetErrhandler); err != nil {
		return err
	}
	return f.c.setErrhandler(call.FileSetErrhandler, h, aFile)
}

// Errhandler is the file's error handler.
//
// C: MPI_File_get_errhandler, section 9.3.3.
func (f *File) Errhandler() (Errhandler, error) {
	if err := f.usable(call.FileGetErrhandler); err != nil {
		return Errhandler{}, err
	}
	return Errhandler{f.c.handler.Load()}, nil
}

// CallErrhandler calls the file's error handler with err and returns err as an *Error about f: see
// Comm.CallErrhandler.
//
// C: MPI_File_call_errhandler, section 9.5.
func (f *File) CallErrhandler(err error) error {
	if e := f.usable(call.FileCallErrhandler); e != nil {
		return e
	}
	return f.c.callErrhandler(call.FileCallErrhandler, err)
}

// SetDefaultFileErrhandler sets the default error handler of files of this process, which may be done
// before Init: files that are opened from now on get it, and it gets the errors of calls that open or
// delete files. Before that it is ErrorsReturn, whatever the initial error handler of communicators.
// ErrErrhandler if h is null or was made for other objects.
//
// C: MPI_File_set_errhandler, section 14.7.
func SetDefaultFileErrhandler(h Errhandler) error {
	if err := h.fits(call.FileSetErrhandler, aFile); err != nil {
		return err.raised()
	}
	current.files.Store(h.h)
	return nil
}

// DefaultFileErrhandler is the default error handler of files.
//
// C: MPI_File_get_errhandler, section 14.7.
func DefaultFileErrhandler() Errhandler { return Errhandler{defaultFileErrhandler()} }

func defaultFileErrhandler() *errhandler {
	if h := current.files.Load(); h != nil {
		return h
	}
	return ErrorsReturn.h
}

// RaiseFile raises an error on no file: it calls the default error handler of files.
//
// C: none; for bindings, whose calls get handles that are no files.
func (internals) RaiseFile(c *Comm, e *Error) error {
	e.comm = noFile(c).c
	return e.raised()
}

// FileClosed reports whether the file has been closed in this process.
//
// C: none; for bindings, whose handle ends then.
func (internals) FileClosed(f *File) bool { return f.f.Closed() }
