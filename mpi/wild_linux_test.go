package mpi_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// If a part of a buffer is not accessible when the kernel copies to or from a socket, the call
// fails with MPI_ERR_BUFFER. The other process and the connection are not affected: later
// messages arrive.
func TestWildBuffersAreTheCallers(t *testing.T) {
	const part = 64 << 10
	// Not over shm: there this process itself accesses the buffer, and the Go runtime ends it.
	for _, size := range []int{4 << 10, 48 << 10, 3 * part} {
		mpitest.On(t, "tcp", 2, func(t testing.TB, world *mpi.Comm) {
			memory, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Munmap(memory)
			wild, whole := memory[:size], make([]byte, size)
			if err := syscall.Mprotect(memory[size/4096/2*4096:size], syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
			wrong := func(err error, what string) {
				t.Helper()
				if !errors.Is(err, mpi.ErrBuffer) {
					t.Errorf("%s of %d bytes: %v", what, size, err)
				}
			}
			right := func(err error) {
				t.Helper()
				if err != nil {
					t.Error(err)
				}
			}
			if world.Rank() == 0 {
				wrong(mpi.Send(world, wild, 1, 1), "a send")
				r := mpi.Isend(world, wild, 1, 1)
				_, err := r.Wait()
				wrong(err, "an Isend")
				wrong(mpi.Ssend(world, wild, 1, 1), "a synchronous send")
				whole[0] = 7
				right(mpi.Send(world, whole, 1, 1)) // the first message that arrives
				right(mpi.Ssend(world, whole, 1, 2))
				whole[0] = 8
				right(mpi.Send(world, whole, 1, 3))
				return
			}
			_, err = mpi.Recv(world, whole, 0, 1)
			right(err)
			if whole[0] != 7 {
				t.Errorf("%d has come, not 7", whole[0])
			}
			if size > part { // a shorter message may be complete in memory of the fabric, from which Go copies it
				_, err = mpi.Recv(world, wild, 0, 2)
				wrong(err, "a receive")
			} else {
				_, err = mpi.Recv(world, whole, 0, 2)
				right(err)
			}
			_, err = mpi.Recv(world, whole, 0, 3)
			right(err)
			if whole[0] != 8 {
				t.Errorf("%d has come, not 8", whole[0])
			}
		})
	}
}

// The same for a receive buffer of which only the last bytes, fewer than a word, are on a page that is
// not accessible.
func TestWildEndsAreTheCallers(t *testing.T) {
	const size = 192 << 10
	mpitest.On(t, "tcp", 2, func(t testing.TB, world *mpi.Comm) {
		whole := make([]byte, size)
		if world.Rank() == 0 {
			for tag := range 4 {
				if err := mpi.Ssend(world, whole, 1, tag); err != nil {
					t.Error(err)
				}
			}
			return
		}
		memory, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Munmap(memory)
		if err := syscall.Mprotect(memory[size:], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		for missing := 3; missing >= 0; missing-- {
			_, err := mpi.Recv(world, memory[missing:][:size], 0, 3-missing)
			if missing > 0 && !errors.Is(err, mpi.ErrBuffer) || missing == 0 && err != nil {
				t.Errorf("without the last %d bytes: %v", missing, err)
			}
		}
	})
}
