package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/world"
)

// A rank dies in the middle of a write in atomic mode, with the lock of the file, while others wait for it or
// come later, with blocking accesses and without: they go on without an error. So they do if it is rank 0, in
// whose memory the lock may be.
func TestF3_XIO01_LockOfTheDead(t *testing.T) {
	defer awake(t)()
	const n, times = 4, 10
	path := filepath.Join(t.TempDir(), "file")
	for _, fabric := range append(fabrics(), "shm@0011") {
		for _, dead := range []int{0, 2} {
			v := &victim{rank: dead, at: 2, ranks: make([]*world.World, n)}
			var made, ended sync.WaitGroup
			made.Add(n)
			ended.Add(n)
			var mu sync.Mutex
			var wrong error
			err := world.RunGoroutines(fabric, n, func(w *world.World) error {
				defer ended.Wait()
				defer ended.Done()
				rank := w.Comm.Rank
				v.ranks[rank] = w
				if rank == dead {
					v.wrap(w)
				}
				f, err := w.File.Open(w.Comm, path, file.ReadWrite|file.Create, dtype.Predefined().Named("MPI_BYTE"), file.DefaultHints(), nil)
				if err == nil {
					err = errors.Join(interleave(w, f), f.SetAtomicity(true))
				}
				made.Done()
				made.Wait()
				if err != nil {
					return err
				}
				if rank == dead {
					v.armed.Store(true)
				}
				data := file.Data{Mem: mem.Of(bytes.Repeat([]byte{byte(rank + 1)}, share))}
				for i := range times {
					if i%2 == 0 {
						_, err = f.Do(file.Write, 0, data)
					} else {
						var r *p2p.Request
						r, err = f.Start(file.Write, 0, data, call.FileIwriteAt)
						err = wait(w, r, err)
					}
					if err != nil {
						mu.Lock()
						wrong = errors.Join(wrong, fmt.Errorf("rank %d, write %d: %w", rank, i, err))
						mu.Unlock()
					}
				}
				_ = f.Close()
				return nil
			})
			v.end()
			if wrong != nil || err == nil || !v.died.Load() {
				t.Errorf("over %s rank %d dies, %v: %v; the run ends with %v", fabric, dead, v.died.Load(), wrong, err)
			}
			if err := unlocked(path); err != nil {
				t.Errorf("over %s rank %d dies: %v", fabric, dead, err)
			}
		}
	}
}
