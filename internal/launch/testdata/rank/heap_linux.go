package main

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node/sparse"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// heap allocates size bytes of this rank's heap and stores into all their pages. The file and the
// mapping stay open until the process ends.
func (p *process) heap(size int64) error {
	j := p.boot.Job()
	f, err := p.boot.Segment(j.Rank)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	start := shmfmt.HeapStart(len(j.Local))
	h := heap.Shared(func() (*os.File, int64, *sparse.Mapping, error) {
		mem, err := sparse.New(f, start, info.Size()-start, shmfmt.HeapUnit, len(j.Local))
		return f, start, mem, err
	})
	_, mem, err := h.Alloc(size, 0)
	if err != nil {
		return err
	}
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	fmt.Println("heap", info.Size()-start)
	return nil
}
