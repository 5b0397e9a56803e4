package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// marks returns the places of the lines of this file that end with "// at: " and a word, by the words.
func marks(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, word, ok := strings.Cut(line, "// at: "); ok && !strings.Contains(line, "strings.") {
			at[word] = fmt.Sprintf("%s:%d", file, i+1)
		}
	}
	return at
}

// BRD-08: Finalize with a receive that is posted says for what, and which messages lie there unmatched,
// in checking mode with both lines.
func TestBRD08_FinalizeExplainsAPostedReceive(t *testing.T) {
	at := marks(t, "checking_lines_test.go")
	for _, checks := range []string{"0", "1"} {
		t.Setenv("HALO_CHECK", checks)
		recv, sent := "", ""
		if checks == "1" {
			recv, sent = ", at "+at["waits"], ", sent at "+at["sends"]
		}
		want := "1 receive is still posted: on world from 0 tag 8" + recv + "; here, unmatched: from 0 tag 7, 8 bytes" + sent
		for _, fabric := range mpitest.Fabrics() {
			err := mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
				if c.Rank() == 0 {
					if err := mpi.Send(c, []int64{1}, 1, 7); err != nil { // at: sends
						return err
					}
					mpi.Recv(c, []byte{}, 1, 99) // until the other rank has failed
					return nil
				}
				if _, err := c.Probe(0, 7); err != nil {
					return err
				}
				mpi.Irecv(c, make([]int64, 1), 0, 8) // at: waits
				return nil
			})
			mismatched(t, fabric, err, mpi.ErrPending, want)
		}
	}
}

// BRD-08, DT-16, COL-05: in checking mode the error of two ranks that disagree says where both call, for
// messages by every way and for collectives.
func TestBRD08_BothSidesAreNamedByLines(t *testing.T) {
	at := marks(t, "checking_lines_test.go")
	start := func(q mpi.Request) error {
		_, err := q.Wait()
		return err
	}
	for _, x := range []struct {
		name       string
		zero, one  func(c *mpi.Comm) error // what the two ranks do
		class      mpi.Class
		text       string // of the error of rank 1, before the places
		send, recv string // marks
		both       bool   // rank 0 has the error, too
	}{
		{"types",
			func(c *mpi.Comm) error {
				return mpi.Send(c, make([]int32, 4), 1, 7) // at: send
			}, func(c *mpi.Comm) error {
				_, err := mpi.Recv(c, make([]float64, 8), 0, 7) // at: recv
				return err
			}, mpi.ErrType, "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 8 x MPI_DOUBLE", "send", "recv", false},
		{"lengths",
			func(c *mpi.Comm) error {
				return start(mpi.Isend(c, make([]int32, 4000), 1, 7)) // at: isend
			}, func(c *mpi.Comm) error {
				c.Probe(0, 7)
				return start(mpi.Irecv(c, make([]int32, 3000), mpi.AnySource, 7)) // at: irecv
			}, mpi.ErrTruncate, "rank 0 sends 4000 x MPI_INT32_T, rank 1 receives 3000 x MPI_INT32_T", "isend", "irecv", false},
		{"persistent",
			func(c *mpi.Comm) error {
				q := mpi.SsendInit(c, make([]int32, 4), 1, 7) // at: ssendinit
				defer q.Free()
				if err := q.Start(); err != nil {
					return err
				}
				_, err := q.Wait()
				return err
			}, func(c *mpi.Comm) error {
				q := mpi.RecvInit(c, make([]int64, 2), 0, 7) // at: recvinit
				defer q.Free()
				if err := q.Start(); err != nil {
					return err
				}
				_, err := q.Wait()
				return err
			}, mpi.ErrType, "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 2 x MPI_INT64_T", "ssendinit", "recvinit", false},
		{"replaced",
			func(c *mpi.Comm) error {
				_, err := mpi.SendrecvReplace(c, make([]int32, 4), 1, 7, mpi.ProcNull, 0) // at: replace
				return err
			}, func(c *mpi.Comm) error {
				m, _, err := c.Mprobe(0, 7)
				if err == nil {
					_, err = mpi.Mrecv(&m, make([]int64, 2)) // at: mrecv
				}
				return err
			}, mpi.ErrType, "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 2 x MPI_INT64_T", "replace", "mrecv", false},
		{"collectives",
			func(c *mpi.Comm) error {
				return mpi.Bcast(c, make([]int32, 4), 0) // at: bcast
			}, func(c *mpi.Comm) error {
				return start(c.Ibarrier()) // at: ibarrier
			}, mpi.ErrOther, "rank 0 calls Bcast, rank 1 calls Ibarrier", "bcast", "ibarrier", true},
		{"order",
			func(c *mpi.Comm) error {
				d, err := c.Dup() // at: dup
				if err == nil {
					d.Free()
				}
				return err
			}, func(c *mpi.Comm) error {
				return mpi.Reduce(c, make([]int32, 4), make([]int32, 4), mpi.Sum, 0) // at: reduce
			}, mpi.ErrOther, "rank 0 calls Dup, rank 1 calls Reduce", "dup", "reduce", true},
		{"counts",
			func(c *mpi.Comm) error {
				return mpi.Allreduce(c, make([]int32, 4), make([]int32, 4), mpi.Sum) // at: four
			}, func(c *mpi.Comm) error {
				return mpi.Allreduce(c, make([]int32, 3), make([]int32, 3), mpi.Sum) // at: three
			}, mpi.ErrCount, "rank 0 gives 4 x int32, rank 1 gives 3 x int32", "four", "three", true},
	} {
		t.Run(x.name, func(t *testing.T) {
			want := fmt.Sprintf("%s: rank 0 at %s, rank 1 at %s", x.text, at[x.send], at[x.recv])
			if x.name == "counts" { // of each pair, the lowest rank tells its finding
				want = fmt.Sprintf(": rank 0 at %s, rank 1 at %s", at[x.send], at[x.recv])
			}
			checked(t, 2, func(t testing.TB, c *mpi.Comm) {
				var err error
				if c.Rank() == 0 {
					err = x.zero(c)
					if !x.both {
						if err != nil {
							t.Errorf("rank 0: %v", err)
						}
						return
					}
				} else {
					err = x.one(c)
				}
				mismatched(t, x.name, err, x.class, want)
			})
		})
	}
}
