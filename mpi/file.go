package mpi

import (
	"os"
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// File is a file that the members of a communicator have opened together. Copies of the pointer
// refer to the same file.
//
// Each member has a view of the file: which of its elements the member sees, one after the other
// (SetView). Offsets and file pointers count elements of the view. Accesses are independent or,
// with All in the name, collective; they take an explicit offset (At), or move the individual file
// pointer, or the shared one.
//
// What one member writes, others see when all have called Sync with a Barrier in between, or at
// once in atomic mode (SetAtomicity). Two accesses to the same bytes at the same time, of which
// one writes, have an undefined result outside of atomic mode.
//
// Stream gives the readers and writers of package io.
//
// C: MPI_File, section 14.1.
type File struct {
	f *file.File
	// c stands for the file in code that handles communicators: requests, errors and error
	// handlers. No messages are sent on it.
	c *Comm
}

// FileMode says how a file is opened: the sum of one of ModeReadOnly, ModeReadWrite and
// ModeWriteOnly, and any of the others.
//
// C: MPI_MODE_RDONLY and so on, section 14.2.1.
type FileMode int

// The modes. ModeCreate creates the file if it does not exist, with ModeExcl only if it does not.
// ModeAppend sets all file pointers to the end of the file. ModeDeleteOnClose deletes it when it is
// closed. ModeUniqueOpen asserts that nobody else opens it meanwhile. A file with ModeSequential is
// accessed at the shared file pointer only.
//
// C: MPI_MODE_RDONLY and so on, section 14.2.1.
const (
	ModeAppend        FileMode = 1
	ModeCreate        FileMode = 2
	ModeDeleteOnClose FileMode = 4
	ModeExcl          FileMode = 8
	ModeReadOnly      FileMode = 16
	ModeReadWrite     FileMode = 32
	ModeSequential    FileMode = 64
	ModeUniqueOpen    FileMode = 128
	ModeWriteOnly     FileMode = 256
)

// String is the names of the modes that m is the sum of.
//
// C: none; for messages.
func (m FileMode) String() string { return file.Mode(m).String() }

// OpenFile opens the file of a path. All members pass the same mode, and paths of the same file. The
// view is that of bytes. A path may begin with the name of a file system, such as "ufs:" or "nfs:",
// which is ignored.
//
// If one member fails, all fail: ErrAmode for a mode that makes no sense, ErrNotSame if modes or
// files differ, ErrNoSuchFile, ErrFileExists, ErrAccess, ErrReadOnly and others of the system.
// Errors go to the default error handler of files. Collective over c.
//
// C: MPI_File_open, section 14.2.1.
func OpenFile(c *Comm, path string, mode FileMode, hints ...FileHint) (*File, error) {
	const k = call.FileOpen
	if err := c.usable(k); err != nil {
		return nil, err
	}
	checkKeys(c, k, hints...)
	if err := c.intra(k); err != nil {
		return nil, err
	}
	o := fileOptions{Hints: file.DefaultHints()}
	if i := hintsOfEnvironment(); i != nil {
		i.fileHint(&o)
	}
	o.with(hints)
	defer c.core.Begin(k)()
	e, err := c.w.File.Open(c.core, path, file.Mode(mode), types().Type(dtype.Byte), o.Hints, nil)
	if err != nil {
		return nil, noFile(c).wrong(err, k, path)
	}
	if os.Getenv(envVerbose) == "1" {
		e.Report(verbosely)
	}
	f := &File{f: e, c: standsForFile(c, e.Path())}
	f.c.file = f
	f.c.asserted.set(o.kinds, f.c.self.kinds)
	f.enter()
	return f, nil
}

// standsForFile makes the communicator that stands for a file.
func standsForFile(c *Comm, path string) *Comm {
	n := &Comm{w: c.w, core: c.core.Unnamed(), self: c.self}
	n.core.Name.Store(&path)
	n.handler.Store(defaultFileErrhandler())
	return n
}

// noFile stands for the null file of a process: its error handler is the default one of files.
func noFile(c *Comm) *File { return &File{c: standsForFile(c, "")} }

// enter records a file where that is needed.
func (f *File) enter() {
	if l := f.c.self.left; l != nil {
		l.file(f)
	}
	if s := f.c.self.session; s != nil {
		s.addFile(f)
	}
}

// stillOpen is the error of Finalize of a session, or of the world model, of which a file is open.
func stillOpen(f *File, self *Comm) *Error {
	return newError(ErrPending, call.Finalize, self, "file %s is open: Close it first", f.Path())
}

// wrong is an error of the engine in a call on the file, with the path if the call has one.
func (f *File) wrong(err error, k call.Number, path string) *Error {
	e := describe(err, k, f.c, Undefined, Undefined)
	if path != "" {
		e.Object = path
	}
	return e.raised()
}

// done is the result of a call that the engine has carried out or refused.
func (f *File) done(err error, k call.Number) error {
	if err == nil {
		return nil
	}
	return f.wrong(err, k, "")
}

// usable returns the error of a call on f if f cannot be used, else nil.
func (f *File) usable(k call.Number) *Error {
	switch {
	case f == nil:
		return fail(ErrFile, k, nil, "file is nil")
	case f.c.freed.Load():
		n := noFile(f.c)
		e := newError(ErrFile, k, n.c, "file has been closed")
		e.Object = f.c.Name()
		return e.raised()
	case f.c.w.SlowPath():
		return f.c.usableSlowPath(k)
	}
	return nil
}

// Close closes the file. All accesses must be complete: ErrRequest, and the file remains open, if a split
// collective access has not been ended. It waits until those that do not block have moved their data. With
// ModeDeleteOnClose it also deletes the file. Collective over the file.
//
// What has been written is with the operating system then, and survives the end of all processes; on
// the disk it is after a Sync.
//
// C: MPI_File_close, section 14.2.2.
func (f *File) Close() error {
	if err := f.usable(call.FileClose); err != nil {
		return err
	}
	err := f.f.Close()
	if f.f.Closed() && f.c.freed.CompareAndSwap(false, true) {
		if s := f.c.self.session; s != nil {
			s.removeFile(f)
		}
	}
	return f.done(err, call.FileClose)
}

// DeleteFile deletes the file of a path. It need not be closed by all. ErrNoSuchFile if there is none.
// Errors go to the default error handler of files.
//
// C: MPI_File_delete, section 14.2.3.
func DeleteFile(c *Comm, path string, hints ...FileHint) error {
	if err := c.usable(call.FileDelete); err != nil {
		return err
	}
	checkKeys(c, call.FileDelete, hints...)
	if err := file.Delete(path); err != nil {
		return noFile(c).wrong(err, call.FileDelete, path)
	}
	return nil
}

// access carries out an access that does not depend on others.
func (f *File) access(k call.Number, d file.Direction, offset int64, x file.Data) (Status, error) {
	if err := f.usable(k); err != nil {
		return emptyStatus(), err
	}
	n, err := f.f.Do(d, offset, f.checked(x))
	return f.status(k, n, err)
}

// status is the status of an access of n bytes.
func (f *File) status(k call.Number, n int64, err error) (Status, error) {
	st := emptyStatus()
	st.bytes = n
	if err != nil {
		return st, f.wrong(err, k, "")
	}
	return st, nil
}

// start starts an access that does not depend on others.
func (f *File) start(k call.Number, d file.Direction, offset int64, x file.Data) Request {
	if err := f.usable(k); err != nil {
		return Request{err: err}
	}
	r, err := f.f.Start(d, offset, f.checked(x), k)
	return f.request(k, r, err)
}

// request is the request of an access that has been started.
func (f *File) request(k call.Number, r *p2p.Request, err error) Request {
	if err != nil {
		return Request{err: f.wrong(err, k, "")}
	}
	return watched(newRequest(k, f.c, r))
}

// fileData is the memory of a slice of plain data, with the type of its elements if the view of f, which
// may be nil, needs it.
func fileData[T any](f *File, buf []T) file.Data {
	if !isNumber[T]() {
		b := Buf(buf)
		return b.fileSource()
	}
	x := file.Data{Mem: mem.Of(memory(buf))}
	switch {
	case f == nil:
	case f.c.checks():
		x.Type = checkedType(reflect.TypeFor[T]())
	case f.f.Converts():
		x.Type, _ = golang[T]() // numbers have a type
	}
	return x
}

// fileSource is the memory of a Buffer.
func (b *Buffer) fileSource() file.Data {
	if b.err != nil {
		return file.Data{Mem: mem.Wrong(b.err)}
	}
	return file.Data{Mem: mem.In(&b.b), Type: b.b.Type()}
}

// fileTarget is the memory of a Buffer to read into, in which no byte may occur twice.
func (b *Buffer) fileTarget() file.Data {
	m, _ := b.received(nil)
	return file.Data{Mem: m, Type: b.b.Type()}
}

// accessAll carries out a collective access.
func (f *File) accessAll(k call.Number, d file.Direction, offset int64, x file.Data) (Status, error) {
	if err := f.usable(k); err != nil {
		return emptyStatus(), err
	}
	n, err := f.f.DoAll(d, offset, f.checked(x), k)
	return f.status(k, n, err)
}

// startAll starts a collective access.
func (f *File) startAll(k call.Number, d file.Direction, offset int64, x file.Data) Request {
	if err := f.usable(k); err != nil {
		return Request{err: err}
	}
	r, err := f.f.StartAll(d, offset, f.checked(x), k)
	return f.request(k, r, err)
}

// begin begins a split collective access.
func (f *File) begin(k call.Number, d file.Direction, offset int64, x file.Data) error {
	if err := f.usable(k); err != nil {
		return err
	}
	return f.done(f.f.Begin(d, offset, f.checked(x), k), k)
}

// end ends the split collective access that the call begun has begun.
func (f *File) end(k, begun call.Number) (Status, error) {
	if err := f.usable(k); err != nil {
		return emptyStatus(), err
	}
	n, err := f.f.End(begun, k)
	return f.status(k, n, err)
}

// WrapFiles has files that the process of c opens from now on use what wrap returns: a layer of a test below
// all accesses.
func (internals) WrapFiles(c *Comm, wrap func(file.Store) file.Store) { c.w.File.Wrap(wrap) }
