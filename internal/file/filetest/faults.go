// Package filetest puts faults below the accesses of files: system calls that fail, or transfer less than
// they are asked for. A Faults belongs to a test, and wraps the files of any number of processes.
//
// The trap: a system call that Faults makes fail is not made, except Close; one that it makes short is.
package filetest

import (
	"math/rand/v2"
	"sync"

	"github.com/halo-mpi/halo/internal/file"
)

// Call is a system call on a file.
type Call int

// The calls.
const (
	Read Call = iota
	Write
	Sync
	Size
	Truncate
	Allocate
	Lock
	Identity
	Close
)

// Faults says what happens to system calls.
type Faults struct {
	// Before is called before each system call on a file, for n bytes at an offset. If it returns an
	// error, the call fails with that error and is not made, except Close. Several goroutines call
	// Before. nil: no call fails.
	Before func(c Call, off int64, n int) error
	// Short is the seed of random short transfers: on average every third read or write transfers only
	// a part, and vectored ones end at any byte. 0: none.
	Short uint64

	mu sync.Mutex
	r  *rand.Rand
}

// Wrap returns s with these faults.
func (f *Faults) Wrap(s file.Store) file.Store { return &faulty{s, f} }

// part returns how many of n bytes a call transfers.
func (f *Faults) part(n int) int {
	if f.Short == 0 || n < 2 {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.r == nil {
		f.r = rand.New(rand.NewPCG(f.Short, 1))
	}
	if f.r.IntN(3) > 0 {
		return n
	}
	return 1 + f.r.IntN(n-1)
}

func (f *Faults) before(c Call, off int64, n int) error {
	if f.Before == nil {
		return nil
	}
	return f.Before(c, off, n)
}

// faulty is a file with faults.
type faulty struct {
	file.Store
	f *Faults
}

// ReadAt implements file.Store.
func (s *faulty) ReadAt(b []byte, off int64) (int, error) {
	if err := s.f.before(Read, off, len(b)); err != nil {
		return 0, err
	}
	return s.Store.ReadAt(b[:s.f.part(len(b))], off)
}

// WriteAt implements file.Store.
func (s *faulty) WriteAt(b []byte, off int64) (int, error) {
	if err := s.f.before(Write, off, len(b)); err != nil {
		return 0, err
	}
	return s.Store.WriteAt(b[:s.f.part(len(b))], off)
}

// ReadVectors implements file.Store.
func (s *faulty) ReadVectors(list [][]byte, off int64) (int, error) {
	if err := s.f.before(Read, off, length(list)); err != nil {
		return 0, err
	}
	return s.Store.ReadVectors(first(list, s.f.part(length(list))), off)
}

// WriteVectors implements file.Store.
func (s *faulty) WriteVectors(list [][]byte, off int64) (int, error) {
	if err := s.f.before(Write, off, length(list)); err != nil {
		return 0, err
	}
	return s.Store.WriteVectors(first(list, s.f.part(length(list))), off)
}

func length(list [][]byte) (n int) {
	for _, b := range list {
		n += len(b)
	}
	return n
}

// first returns the first n bytes of a list.
func first(list [][]byte, n int) (out [][]byte) {
	for _, b := range list {
		b = b[:min(n, len(b))]
		n -= len(b)
		if len(b) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// Sync implements file.Store.
func (s *faulty) Sync() error {
	if err := s.f.before(Sync, 0, 0); err != nil {
		return err
	}
	return s.Store.Sync()
}

// Size implements file.Store.
func (s *faulty) Size() (int64, error) {
	if err := s.f.before(Size, 0, 0); err != nil {
		return 0, err
	}
	return s.Store.Size()
}

// Truncate implements file.Store.
func (s *faulty) Truncate(size int64) error {
	if err := s.f.before(Truncate, size, 0); err != nil {
		return err
	}
	return s.Store.Truncate(size)
}

// Allocate implements file.Store.
func (s *faulty) Allocate(size int64) error {
	if err := s.f.before(Allocate, size, 0); err != nil {
		return err
	}
	return s.Store.Allocate(size)
}

// Lock implements file.Store.
func (s *faulty) Lock(off, n int64, shared bool) error {
	if err := s.f.before(Lock, off, int(n)); err != nil {
		return err
	}
	return s.Store.Lock(off, n, shared)
}

// Identity implements file.Store.
func (s *faulty) Identity() (device, number uint64, err error) {
	if err := s.f.before(Identity, 0, 0); err != nil {
		return 0, 0, err
	}
	return s.Store.Identity()
}

// Close implements file.Store. The file is closed even if the call fails, as by close(2).
func (s *faulty) Close() error {
	err := s.f.before(Close, 0, 0)
	if closed := s.Store.Close(); err == nil {
		err = closed
	}
	return err
}
