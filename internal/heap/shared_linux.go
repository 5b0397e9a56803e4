package heap

import (
	"errors"
	"os"

	"github.com/halo-mpi/halo/internal/node/sparse"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// Shared returns a heap over memory that the processes of a node map. open is called before the first
// block is allocated. It maps the memory, which begins at offset start of a memory file and remains
// mapped until nobody uses the heap any more. Pages without a block are not accessible.
func Shared(open func() (f *os.File, start int64, mem *sparse.Mapping, err error)) *Heap {
	return newHeap(&shared{open: open}, NewBudget())
}

// shared is the backing of a mapping. Pages of the file are allocated with the first block in them, and
// freed with the last.
type shared struct {
	open  func() (*os.File, int64, *sparse.Mapping, error)
	file  *os.File
	start int64
	pages *sparse.Mapping
	mem   []byte // of pages
}

func (s *shared) begin() (size, base int64, err error) {
	s.file, s.start, s.pages, err = s.open()
	if err != nil {
		return 0, 0, err
	}
	s.mem = s.pages.Bytes()
	return int64(len(s.mem)), address(s.mem), nil
}

func (s *shared) commit(b *extent, fresh span, _ int64, budget *Budget) error {
	// An access to a block after it was freed may have allocated pages again.
	err := s.pages.Open(fresh.off, fresh.size())
	if err != nil {
		return err
	}
	err = s.punch(fresh)
	if err == nil {
		err = budget.spend(fresh.size(), func(done, n int64) error {
			return sys.Commit(s.file, s.start+fresh.off+done, n)
		})
	}
	if err != nil {
		return errors.Join(err, s.drop(b, fresh))
	}
	b.mem = s.mem[b.off:b.end():b.end()]
	// Fresh pages are zero; in other pages the block may contain data of a block before it.
	if planted.BlockDirty {
		return nil
	}
	if fresh.size() == 0 {
		clear(b.mem)
	} else {
		clear(s.mem[b.off:max(b.off, fresh.off)])
		clear(s.mem[min(b.end(), fresh.end):b.end()])
	}
	return nil
}

func (s *shared) drop(_ *extent, idle span) error {
	err := s.punch(idle)
	s.pages.Close(idle.off, idle.size())
	return err
}

// punch frees pages. If that fails they remain allocated, and punch clears them.
func (s *shared) punch(pages span) error {
	if pages.size() == 0 {
		return nil
	}
	err := sys.Punch(s.file, s.start+pages.off, pages.size())
	if err != nil {
		clear(s.mem[pages.off:pages.end])
	}
	return err
}

func (s *shared) found(*extent) {}
func (s *shared) lost(*extent)  {}

func (s *shared) offset(addr uintptr) (off int64, ok bool) {
	off = int64(addr) - address(s.mem)
	return off, off >= 0 && off < int64(len(s.mem))
}
