package mpi_test

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// A collective access that is under way keeps the hints and the view of its call: members that are at
// different places when these change still agree on how it is made.
func TestIO01_HintsOfTheCall(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		n, me := c.Size(), c.Rank()
		view := blocks(t, 10, n)
		ok(t, f.SetView(int64(10*me), typeOf[byte](), view, "native"))
		mine := bytes.Repeat([]byte{byte('a' + me)}, 100)
		for i := range 4 {
			hints := []mpi.FileHint{pairs(t, "romio_cb_write", []string{"enable", "disable"}[i%2]), mpi.CbNodes(1 + i%n)}
			if me > 0 { // begins when rank 0 has other hints already
				_, err := mpi.Recv(c, []byte{0}, 0, 1)
				ok(t, err)
			}
			q := mpi.IwriteAtAll(f, int64(100*i), mine)
			if me == 0 {
				ok(t, f.SetInfo(hints...))
				ok(t, mpi.Send(c, []byte{0}, 1, 1))
				ok(t, mpi.Send(c, []byte{0}, 2, 1))
			}
			_, err := q.Wait()
			ok(t, err)
			if me > 0 {
				ok(t, f.SetInfo(hints...))
			}
		}
		ok(t, c.Barrier())
		for i, b := range content(t, path) {
			if want := byte('a' + i/10%n); b != want {
				t.Fatalf("byte %d is %c, want %c", i, b, want)
			}
		}
		ok(t, f.Close())
	})
}

// INF-04: members whose hints differ access a file together all the same: those of rank 0 count.
func TestIO01_HintsThatDiffer(t *testing.T) {
	onFile(t, 3, func(t testing.TB, c *mpi.Comm, path string) {
		n, me := c.Size(), c.Rank()
		const size, count = 11, 2000
		for first := range n { // of the members with the hints of the first kind
			hints := []mpi.FileHint{mpi.CbNodes(n), mpi.CbBufferSize(1 << 20), pairs(t, "romio_cb_write", "disable", "romio_cb_read", "enable")}
			if me >= first {
				hints = []mpi.FileHint{mpi.CbNodes(1), mpi.CbBufferSize(4096), pairs(t, "romio_cb_write", "enable", "romio_cb_read", "disable")}
			}
			f := openFile(t, c, path, newFile, hints...)
			ok(t, f.SetView(int64(size*me), typeOf[byte](), blocks(t, size, n), "native"))
			mine, got := bytes.Repeat([]byte{byte(1 + me + 10*first)}, size*count), make([]byte, size*count)
			_, err := mpi.WriteAtAll(f, 0, mine)
			ok(t, err)
			_, err = mpi.ReadAtAll(f, 0, got)
			ok(t, err)
			if !bytes.Equal(got, mine) {
				t.Errorf("with other hints from rank %d on, rank %d reads what it has not written", first, me)
			}
			ok(t, f.Close())
		}
	})
}
