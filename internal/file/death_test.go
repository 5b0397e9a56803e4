package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/file/filetest"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// awake panics if a test hangs.
func awake(t *testing.T) (over func()) {
	return testrun.Watch(t.Name() + ": a rank hangs in a call on a file")
}

// fabrics are those of tests with n ranks.
func fabrics() []string { return testrun.Fabrics("inproc", "tcp", "shm") }

var errDies = errors.New("it dies")

// A rank has blocks of the file in turn with the others; the last block of each period belongs to nobody.
const (
	block   = 1000
	periods = 5
	share   = block * periods // bytes that a rank writes
	before  = 0xee            // what the file contains before
)

// interleave sets the view of a rank.
func interleave(w *world.World, f *file.File) error {
	set := dtype.Predefined()
	b := set.Named("MPI_BYTE")
	one, err := dtype.Contiguous(block, b)
	if err != nil {
		return err
	}
	filetype, err := dtype.Resized(one, 0, int64(block*(w.Comm.Size()+1)))
	if err != nil {
		return err
	}
	filetype.Commit()
	v, err := f.NewView(int64(block*w.Comm.Rank), b, filetype, file.Native, nil)
	return f.SetView(v, err)
}

// phased are hints with which collective accesses go through aggregators, in several rounds.
func phased() file.Hints {
	h := file.DefaultHints()
	h.CbBuffer, h.CbRead, h.CbWrite = 4096, file.Enable, file.Enable
	return h
}

// wait waits for a request.
func wait(w *world.World, r *p2p.Request, err error) error {
	if err != nil {
		return err
	}
	w.Proc.Lock()
	defer w.Proc.Unlock()
	w.P2P.Wait(r)
	return w.P2P.Take(r)
}

// fileCall is a call on a file. data is what the rank writes, or room for what it reads.
type fileCall struct {
	name   string
	writes bool // through the view
	whole  bool // all that data has
	alone  bool // the call depends on nobody
	do     func(w *world.World, f *file.File, data file.Data) error
}

// calls are calls of all kinds.
func calls() []fileCall {
	only := func(_ int64, err error) error { return err }
	all := []fileCall{
		{"WriteAt", true, true, true, func(w *world.World, f *file.File, x file.Data) error { return only(f.Do(file.Write, 0, x)) }},
		{"ReadAt", false, false, true, func(w *world.World, f *file.File, x file.Data) error { return only(f.Do(file.Read, 0, x)) }},
		{"Write", true, true, true, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.Do(file.Write, file.Individual, x))
		}},
		{"IwriteAt", true, true, true, func(w *world.World, f *file.File, x file.Data) error {
			r, err := f.Start(file.Write, 0, x, call.FileIwriteAt)
			return wait(w, r, err)
		}},
		{"WriteAtAll", true, true, false, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.DoAll(file.Write, 0, x, call.FileWriteAtAll))
		}},
		{"ReadAtAll", false, false, false, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.DoAll(file.Read, 0, x, call.FileReadAtAll))
		}},
		{"IwriteAtAll", true, true, false, func(w *world.World, f *file.File, x file.Data) error {
			r, err := f.StartAll(file.Write, 0, x, call.FileIwriteAtAll)
			return wait(w, r, err)
		}},
		{"IreadAll", false, false, false, func(w *world.World, f *file.File, x file.Data) error {
			r, err := f.StartAll(file.Read, file.Individual, x, call.FileIreadAll)
			return wait(w, r, err)
		}},
		{"WriteAllBegin", true, true, false, func(w *world.World, f *file.File, x file.Data) error {
			if err := f.Begin(file.Write, file.Individual, x, call.FileWriteAllBegin); err != nil {
				return err
			}
			return only(f.End(call.FileWriteAllBegin, call.FileWriteAllEnd))
		}},
		{"Atomic", true, true, true, func(w *world.World, f *file.File, x file.Data) error {
			if err := f.SetAtomicity(true); err != nil {
				return err
			}
			return only(f.Do(file.Write, 0, x))
		}},
		{"WriteShared", true, false, false, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.Do(file.Write, file.Shared, third(x)))
		}},
		{"WriteOrdered", true, false, false, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.DoAll(file.Write, file.Shared, third(x), call.FileWriteOrdered))
		}},
		{"Sync", false, false, false, func(w *world.World, f *file.File, x file.Data) error { return f.Sync() }},
		{"SetSize", false, false, false, func(w *world.World, f *file.File, x file.Data) error {
			return f.SetSize(int64(block * periods * (w.Comm.Size() + 1)))
		}},
		{"Preallocate", false, false, false, func(w *world.World, f *file.File, x file.Data) error { return f.Preallocate(1 << 10) }},
		{"SetView", false, false, false, func(w *world.World, f *file.File, x file.Data) error { return interleave(w, f) }},
		{"SeekShared", false, false, false, func(w *world.World, f *file.File, x file.Data) error {
			return only(f.SeekShared(0, file.SeekSet))
		}},
		{"Close", false, false, false, func(w *world.World, f *file.File, x file.Data) error { return f.Close() }},
	}
	return all
}

// third is a third of the memory of an access, so that three accesses at the shared pointer stay within the
// views.
func third(x file.Data) file.Data {
	b, _ := x.Bytes()
	return file.Data{Mem: mem.Of(b[:len(b)/3])}
}

// victim is a rank that dies in a call. The others treat it as failed from then on, and its goroutine ends
// where it is, if that is not one of the engine, or else finds that all others have failed.
type victim struct {
	rank  int
	at    int // it dies before this system call in the tested call; -1: before the tested call, anyTime: at any time
	ranks []*world.World

	goroutine uintptr
	file      file.Store
	armed     atomic.Bool
	calls     atomic.Int32
	died      atomic.Bool
}

// anyTime stands for a random time, which may also be before or after the call.
const anyTime = -2

// wrap has the rank die in a system call.
func (v *victim) wrap(w *world.World) {
	v.goroutine = sys.Goroutine()
	f := &filetest.Faults{Before: func(c filetest.Call, _ int64, _ int) error {
		if v.armed.Load() && !v.died.Load() && int(v.calls.Add(1)) == v.at+1 {
			v.dies()
		}
		if v.died.Load() && c != filetest.Close {
			return errDies
		}
		return nil
	}}
	w.File.Wrap(func(s file.Store) file.Store {
		v.file = s
		return f.Wrap(s)
	})
}

// dies ends the rank.
func (v *victim) dies() {
	v.died.Store(true)
	for r, w := range v.ranks {
		if r != v.rank {
			w.Proc.Lose(v.rank, errDies)
			v.ranks[v.rank].Proc.Lose(r, errDies)
		}
	}
	if sys.Goroutine() == v.goroutine {
		v.end() // before others wait for a lock that the kernel has given the rank
		runtime.Goexit()
	}
}

// end closes the file of a rank that has died, as the kernel does.
func (v *victim) end() {
	if v.died.Load() && v.file != nil {
		v.file.Close()
	}
}

// A rank dies in every kind of call, before each system call that it makes: the others return, with or
// without an error, and can close the file; no lock is left; no byte outside of the views changes, of
// the views of those that died some bytes, and what a rank has been told is written is there.
func TestF3_IO02_DeathInEveryCall(t *testing.T) {
	defer awake(t)()
	path := filepath.Join(t.TempDir(), "file")
	list, deaths := fabrics(), 0
	for _, c := range calls() {
		for _, dead := range []int{1, 0} {
			if dead == 0 && c.alone && c.name != "Atomic" {
				break // all ranks are alike
			}
			for at := -1; ; at++ {
				v := &victim{rank: dead, at: at}
				fabric := list[deaths%len(list)]
				if err := dieIn(fabric, c, v, path); err != nil {
					t.Fatalf("over %s: rank %d dies before system call %d of %s: %v", fabric, dead, at, c.name, err)
				}
				if !v.died.Load() {
					break
				}
				deaths++
			}
		}
	}
	if deaths < 70 {
		t.Errorf("only %d deaths", deaths)
	}
}

// The same at random times, so that ranks die between the system calls, too: in the exchanges of a collective
// access, and while they wait for others.
func TestF3_IO02_DeathAtAnyTime(t *testing.T) {
	defer awake(t)()
	path := filepath.Join(t.TempDir(), "file")
	for _, fabric := range fabrics() {
		for _, c := range calls() {
			if c.alone && c.name != "Atomic" {
				continue
			}
			v := &victim{rank: rand.IntN(2), at: anyTime}
			if err := dieIn(fabric, c, v, path); err != nil {
				t.Errorf("over %s: rank %d dies in %s: %v", fabric, v.rank, c.name, err)
			}
		}
	}
}

// dieIn runs three ranks, of which one dies in a call.
func dieIn(fabric string, c fileCall, v *victim, path string) error {
	const n = 3
	if err := os.WriteFile(path, bytes.Repeat([]byte{before}, block*periods*(n+1)), 0o600); err != nil {
		return err
	}
	v.ranks = make([]*world.World, n)
	var made, ended sync.WaitGroup
	made.Add(n)
	ended.Add(n)
	told := make([]bool, n) // that its data is written
	var mu sync.Mutex
	var wrong error
	err := world.RunGoroutines(fabric, n, func(w *world.World) error {
		defer ended.Wait()
		defer ended.Done()
		rank := w.Comm.Rank
		v.ranks[rank] = w
		if rank == v.rank {
			v.wrap(w)
		}
		f, err := w.File.Open(w.Comm, path, file.ReadWrite, dtype.Predefined().Named("MPI_BYTE"), phased(), nil)
		if err == nil {
			err = interleave(w, f)
		}
		made.Done()
		made.Wait()
		if err != nil {
			return err
		}
		data := bytes.Repeat([]byte{byte(rank + 1)}, share)
		if rank == v.rank {
			v.armed.Store(true)
			switch v.at {
			case -1:
				v.dies()
			case anyTime:
				killed := make(chan bool)
				defer func() { <-killed }()
				go func() {
					time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
					v.dies()
					close(killed)
				}()
			}
		}
		err = c.do(w, f, file.Data{Mem: mem.Of(data)})
		if rank == v.rank && (v.died.Load() || v.at == anyTime) {
			return errDies
		}
		told[rank] = err == nil && c.writes && c.whole
		if err != nil && (c.alone && c.name != "Atomic" || !v.died.Load()) {
			mu.Lock()
			wrong = errors.Join(wrong, fmt.Errorf("rank %d: %w", rank, err))
			mu.Unlock()
		}
		if c.name != "Close" {
			_ = f.Close() // it returns
		}
		return nil
	})
	v.end()
	if v.died.Load() != (err != nil) {
		wrong = errors.Join(wrong, fmt.Errorf("the run ends with %w", err))
	}
	return errors.Join(wrong, unlocked(path), intact(path, n, c.writes, told))
}

// classOf is the class of an error.
func classOf(err error) class.Class {
	var e *class.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return class.Other
}

// unlocked waits until it can lock the file.
func unlocked(path string) error {
	f, err := sys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Lock(0, 1<<40, false), f.Close())
}

// intact checks the file: bytes of nobody have not changed; those of a rank are what it writes or what was
// before, and if it has been told so, they are what it writes.
func intact(path string, n int, writes bool, told []bool) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, x := range b {
		owner := i / block % (n + 1)
		switch {
		case x == before && (owner == n || !told[owner]):
		case owner < n && writes && x == byte(owner+1):
		default:
			return fmt.Errorf("byte %d of %d, of rank %d, is %#x; told %v", i, len(b), owner, x, told)
		}
	}
	if len(b) != block*periods*(n+1) {
		return fmt.Errorf("the file has %d bytes", len(b))
	}
	return nil
}

// A rank dies while a file is opened, before each system call that it makes: the others return.
func TestF3_IO18_DeathWhileAFileIsOpened(t *testing.T) {
	defer awake(t)()
	const n = 3
	dir := t.TempDir()
	for _, fabric := range fabrics() {
		for _, dead := range []int{0, 1} {
			for at := -1; ; at++ {
				v := &victim{rank: dead, at: at, ranks: make([]*world.World, n)}
				v.armed.Store(true)
				var made, ended sync.WaitGroup
				made.Add(n)
				ended.Add(n)
				err := world.RunGoroutines(fabric, n, func(w *world.World) error {
					defer ended.Wait()
					defer ended.Done()
					v.ranks[w.Comm.Rank] = w
					made.Done()
					made.Wait()
					if w.Comm.Rank == dead {
						v.wrap(w)
						if at < 0 {
							v.dies()
						}
					}
					f, err := w.File.Open(w.Comm, filepath.Join(dir, fabric), file.ReadWrite|file.Create|file.Append, dtype.Predefined().Named("MPI_BYTE"), phased(), nil)
					if err == nil {
						v.armed.Store(false)
						_ = f.Close()
					}
					return nil
				})
				v.end()
				if v.died.Load() != (err != nil) {
					t.Fatalf("over %s: rank %d dies before system call %d: %v", fabric, dead, at, err)
				}
				if !v.died.Load() {
					break
				}
			}
		}
	}
}
