package file

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma"
)

// atomicity is the atomic mode of a file: a write excludes all other accesses of the members to the bytes from its
// first one to its last one, and a read excludes writes. So the holes are locked, too, which is correct and needs
// no list.
//
// Where all members share the memory of a node, the lock is in it: the passive lock of the window with the
// shared file pointer, which nobody else uses. It is fair, and the death of a process that has it, or of rank 0,
// ends no access of others. Elsewhere the kernel locks the bytes. That lock is of the open file description, and
// ends with the process. It takes 1.6 us, that in memory 0.15.
//
// Rejected: one lock for the whole file, though the kernel lets one write at a time change a file. Members
// that write different 64 KiB take eight times as long with it, since each sleeps until another one wakes it.
type atomicity struct {
	on   atomic.Bool
	node atomic.Pointer[rma.NodeLock] // nil: locks of the kernel
	mu   sync.Mutex                   // either lock is one of the process: mu excludes other accesses of this File
}

// SetAtomicity sets atomic mode: collective.
func (f *File) SetAtomicity(on bool) error {
	const by = call.FileSetAtomicity
	f.queue.wait()
	if err := f.e.agree(f.c, by, fmt.Sprintf("atomicity %v", on), nil); err != nil {
		return err
	}
	if on {
		if err := f.chooseLock(by); err != nil {
			return err
		}
	}
	f.atomic.on.Store(on)
	f.tell()
	return nil
}

// chooseLock finds the lock that all members can take: collective.
func (f *File) chooseLock(by call.Number) error {
	mapped := int64(0)
	node, ok := f.shared.view.NodeLock(0, lockWait{f.path})
	if ok && !f.far() {
		mapped = 1
	}
	x := &exchange{f: f, call: by}
	told, err := x.allgather([]int64{mapped})
	if err != nil {
		return err
	}
	if !slices.Contains(told, 0) {
		f.atomic.node.Store(node)
		return nil
	}
	return f.e.agree(f.c, by, "", f.lockable())
}

// lockable returns an error if the kernel cannot lock the file.
func (f *File) lockable() error {
	const last = math.MaxInt64 - 1
	err := f.store.Lock(last, 1, !f.mode.has(WriteOnly))
	if err == nil {
		err = f.store.Unlock(last, 1)
	}
	if err != nil {
		return failed(err, "lock of the file")
	}
	return nil
}

// Atomicity reports whether the file is in atomic mode.
func (f *File) Atomicity() bool { return f.atomic.on.Load() }

// atomically is transfer of at least one byte, of which others see all or nothing. Without defer: a process that
// ends in the middle gives nothing back. apart is as for move.
func (f *File) atomically(v *View, d Direction, m mem.Mem, at int64, apart bool) (n int64, err error) {
	first, end := v.Offset(at), v.Offset(at+int64(m.Len())-1)+1
	if planted.LockOfTheFirst {
		end = first + 1
	}
	f.atomic.mu.Lock()
	switch node := f.atomic.node.Load(); {
	case planted.AtomicUnlocked:
		n, err = f.transfer(v, m, at, d == Write)
	case node != nil:
		node.Lock(d == Write && !planted.AtomicShared, uint64(first), uint64(end), apart)
		n, err = f.transfer(v, m, at, d == Write)
		node.Unlock()
	default:
		shared := d == Read && !f.mode.has(WriteOnly)
		err = f.store.Lock(first, end-first, shared)
		if err != nil {
			err = failed(err, "lock of %d bytes at byte %d", end-first, first)
			break
		}
		n, err = f.transfer(v, m, at, d == Write)
		_ = f.store.Unlock(first, end-first) // the kernel releases what it has granted
	}
	f.atomic.mu.Unlock()
	return n, err
}

// lockWait describes a wait for the lock of a file of the path.
type lockWait struct{ path string }

// AppendAbout implements proc.About.
func (w lockWait) AppendAbout(b []byte) []byte {
	return append(append(append(b, "lock of "...), w.path...), " in atomic mode"...)
}
