package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Disconnect returns when pending communication, of any length, with other ranks and with
// itself, is complete: the data is there before the program waits for the requests.
func TestCOM04_Disconnect(t *testing.T) { plainAndChecking(t, disconnects) }

// plainAndChecking runs a test without and in checking mode, where what a receive brings lies elsewhere until
// the program knows of it.
func plainAndChecking(t *testing.T, test func(t *testing.T)) {
	for _, check := range []string{"0", "1"} {
		t.Run("HALO_CHECK="+check, func(t *testing.T) {
			t.Setenv("HALO_CHECK", check)
			test(t)
		})
	}
}

func disconnects(t *testing.T) {
	for _, size := range []int{0, 8, 9000, 70_000, 400_000} {
		mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
			d, err := c.Dup()
			ok(t, err)
			right, left, me := (c.Rank()+1)%3, (c.Rank()+2)%3, c.Rank()
			b, own := make([]byte, size), make([]byte, size)
			rs := []mpi.Request{
				mpi.Irecv(d, b, left, 0),
				mpi.Issend(d, payload(size, uint64(me)), right, 0),
				mpi.Issend(d, payload(size, 7), me, 1),
				mpi.Irecv(d, own, me, 1),
			}
			e, r := d.Idup()
			ok(t, d.Disconnect())
			wantPayload(t, b, size, uint64(left))
			wantPayload(t, own, size, 7)
			if err := e.Barrier(); err != nil { // the communicator of Idup can be used
				t.Error(err)
			}
			ok(t, mpi.Waitall(append(rs, r), nil))
			wantClass(t, d.Disconnect(), mpi.ErrComm)
			ok(t, e.Disconnect())
			wantClass(t, c.Disconnect(), mpi.ErrComm)
		})
	}
}

// The peer computes for a while before it answers a pending receive: Disconnect waits for that,
// but not for communication on other communicators.
func TestCOM04_DisconnectWaitsForItsOwnOnly(t *testing.T) { plainAndChecking(t, disconnectWaits) }

func disconnectWaits(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Dup()
		ok(t, err)
		if c.Rank() == 0 {
			r := mpi.Irecv(c, []byte{0}, 1, 5) // on another communicator, answered later
			b := []byte{0}
			mpi.Irecv(d, b, 1, 0)
			ok(t, mpi.Send(c, []byte{0}, 1, 1))
			ok(t, d.Disconnect())
			if b[0] != 9 {
				t.Error("Disconnect did not wait for a receive")
			}
			ok(t, mpi.Send(c, []byte{0}, 1, 2))
			_, err := r.Wait()
			ok(t, err)
			return
		}
		_, err = mpi.Recv(c, []byte{0}, 0, 1)
		ok(t, err)
		for range 1000 { // some time
			_, _, err := c.Iprobe(0, 2)
			ok(t, err)
		}
		ok(t, mpi.Send(d, []byte{9}, 0, 0))
		ok(t, d.Disconnect())
		_, err = mpi.Recv(c, []byte{0}, 0, 2)
		ok(t, err)
		ok(t, mpi.Send(c, []byte{0}, 0, 5))
	})
}
