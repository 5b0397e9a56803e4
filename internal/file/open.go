package file

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// File is a file that the members of a communicator have opened together, in one of them.
//
// All methods may be called by several goroutines. Collective ones follow the rules of collectives:
// all members call them in the same order.
type File struct {
	e     *Engine
	c     *comm.Comm // a duplicate, for the collectives of the file only (IO-18)
	path  string
	mode  Mode
	store store
	hints atomic.Pointer[Hints] // never nil; an access has those of its call
	bytes *dtype.Type           // MPI_BYTE
	limit int64                 // on the size of files that the process writes, 0: none

	view    atomic.Pointer[View]
	pointer pointer   // the individual file pointer
	shared  window    // with the shared file pointer
	stage   stage     // of collective accesses in two phases
	trials  trialsOf  // of the ways of collective accesses
	queue   callQueue // of collective accesses that do not block
	pending pending   // accesses of workers
	split   split
	atomic  atomicity
	closed  atomic.Bool
	record  atomic.Pointer[shmfmt.File] // for C; nil if C does not know the file
	report  *report                     // nil unless the job is verbose
}

// pointer is a file pointer: a position in the view. An access that moves it holds the lock, so that
// accesses of several goroutines take one position after the other.
type pointer struct {
	mu sync.Mutex
	at int64
}

// filesystems are the prefixes of file names that other implementations know. The kernel finds the
// file system by the path alone.
func filesystems() []string {
	return []string{"ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "testfs:"}
}

// trimmed is a file name without the prefix that names a file system.
func trimmed(name string) string {
	for _, prefix := range filesystems() {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// Open opens a file: collective over c. bytes is the type MPI_BYTE, of the first view. If one member
// fails, all do, and no member has the file open. own is the error in the arguments of this member.
// It takes the lock.
//
// Rank 0 creates the file, so that with Excl one member does; the others open what exists then. All
// compare what they have opened.
//
// Cost: a duplicate of the communicator and three allgathers of 256 bytes, on several hosts one more of 16, and a
// window of 8 bytes.
func (e *Engine) Open(c *comm.Comm, name string, mode Mode, bytes *dtype.Type, h Hints, own error) (*File, error) {
	d, err := e.colls.Dup(c)
	if err != nil {
		return nil, err
	}
	d.Join(c)
	defer d.Leave()
	f := &File{e: e, c: d, path: trimmed(name), mode: mode, bytes: bytes}
	f.queue.empty.L, f.pending.none.L = &f.queue.mu, &f.pending.mu
	f.hints.Store(&h)
	if n, ok := sys.LimitOfSize(); ok {
		f.limit = int64(n)
	}
	err = f.open(bytes, own)
	if err == nil {
		err = f.openShared()
	}
	if err != nil {
		if f.store != nil {
			f.store.Close()
		}
		e.colls.Free(d)
		return nil, err
	}
	e.open.Add(1)
	return f, nil
}

func (f *File) open(bytes *dtype.Type, own error) error {
	const by = call.FileOpen
	if own == nil {
		own = f.mode.check()
	}
	if own == nil && f.path == "" {
		own = class.Errorf(class.BadFile, "file name is empty")
	}
	if err := f.e.agree(f.c, by, "access mode "+f.mode.String(), own); err != nil {
		return err
	}
	if f.c.Rank == 0 {
		own = f.openHere(true)
	}
	if err := f.e.agree(f.c, by, "", own); err != nil {
		return err
	}
	if f.c.Rank != 0 {
		own = f.openHere(planted.EveryoneCreates)
	}
	v, err := newView(0, bytes, bytes, Native, true, bytes, nil)
	if err != nil {
		return err
	}
	f.view.Store(v)
	if own == nil && f.mode.has(Append) {
		own = f.toEnd(v)
	}
	which := ""
	if own == nil {
		which, own = f.identity()
	}
	if err := f.e.agree(f.c, by, which, own); err != nil || !f.far() || planted.BirthIgnored {
		return err
	}
	return f.sameBirth(by)
}

// far reports whether members may be on several hosts. All members decide the same: a process knows the hosts of its
// own job only.
func (f *File) far() bool {
	p := f.e.p
	return len(p.Job().Hosts) > 1 || p.Foreign(f.c.Members) >= 0 && !planted.HostsOfTheOwnJob
}

// openHere opens the file in this process.
func (f *File) openHere(creates bool) error {
	s, err := sys.OpenFile(f.path, f.mode.flags(creates), os.FileMode(f.hints.Load().Perm))
	if err != nil {
		return failed(err, "open with %v", f.mode)
	}
	f.store = s
	if h := f.hints.Load(); h.Style != Ordinary {
		f.advise(h)
	}
	if f.e.wrap != nil {
		f.store = f.e.wrap(s)
	}
	return nil
}

// openShared makes the shared pointer.
func (f *File) openShared() error {
	err := f.shared.open(f.e.rma, f.c)
	if err != nil || !f.mode.has(Append) {
		return err
	}
	return f.placeShared(f.pointer.at)
}

// toEnd sets the individual pointer to the end of the file.
func (f *File) toEnd(v *View) error {
	size, err := f.store.Size()
	if err != nil {
		return failed(err, "size")
	}
	f.pointer.at = v.end(size)
	return nil
}

// identity describes which file this process has opened, for comparison with others. Hosts that do
// not share a directory have different files under one name. Devices have other numbers on every
// host.
func (f *File) identity() (string, error) {
	device, number, err := f.store.Identity()
	switch {
	case err != nil:
		return "", failed(err, "identity of the file")
	case f.far():
		return fmt.Sprintf("file number %d under this name", number), nil
	}
	return fmt.Sprintf("file number %d of device %#x under this name", number, device), nil
}

// born is a store that knows when its file was made.
type born interface {
	Birth() (ns int64, ok bool)
}

// sameBirth compares the times at which the files of the members were made, where file systems tell: on hosts
// that do not share a directory, files of one name may have the same number, too. Collective.
func (f *File) sameBirth(by call.Number) error {
	var mine [2]int64
	if s, ok := f.store.(born); ok {
		if ns, ok := s.Birth(); ok {
			mine = [2]int64{1, ns}
		}
	}
	x := &exchange{f: f, call: by}
	told, err := x.allgather(mine[:])
	if err != nil {
		return err
	}
	first := -1
	for r := 0; 2*r < len(told); r++ {
		switch {
		case told[2*r] == 0:
		case first < 0:
			first = r
		case told[2*r+1] != told[2*first+1]:
			at := func(r int) string { return time.Unix(0, told[2*r+1]).UTC().Format(time.RFC3339Nano) }
			return class.Errorf(class.NotSame, "rank %d has a file that was made at %s, rank %d one that was made at %s: their hosts do not share it", first, at(first), r, at(r))
		}
	}
	return nil
}

// firstError is the first error that is not nil.
func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes the file: collective. With DeleteOnClose rank 0 deletes it when all have closed it. It
// takes the lock.
func (f *File) Close() error {
	const by = call.FileClose
	if !f.closed.CompareAndSwap(false, true) {
		return class.Errorf(class.File, "file is closed")
	}
	if f.split.active() {
		f.closed.Store(false)
		return class.Errorf(class.Request, "%s has begun and has not been ended", f.split.call)
	}
	f.queue.wait()
	f.pending.wait()
	f.forget()
	unshared := firstError(f.stage.close(), f.shared.close(by))
	own := f.store.Close()
	if own != nil {
		own = failed(own, "close")
	}
	err := firstError(f.e.agree(f.c, by, "", own), unshared)
	if f.mode.has(DeleteOnClose) && classOf(err) != class.ProcFailed {
		var own error
		if f.c.Rank == 0 {
			own = os.Remove(f.path)
			if own != nil {
				own = failed(own, "delete")
			}
		}
		err = firstError(err, f.e.agree(f.c, by, "", own))
	}
	f.e.colls.Free(f.c)
	f.e.closed()
	return err
}

// Delete deletes a file that is not open (MPI_FILE_DELETE).
func Delete(name string) error {
	path := trimmed(name)
	if path == "" {
		return class.Errorf(class.BadFile, "file name is empty")
	}
	if err := os.Remove(path); err != nil {
		return failed(err, "delete")
	}
	return nil
}
