package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestPingPong(t *testing.T) {
	for _, size := range []int{0, 1, 8, 100, 5000, 9000, 70000, 3 << 20} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			buf := make([]byte, size)
			peer := 1 - c.Rank()
			for i := range 50 {
				if c.Rank() == 0 {
					for j := range buf {
						buf[j] = byte(i + j)
					}
					if err := mpi.Send(c, buf, peer, i); err != nil {
						t.Fatal(err)
					}
					clear(buf)
				}
				st, err := mpi.Recv(c, buf, peer, i)
				if err != nil {
					t.Fatal(err)
				}
				if mpi.Count[byte](st) != size {
					t.Fatalf("%d", st.Bytes())
				}
				for j := range buf {
					if buf[j] != byte(i+j) {
						t.Fatalf("size %d round %d byte %d", size, i, j)
					}
				}
				if c.Rank() == 1 {
					mpi.Send(c, buf, peer, i)
				}
			}
		})
	}
}
