package mpi_test

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Messages on different communicators never match, even with wildcards.
func TestP2P05_ContextsAreSeparate(t *testing.T) {
	for _, n := range []int{2, 4} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			d, err := c.Dup()
			ok(t, err)
			half, err := c.Split(c.Rank()/2, -c.Rank()) // in reverse order
			ok(t, err)
			if half.Size() != 2 || half.Rank() != 1-c.Rank()%2 {
				t.Fatalf("split: rank %d of %d", half.Rank(), half.Size())
			}
			// Rank 0 sends to rank 1 on all three with one tag; rank 1 receives with wildcards
			// in another order.
			comms := []*mpi.Comm{c, d, half}
			for _, size := range []int{8, 9000, 70_000, 300_000} {
				if c.Rank()%2 == 0 {
					var rs []mpi.Request
					for i, k := range comms {
						dest := c.Rank() + 1
						if k == half {
							dest = 1 - half.Rank()
						}
						rs = append(rs, mpi.Isend(k, payload(size, uint64(i)), dest, 0))
					}
					ok(t, mpi.Waitall(rs, nil))
					continue
				}
				for _, i := range []int{1, 2, 0} {
					b := make([]byte, size)
					st, err := comms[i].Probe(mpi.AnySource, mpi.AnyTag)
					ok(t, err)
					source := c.Rank() - 1
					if i == 2 {
						source = 1 - half.Rank()
					}
					wantStatus(t, st, source, 0, size)
					st, err = mpi.Recv(comms[i], b, mpi.AnySource, mpi.AnyTag)
					ok(t, err)
					wantStatus(t, st, source, 0, size)
					wantPayload(t, b, size, uint64(i))
				}
			}
			// A receive on one does not match messages on the others.
			r := mpi.Irecv(d, make([]byte, 8), mpi.AnySource, mpi.AnyTag)
			peer := c.Rank() ^ 1
			_, err = mpi.Sendrecv(c, []byte{1}, peer, 0, make([]byte, 1), peer, 0)
			ok(t, err)
			_, err = mpi.Sendrecv(half, []byte{1}, 1-half.Rank(), 0, make([]byte, 1), mpi.AnySource, 0)
			ok(t, err)
			if _, done, err := r.Test(); done || err != nil {
				t.Fatalf("a receive on the duplicate was matched by other traffic (%v)", err)
			}
			ok(t, r.Cancel())
			_, err = r.Wait()
			ok(t, err)
			ok(t, d.Free())
			ok(t, half.Free())
		})
	}
}

func TestCOM04_Compare(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		dup, err := c.Dup()
		ok(t, err)
		turned, err := c.Split(0, -c.Rank())
		ok(t, err)
		part, err := c.Split(c.Rank()/2, 0)
		ok(t, err)
		none, err := c.Split(mpi.Undefined, 0)
		ok(t, err)
		if none != nil {
			t.Fatal("Split with Undefined gives a communicator")
		}
		for _, k := range []struct {
			a, b *mpi.Comm
			want mpi.Comparison
		}{
			{c, c, mpi.Ident}, {dup, dup, mpi.Ident}, {c.Self(), c.Self(), mpi.Ident},
			{c, dup, mpi.Congruent}, {dup, c, mpi.Congruent},
			{c, turned, mpi.Similar}, {turned, dup, mpi.Similar},
			{c, part, mpi.Unequal}, {part, c, mpi.Unequal}, {c, c.Self(), mpi.Unequal},
		} {
			got, err := k.a.Compare(k.b)
			ok(t, err)
			if got != k.want {
				t.Errorf("Compare of %q (%d) with %q (%d) is %d, want %d", k.a.Name(), k.a.Size(), k.b.Name(), k.b.Size(), got, k.want)
			}
		}
		_, err = c.Compare(nil)
		wantClass(t, err, mpi.ErrComm)
		for _, d := range []*mpi.Comm{dup, turned, part} {
			ok(t, d.Free())
		}
		_, err = c.Compare(dup)
		wantClass(t, err, mpi.ErrComm)
		_, err = dup.Compare(c)
		wantClass(t, err, mpi.ErrComm)
	})
}

func TestNAM01_Names(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		dup, err := c.Dup()
		ok(t, err)
		if c.Name() != "world" || c.Self().Name() != "self" || dup.Name() != "" {
			t.Fatalf("names are %q, %q and %q", c.Name(), c.Self().Name(), dup.Name())
		}
		long := strings.Repeat("n", 127)
		for _, name := range []string{"halo", "", long} {
			ok(t, dup.SetName(name))
			if dup.Name() != name {
				t.Fatalf("name is %q, want %q", dup.Name(), name)
			}
		}
		wantClass(t, dup.SetName(long+"n"), mpi.ErrArg)
		if dup.Name() != long {
			t.Fatal("a name that was refused has changed the name")
		}
		ok(t, c.SetName("everybody")) // only in this process, and in errors
		err = mpi.Send(c, []byte{1}, 9, 0)
		if want := "mpi: Send on everybody to 9 tag 0: rank 9 in a communicator of 2 (MPI_ERR_RANK)"; err.Error() != want {
			t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
		}
		ok(t, dup.Free())
	})
}

// Pending operations on a communicator that is freed complete.
func TestTRM07_FreeWithPendingCommunication(t *testing.T) {
	for _, size := range []int{0, 8, 9000, 70_000, 400_000} {
		mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
			d, err := c.Dup()
			ok(t, err)
			right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
			b, own := make([]byte, size), make([]byte, size)
			r := mpi.Irecv(d, b, left, 0)
			s := mpi.Issend(d, payload(size, uint64(c.Rank())), right, 0)
			p := mpi.RecvInit(d, own, c.Rank(), 1) // a persistent one, started
			ok(t, p.Start())
			q := mpi.Isend(d, payload(size, 7), c.Rank(), 1)
			ok(t, mpi.Send(d, []byte{5}, c.Rank(), 2))
			m, _, err := d.Mprobe(c.Rank(), 2) // and a message that a matched probe has taken
			ok(t, err)
			ok(t, d.Free())
			wantClass(t, mpi.Send(d, b, right, 0), mpi.ErrComm)
			wantClass(t, d.Free(), mpi.ErrComm)
			st, err := r.Wait()
			ok(t, err)
			wantStatus(t, st, left, 0, size)
			wantPayload(t, b, size, uint64(left))
			for _, r := range []*mpi.Request{&s, &q, &p} {
				_, err := r.Wait()
				ok(t, err)
			}
			wantPayload(t, own, size, 7)
			ok(t, p.Free())
			one := make([]byte, 1)
			_, err = mpi.Mrecv(&m, one)
			ok(t, err)
			if one[0] != 5 {
				t.Fatalf("received %d, want 5", one[0])
			}
		})
	}
}

// Free detaches the buffer of a communicator; the messages in it still arrive.
func TestTRM07_FreeWithAttachedBuffer(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for i := range 3 {
			d, err := c.Dup()
			ok(t, err)
			ok(t, d.AttachBuffer(nil))
			peer := 1 - c.Rank()
			b := make([]byte, 100_000)
			r := mpi.Irecv(d, b, peer, 0)
			ok(t, mpi.Bsend(d, payload(len(b), uint64(i)), peer, 0))
			ok(t, d.Free())
			_, err = r.Wait()
			ok(t, err)
			wantPayload(t, b, len(b), uint64(i))
		}
	})
}

// The first communicators cannot be freed.
func TestCOM04_WorldAndSelfStay(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		wantClass(t, c.Free(), mpi.ErrComm)
		self := c.Self()
		wantClass(t, self.Free(), mpi.ErrComm)
		if self.Rank() != 0 || self.Size() != 1 {
			t.Fatalf("self is rank %d of %d", self.Rank(), self.Size())
		}
		ok(t, c.Barrier())
	})
}
