package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/file/filetest"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/world"
)

// fault makes one system call of a rank fail.
type fault struct {
	rank  int
	at    int // number of the call, from when the fault is armed on
	no    syscall.Errno
	armed atomic.Bool
	calls atomic.Int32
	call  atomic.Int32 // that has failed, -1 if none has
}

func (x *fault) before(c filetest.Call, off int64, n int) error {
	if x.armed.Load() && int(x.calls.Add(1)) == x.at+1 {
		x.call.Store(int32(c))
		return x.no
	}
	return nil
}

// faultClasses are the classes of errors of the system.
func faultClasses() map[syscall.Errno]class.Class {
	return map[syscall.Errno]class.Class{syscall.ENOSPC: class.NoSpace, syscall.EIO: class.IO, syscall.ESTALE: class.IO,
		syscall.EDQUOT: class.Quota, syscall.EFBIG: class.Quota}
}

// faultTexts are what messages say of system calls that fail.
func faultTexts() map[filetest.Call]string {
	return map[filetest.Call]string{filetest.Read: "read of ", filetest.Write: "write of ", filetest.Sync: "sync: ", filetest.Size: "size: ",
		filetest.Truncate: "size of 20000 bytes: ", filetest.Allocate: "allocation of 1024 bytes: ", filetest.Lock: "lock of ", filetest.Close: "close: "}
}

// Each system call of every kind of call on a file fails, at each rank: the rank gets an error with its
// class, what was to be done, how many bytes and where. If the call is collective all members return, and
// where one works for the others all get an error of the class. What another rank has been told is written
// is there, and the file can be used afterwards (IO-06).
func TestIO06_ErrorsInEveryCall(t *testing.T) {
	defer awake(t)()
	path := filepath.Join(t.TempDir(), "file")
	for _, fabric := range fabrics() {
		r := &faultRun{path: path, told: make([]bool, faultRanks)}
		r.met.L = &r.mu
		err := world.RunGoroutines(fabric, faultRanks, r.run)
		err = errors.Join(err, r.wrong)
		if err != nil {
			t.Fatalf("over %s: %v", fabric, err)
		}
		if r.failures < 50 {
			t.Errorf("over %s only %d system calls have failed", fabric, r.failures)
		}
	}
}

const faultRanks = 3

// faultRun is ranks that make calls of which one system call fails.
type faultRun struct {
	path     string
	failures int
	fault    *fault
	told     []bool // that the data of a rank is written

	mu    sync.Mutex
	wrong error
	met   sync.Cond
	came  int // ranks, in all meetings
}

// meet waits for all ranks, independently of what they use to communicate.
func (r *faultRun) meet() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came++
	for all := (r.came + faultRanks - 1) / faultRanks * faultRanks; r.came < all; {
		r.met.Wait()
	}
	r.met.Broadcast()
}

func (r *faultRun) say(err error) {
	if err != nil {
		r.mu.Lock()
		r.wrong = errors.Join(r.wrong, err)
		r.mu.Unlock()
	}
}

// run makes all calls with each fault, until something is wrong.
func (r *faultRun) run(w *world.World) error {
	numbers := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.ESTALE, syscall.EDQUOT, syscall.EFBIG}
	for _, c := range calls() {
		for _, rank := range []int{0, faultRanks - 1} {
			if rank > 0 && c.alone && c.name != "Atomic" {
				break // all ranks are alike
			}
			for at := 0; ; at++ {
				if w.Comm.Rank == 0 {
					r.fault = &fault{rank: rank, at: at, no: numbers[r.failures%len(numbers)]}
					r.fault.call.Store(-1)
					r.say(os.WriteFile(r.path, bytes.Repeat([]byte{before}, block*periods*(faultRanks+1)), 0o600))
				}
				r.meet()
				if err := r.fails(w, c); err != nil {
					r.say(fmt.Errorf("system call %d of rank %d in %s fails: rank %d: %w", at, rank, c.name, w.Comm.Rank, err))
				}
				r.meet()
				failed, wrong := r.fault.call.Load() >= 0, r.wrong != nil
				if w.Comm.Rank == 0 && failed {
					r.failures++
				}
				if wrong {
					return nil
				}
				r.meet()
				if !failed {
					break
				}
			}
		}
	}
	return nil
}

// fails makes a call of which one system call fails.
func (r *faultRun) fails(w *world.World, c fileCall) error {
	x, rank := r.fault, w.Comm.Rank
	w.File.Wrap(func(s file.Store) file.Store {
		if rank == x.rank {
			return (&filetest.Faults{Before: x.before}).Wrap(s)
		}
		return s
	})
	f, err := w.File.Open(w.Comm, r.path, file.ReadWrite, dtype.Predefined().Named("MPI_BYTE"), phased(), nil)
	if err == nil {
		err = interleave(w, f)
	}
	if err != nil {
		return err
	}
	data := bytes.Repeat([]byte{byte(rank + 1)}, share)
	r.meet()
	if rank == x.rank {
		x.armed.Store(true)
	}
	err = c.do(w, f, file.Data{Mem: mem.Of(data)})
	if rank == x.rank {
		x.armed.Store(false)
	}
	r.told[rank] = err == nil && c.writes && c.whole
	wrong := r.judge(rank, c, err)
	if c.name == "Close" {
		return wrong
	}
	// The file can be used afterwards, after a look at it.
	r.meet()
	if rank == 0 {
		wrong = errors.Join(wrong, intact(r.path, faultRanks, c.writes, r.told))
	}
	r.meet()
	for i := range data {
		data[i] = byte(rank + 1)
	}
	_, err = f.DoAll(file.Write, 0, file.Data{Mem: mem.Of(data)}, call.FileWriteAtAll)
	clear(data)
	_, err2 := f.DoAll(file.Read, 0, file.Data{Mem: mem.Of(data)}, call.FileReadAtAll)
	err = errors.Join(err, err2)
	if err != nil || !bytes.Equal(data, bytes.Repeat([]byte{byte(rank + 1)}, share)) {
		wrong = errors.Join(wrong, fmt.Errorf("afterwards: read %x..., %w", data[:4], err))
	}
	return errors.Join(wrong, f.Close(), unlocked(r.path))
}

// judge compares the result of a call with what the rank must get.
func (r *faultRun) judge(rank int, c fileCall, err error) error {
	x, want := r.fault, faultClasses()[r.fault.no]
	call := filetest.Call(x.call.Load()) // others know it only if they learn of the failure
	own := rank == x.rank
	switch {
	case own && call < 0 && err == nil:
	case own && call >= 0 && classOf(err) == want && errors.Is(err, x.no) && strings.Contains(err.Error(), faultTexts()[call]):
	case !own && err == nil && (call < 0 || !c.told()):
	case !own && err != nil && classOf(err) == want && strings.Contains(err.Error(), fmt.Sprintf("rank %d", x.rank)):
	default:
		return fmt.Errorf("%w (class %v), want class %v, call %d", err, classOf(err), want, call)
	}
	return nil
}

// told reports whether all members of a call get the error of one.
func (c *fileCall) told() bool {
	switch c.name {
	case "WriteAtAll", "ReadAtAll", "IwriteAtAll", "IreadAll", "WriteAllBegin", "Sync", "SetSize", "Preallocate", "Close":
		return true
	}
	return false
}

// A file that the program closes too early, with accesses that do not block under way, is closed behind them: their
// system calls would otherwise find the descriptor of another file (IO-05).
func TestIO05_CloseWaitsForWorkers(t *testing.T) {
	defer awake(t)()
	path := filepath.Join(t.TempDir(), "file")
	err := world.RunGoroutines(fabrics()[0], 1, func(w *world.World) error {
		writing, closing := make(chan struct{}), make(chan struct{})
		var closed atomic.Bool
		early := false
		faults := &filetest.Faults{Before: func(c filetest.Call, _ int64, _ int) error {
			switch c {
			case filetest.Close:
				closed.Store(true)
			case filetest.Write:
				close(writing)
				<-closing
				for range 1000 {
					runtime.Gosched()
				}
				early = closed.Load()
			}
			return nil
		}}
		w.File.Wrap(faults.Wrap)
		f, err := w.File.Open(w.Comm, path, file.ReadWrite|file.Create, dtype.Predefined().Named("MPI_BYTE"), file.DefaultHints(), nil)
		if err != nil {
			return err
		}
		r, err := f.Start(file.Write, 0, file.Data{Mem: mem.Of([]byte("abc"))}, call.FileIwriteAt)
		if err != nil {
			return err
		}
		<-writing
		close(closing)
		err = errors.Join(f.Close(), wait(w, r, nil))
		if early {
			err = errors.Join(err, errors.New("the file was closed during a write"))
		}
		return err
	})
	if b, read := os.ReadFile(path); err != nil || read != nil || string(b) != "abc" {
		t.Errorf("the file has %q: %v, %v", b, err, read)
	}
}
