package heap

import (
	"os"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

// Shared makes a heap over memory that the processes of a node map. open is called
// before the first block is made; it maps the memory, which is part of a memory file
// from start on, and stays so until nobody uses the heap any more.
func Shared(open func() (f *os.File, start int64, mem []byte, err error)) *Heap {
	return newHeap(&shared{open: open}, NewBudget())
}

// shared is the backing of a mapping: pages of the file are made for the blocks that
// touch them, and go with the last of these.
type shared struct {
	open  func() (*os.File, int64, []byte, error)
	file  *os.File
	start int64
	mem   []byte
}

func (s *shared) begin() (size, base int64, err error) {
	s.file, s.start, s.mem, err = s.open()
	if err != nil {
		return 0, 0, err
	}
	return int64(len(s.mem)), int64(uintptr(unsafe.Pointer(&s.mem[0]))), nil
}

func (s *shared) commit(b *extent, fresh span, _ int64, budget *Budget) ([]byte, error) {
	err := budget.spend(fresh.size(), func(done, n int64) error {
		return sys.Commit(s.file, s.start+fresh.off+done, n)
	})
	if err != nil {
		sys.Punch(s.file, s.start+fresh.off, fresh.size())
		return nil, err
	}
	// Pages that are new are zero; of others the block may take what another had.
	if fresh.size() == 0 {
		clear(s.mem[b.off:b.end()])
	} else {
		clear(s.mem[b.off:max(b.off, fresh.off)])
		clear(s.mem[min(b.end(), fresh.end):b.end()])
	}
	return s.mem[b.off:b.end():b.end()], nil
}

func (s *shared) drop(_ *extent, idle span) error {
	if idle.size() == 0 {
		return nil
	}
	return sys.Punch(s.file, s.start+idle.off, idle.size())
}

func (s *shared) offset(addr uintptr) (off int64, ok bool) {
	if len(s.mem) == 0 {
		return 0, false
	}
	off = int64(addr) - int64(uintptr(unsafe.Pointer(&s.mem[0])))
	return off, off >= 0 && off < int64(len(s.mem))
}
