package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// file returns the file of a handle. Errors go to the default error handler of files.
func (l *Lib) file(h handle, by call.Number) (*mpi.File, error) {
	if f, ok := l.files.get(h); ok {
		return f, nil
	}
	if h == fileNull {
		return nil, l.failFile(nil, mpi.ErrFile, by, "file is MPI_FILE_NULL")
	}
	return nil, l.failFile(nil, mpi.ErrFile, by, "%#x is no file: it was closed, or never was one", h)
}

// addFile returns the handle of a file, MPI_FILE_NULL for nil.
func (l *Lib) addFile(f *mpi.File) handle {
	if f == nil {
		return fileNull
	}
	return l.files.put(f)
}

// failFile raises an error on a file, nil for MPI_FILE_NULL.
func (l *Lib) failFile(f *mpi.File, cl mpi.Class, by call.Number, format string, v ...any) error {
	return l.raiseFile(f, newError(cl, by, format, v...))
}

func (l *Lib) raiseFile(f *mpi.File, e *mpi.Error) error {
	if f != nil {
		return f.CallErrhandler(e)
	}
	if !l.usable() {
		return l.outside(e)
	}
	return engine.RaiseFile(l.base(), e)
}

// fileClose is MPI_File_close. The handle ends with the file, whatever the error.
func (l *Lib) fileClose(a args) error {
	if err := l.need(call.FileClose, a, "fh", 0); err != nil {
		return err
	}
	f, err := l.file(*(*handle)(a.result(0)), call.FileClose)
	if err != nil {
		return err
	}
	err = f.Close()
	if engine.FileClosed(f) {
		a.finish(0, fileNull, l.files.drop)
	}
	return err
}

// only is the error of a call whose other result C does not get.
func only(_ int64, err error) error { return err }

// fileErrhandler is MPI_File_create_errhandler.
func (l *Lib) fileErrhandler(fn uintptr) (mpi.Errhandler, error) {
	if err := l.function(call.FileCreateErrhandler, fn); err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateFileErrhandler(func(f *mpi.File, e *mpi.Error) {
		l.files.lend(f, fileNull, func(h handle) { l.handled(callFile_errhandler_function, fn, h, e) })
	}), nil
}

// setFileErrhandler is MPI_File_set_errhandler. On MPI_FILE_NULL it sets the default error handler of
// files.
func (l *Lib) setFileErrhandler(a args) error {
	var f *mpi.File
	var err error
	if a.word(0) != fileNull {
		f, err = l.file(a.word(0), call.FileSetErrhandler)
		if err != nil {
			return err
		}
	}
	h, ok := l.errhandlerOf(a.word(1))
	switch {
	case !ok:
		return l.failFile(f, mpi.ErrErrhandler, call.FileSetErrhandler, noErrhandler, a.word(1))
	case f == nil:
		return mpi.SetDefaultFileErrhandler(h)
	}
	return f.SetErrhandler(h)
}

// getFileErrhandler is MPI_File_get_errhandler. MPI_FILE_NULL has the default error handler of files.
func (l *Lib) getFileErrhandler(a args) (mpi.Errhandler, error) {
	if a.word(0) == fileNull {
		return mpi.DefaultFileErrhandler(), nil
	}
	f, err := l.file(a.word(0), call.FileGetErrhandler)
	if err != nil {
		return mpi.Errhandler{}, err
	}
	return f.Errhandler()
}

// callFileErrhandler is MPI_File_call_errhandler. The call succeeds whatever the handler gets.
func (l *Lib) callFileErrhandler(a args) error {
	code := a.int(1)
	if a.word(0) == fileNull {
		l.failFile(nil, mpi.Class(code), call.FileCallErrhandler, "%s", mpi.ErrorString(mpi.Class(code)))
		return nil
	}
	f, err := l.file(a.word(0), call.FileCallErrhandler)
	if err != nil {
		return err
	}
	f.CallErrhandler(mpi.Class(code))
	return nil
}
