package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// shifts are the calls that send in one direction of a ring and receive from the other.
func shifts() map[string]func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error) {
	return map[string]func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error){
		"Sendrecv": func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error) {
			return mpi.Sendrecv(c, send, dest, tag, recv, source, tag)
		},
		"Isendrecv": func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error) {
			r := mpi.Isendrecv(c, send, dest, tag, recv, source, tag)
			return r.Wait()
		},
		"SendrecvReplace": func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error) {
			copy(recv, send)
			return mpi.SendrecvReplace(c, recv, dest, tag, source, tag)
		},
		"IsendrecvReplace": func(c *mpi.Comm, send, recv []byte, dest, source, tag int) (mpi.Status, error) {
			copy(recv, send)
			r := mpi.IsendrecvReplace(c, recv, dest, tag, source, tag)
			return r.Wait()
		},
	}
}

// A shift along a ring does not deadlock, at any length, including a ring of one rank.
func TestP2P13_XP2P02_RingShift(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
			for i, size := range append(sizes(), 8<<20) {
				if size > 300_000 && n == 3 || size > 2<<20 && n > 2 {
					continue
				}
				for _, name := range []string{"Sendrecv", "Isendrecv", "SendrecvReplace", "IsendrecvReplace"} {
					b := make([]byte, size)
					st, err := shifts()[name](c, payload(size, uint64(c.Rank())), b, right, left, i)
					if err != nil {
						t.Fatalf("%s of %d bytes: %v", name, size, err)
					}
					wantStatus(t, st, left, i, size)
					wantPayload(t, b, size, uint64(left))
				}
			}
		})
	}
}

// The halves are ordinary messages: they match plain receives, sends and probes.
func TestP2P13_SendrecvMeetsPlainCalls(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for i, size := range []int{0, 8, 9000, 100_000, 300_000} {
			if c.Rank() == 0 {
				for name, shift := range shifts() {
					b := make([]byte, size)
					st, err := shift(c, payload(size, 1), b, 1, mpi.AnySource, i)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					wantStatus(t, st, 1, i, size)
					wantPayload(t, b, size, 2)
				}
				continue
			}
			for range shifts() {
				st, err := c.Probe(0, mpi.AnyTag)
				ok(t, err)
				wantStatus(t, st, 0, i, size)
				b, _, err := mpi.RecvSlice[byte](c, 0, i)
				ok(t, err)
				wantPayload(t, b, size, 1)
				ok(t, mpi.Ssend(c, payload(size, 2), 0, i))
			}
		}
	})
}

// If the receive of a shift fails, both halves are complete nevertheless.
func TestP2P13_SendrecvTruncated(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		for _, size := range []int{10, 9000, 300_000} {
			b := make([]byte, size-1)
			st, err := mpi.Sendrecv(c, payload(size, 5), peer, 0, b, peer, 0)
			wantClass(t, err, mpi.ErrTruncate)
			wantStatus(t, st, peer, 0, size-1)
			wantPayload(t, b, size, 5)
		}
	})
}
