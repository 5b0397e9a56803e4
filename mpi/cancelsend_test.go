package mpi_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// cancellable starts a send that may be cancelled: in each mode, as a single send or as a
// persistent request.
var cancellable = []struct {
	name string
	send func(*mpi.Comm, []byte, int, int) mpi.Request
}{
	{"Isend", mpi.Isend[byte]}, {"Issend", mpi.Issend[byte]}, {"Ibsend", mpi.Ibsend[byte]},
	{"SendInit", mpi.SendInit[byte]}, {"SsendInit", mpi.SsendInit[byte]}, {"BsendInit", mpi.BsendInit[byte]},
}

// startCancellable starts a send by cancellable[way].
func startCancellable(t testing.TB, way int, c *mpi.Comm, b []byte, dest, tag int) mpi.Request {
	q := cancellable[way].send(c, b, dest, tag)
	if way >= 3 {
		ok(t, q.Start())
	}
	return q
}

// freeCancellable frees a persistent request after a wait for it.
func freeCancellable(t testing.TB, q *mpi.Request) {
	if !q.IsNull() {
		ok(t, q.Free())
	}
}

// A send that no receive has matched is cancelled, and the wait for it completes while the other
// rank is in no call. The next receive gets what is sent afterwards.
func TestP2P15_CancelOfSends(t *testing.T) {
	for _, size := range []int{0, 8, 200, 9000, 70_000, 1_000_000} {
		turn := make(chan struct{}, 1) // signals between the ranks without MPI
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			ok(t, mpi.BufferAttach(c, nil))
			for _, dest := range []int{1, 0} {
				for way, m := range cancellable {
					b := make([]byte, size)
					if c.Rank() == 0 {
						q := startCancellable(t, way, c, payload(size, 1), dest, 5)
						ok(t, q.Cancel())
						st, err := q.Wait()
						ok(t, err)
						if !st.Cancelled() {
							t.Fatalf("%s of %d bytes to %d was not cancelled", m.name, size, dest)
						}
						freeCancellable(t, &q)
						next := mpi.Isend(c, payload(size, 2), dest, 5)
						if dest == 0 {
							_, err = mpi.Recv(c, b, 0, 5)
							ok(t, err)
							wantPayload(t, b, size, 2)
						} else {
							turn <- struct{}{}
						}
						_, err = next.Wait()
						ok(t, err)
					} else if dest == 1 {
						<-turn
						_, err := mpi.Recv(c, b, 0, 5)
						ok(t, err)
						wantPayload(t, b, size, 2)
					}
				}
			}
			ok(t, c.Barrier())
			_, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag)
			ok(t, err)
			if found {
				t.Fatal("a cancelled message is still there")
			}
			_, err = mpi.BufferDetach(c) // no message remains in the buffer
			ok(t, err)
		})
	}
}

// The same for sends without credit, and for more sends than are asked about at the same time.
func TestP2P15_CancelOfManySends(t *testing.T) {
	turn := make(chan struct{}, 1)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const n = 2500
		if c.Rank() == 1 {
			<-turn
			return
		}
		for _, size := range []int{100, 3000} {
			qs := make([]mpi.Request, n)
			for i := range qs {
				qs[i] = mpi.Isend(c, payload(size, 1), 1, i%7)
			}
			for i := range qs {
				ok(t, qs[i].Cancel())
			}
			sts := make([]mpi.Status, n)
			ok(t, mpi.Waitall(qs, sts))
			for i := range sts {
				if !sts[i].Cancelled() {
					t.Fatalf("send %d of %d bytes was not cancelled", i, size)
				}
			}
		}
		turn <- struct{}{}
	})
}

// Cancels race with matches: each message either is received or its send is cancelled. Messages
// that are received arrive in order.
func TestP2P15_CancelOfSendsRaces(t *testing.T) {
	for seed := range uint64(4) {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			r := rand.New(rand.NewPCG(seed, uint64(c.Rank())))
			if c.Rank() == 0 {
				cancelSome(t, c, r)
			} else {
				receiveRest(t, c, r)
			}
		})
	}
}

const cancelRaceEnd = 99 // tag of the last message, which lists the cancelled ones

func cancelSome(t testing.TB, c *mpi.Comm, r *rand.Rand) {
	ok(t, mpi.BufferAttach(c, nil))
	var cancelled []int32
	type started struct {
		id   int32
		q    mpi.Request
		want bool
	}
	var open []started
	settle := func() {
		for i := range open {
			s := &open[i]
			if s.want {
				ok(t, s.q.Cancel())
			}
		}
		r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		for i := range open {
			s := &open[i]
			st, err := s.q.Wait()
			ok(t, err)
			if st.Cancelled() {
				cancelled = append(cancelled, s.id)
			}
			freeCancellable(t, &s.q)
		}
		open = open[:0]
	}
	for id := range int32(400) {
		b := make([]byte, max(4, []int{4, 200, 3000, 20_000, 70_000}[r.IntN(5)]))
		binary.LittleEndian.PutUint32(b, uint32(id))
		s := started{id, startCancellable(t, r.IntN(len(cancellable)), c, b, 1, r.IntN(3)), r.IntN(3) > 0}
		if s.want && r.IntN(2) == 0 {
			s.want = false
			ok(t, s.q.Cancel())
		}
		open = append(open, s)
		if r.IntN(6) == 0 {
			settle()
		}
	}
	settle()
	ok(t, mpi.Ssend(c, cancelled, 1, cancelRaceEnd))
	_, err := mpi.BufferDetach(c)
	ok(t, err)
}

func receiveRest(t testing.TB, c *mpi.Comm, r *rand.Rand) {
	var got []int32
	b := make([]byte, 70_000)
	for {
		var st mpi.Status
		var err error
		switch r.IntN(3) {
		case 0:
			st, err = mpi.Recv(c, b, 0, mpi.AnyTag)
		case 1:
			var m mpi.Message
			m, _, err = c.Mprobe(0, mpi.AnyTag)
			ok(t, err)
			st, err = mpi.Mrecv(&m, b)
		case 2:
			q := mpi.Irecv(c, b, 0, mpi.AnyTag)
			for done := false; !done; {
				st, done, err = q.Test()
			}
		}
		ok(t, err)
		if st.Tag != cancelRaceEnd {
			got = append(got, int32(binary.LittleEndian.Uint32(b)))
			continue
		}
		if !slices.IsSorted(got) {
			t.Fatal("messages came in another order: ", got)
		}
		gone := make([]int32, st.Bytes()/4)
		for i := range gone {
			gone[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
		t.Logf("%d received, %d cancelled", len(got), len(gone))
		all := slices.Concat(got, gone)
		slices.Sort(all)
		for i := range all {
			if all[i] != int32(i) || len(all) != 400 {
				t.Fatal(fmt.Sprintf("of 400 messages %d were received and %d cancelled: ", len(got), len(gone)), all)
			}
		}
		return
	}
}
