package heap

import (
	"errors"
	"os"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sparse"
	"github.com/halo-mpi/halo/internal/sys"
)

// Shared makes a heap over memory that the processes of a node map. open is called
// before the first block is made; it maps the memory, which is part of a memory file
// from start on, and stays so until nobody uses the heap any more. Pages that no block
// touches are closed.
func Shared(open func() (f *os.File, start int64, mem *sparse.Mapping, err error)) *Heap {
	return newHeap(&shared{open: open}, NewBudget())
}

// shared is the backing of a mapping: pages of the file are made for the blocks that
// touch them, and go with the last of these.
type shared struct {
	open  func() (*os.File, int64, *sparse.Mapping, error)
	file  *os.File
	start int64
	pages *sparse.Mapping
	mem   []byte // of pages
}

func (s *shared) begin() (size, base int64, err error) {
	if s.file, s.start, s.pages, err = s.open(); err != nil {
		return 0, 0, err
	}
	s.mem = s.pages.Bytes()
	return int64(len(s.mem)), address(s.mem), nil
}

func (s *shared) commit(b *extent, fresh span, _ int64, budget *Budget) error {
	// Whoever used a block after it was freed may have made pages again.
	err := s.pages.Open(fresh.off, fresh.size())
	if err != nil {
		return err
	}
	if err = s.punch(fresh); err == nil {
		err = budget.spend(fresh.size(), func(done, n int64) error {
			return sys.Commit(s.file, s.start+fresh.off+done, n)
		})
	}
	if err != nil {
		return errors.Join(err, s.drop(b, fresh))
	}
	b.mem = s.mem[b.off:b.end():b.end()]
	// Pages that are fresh are zero; in others the block may take what another had.
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

// punch gives pages back. Where that fails they stay, and are zero nevertheless.
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
