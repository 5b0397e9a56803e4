package store_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/world"
)

// Ranks see each other's blocks, and zeros in new ones, over every fabric whose ranks share memory.
func TestMEM06PeersMapBlocks(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm"} {
		err := world.RunGoroutines(fabric, 3, func(w *world.World) error {
			b, err := w.Memory.Alloc(100_000, 0)
			if err != nil {
				return err
			}
			for r := range 3 {
				word := binary.LittleEndian.AppendUint64(nil, uint64(b.Off))
				if err := w.Coll.Bcast(w.Comm, word, dtype.Mixed, r); err != nil {
					return err
				}
				off := int64(binary.LittleEndian.Uint64(word))
				mem, err := w.Proc.Node().View(r).Memory(off, 100_000)
				if err != nil {
					return err
				}
				if mem[w.Comm.Rank] != 0 {
					return fmt.Errorf("byte %d of rank %d is not zero", w.Comm.Rank, r)
				}
				mem[w.Comm.Rank] = byte(1 + w.Comm.Rank)
			}
			if err := w.Coll.Barrier(w.Comm); err != nil {
				return err
			}
			for r := range 3 {
				if b.Mem[r] != byte(1+r) {
					return fmt.Errorf("rank %d wrote %d", r, b.Mem[r])
				}
			}
			if err := w.Memory.Free(b.Mem); err != nil {
				return err
			}
			return w.Close()
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}
