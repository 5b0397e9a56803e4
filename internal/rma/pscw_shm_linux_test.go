package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/world"
)

// RS-02: in epochs of Start on memory that only the kernel reaches, short puts go by frames, with the end of the epoch behind
// them, and others by the kernel. After Wait all have arrived, however they are mixed, also those that waited for the post.
func TestRS02_PutsByFramesAndByTheKernel(t *testing.T) {
	const long = 8 << 10
	defer awake(t)()
	onShm(t, func(w *world.World) error {
		x, err := created(w, heapBytes(8+2*long), 1, func() error { return nil })
		if err != nil {
			return err
		}
		framed := true
		err = barrier(w)
		for k := uint64(1); k <= 200 && err == nil; k++ {
			bulk := bytes.Repeat([]byte{byte(k)}, long)
			if w.Comm.Rank == 0 {
				err = first(
					func() error { return x.Start([]int32{1}, 0) },
					func() error { return x.PutBytes(word(k), 1, 0) },
					func() error {
						if k > 1 {
							return nil
						}
						return barrier(w) // the first post comes behind the first put
					},
					func() error { return x.PutBytes(bulk[:long>>(k%8)], 1, 8) },
					func() error { return x.PutBytes(bulk[:8], 1, 8+long) },
					x.Complete)
				framed = framed && x.Framed(1)
				continue
			}
			if k == 1 {
				err = barrier(w)
			}
			err = errors.Join(err, x.Post([]int32{0}, 0), x.Wait())
			if err != nil {
				break
			}
			mem := x.Local()
			if got := number(mem); got != k || !bytes.Equal(mem[8:8+long>>(k%8)], bulk[:long>>(k%8)]) || !bytes.Equal(mem[8+long:16+long], bulk[:8]) {
				err = fmt.Errorf("epoch %d: %d, % x, % x", k, got, mem[8:16], mem[8+long:16+long])
			}
		}
		if !framed {
			err = errors.Join(err, errors.New("short puts have not gone by frames"))
		}
		return errors.Join(err, x.free())
	})
}
