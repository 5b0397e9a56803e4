package p2p

import (
	"testing"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// A short send that finds no room in the ring has sent nothing and costs no credit. The sends before it have a
// request that is complete, and a message each, which Recv takes in their order although it was unexpected.
func TestShortSendsUntilTheRingIsFull(t *testing.T) {
	e := opened(t, false)
	c := [2]*comm.Comm{comm.New(e[0].p, 40, 0, []int32{0, 1}), comm.New(e[1].p, 40, 1, []int32{0, 1})}
	if err := e[0].Send(c[0], Standard, 0, nil, 1, 1); err != nil { // which opens the ring
		t.Fatal(err)
	}
	var s Status
	e[1].Recv(c[1], nil, 0, 1, &s)
	q := e[0].peers.At(1)
	full := q.Credit

	e[1].p.Lock() // so that nobody takes frames from the ring
	var rs []*Request
	for i := uint16(0); ; i++ {
		before := q.Credit
		r := e[0].IsendShort(c[0], 0, []byte{byte(i), byte(i >> 8), 2, 3}, 1, 2)
		if r == nil {
			if q.Credit != before {
				t.Errorf("a send that was refused costs %d bytes of credit", before-q.Credit)
			}
			break
		}
		if !r.Done() || r.sequence != uint64(i)+1 || q.Credit != before-4-messageOverhead {
			t.Errorf("send %d: complete %t, number %d, %d bytes of credit", i, r.Done(), r.sequence, before-q.Credit)
		}
		rs = append(rs, r)
	}
	e[0].p.Lock()
	n := uint16(len(rs))
	rs = append(rs, e[0].Isend(&Envelope{Comm: c[0], Ctx: 40, Peer: 1, Tag: 2}, mem.Of([]byte{byte(n), byte(n >> 8), 2, 3})))
	e[0].p.Unlock()
	e[1].p.Unlock()

	for i := range n + 1 {
		buf := make([]byte, 8)
		e[1].Recv(c[1], buf, 0, 2, &s)
		if s.Err != nil || s.Bytes != 4 || s.Source != 0 || s.Tag != 2 || uint16(buf[0])|uint16(buf[1])<<8 != i {
			t.Fatalf("message %d is that of send %v: %+v", i, buf, s)
		}
	}
	e[0].p.Lock()
	for _, r := range rs {
		e[0].Wait(r)
		e[0].Free(r)
	}
	e[0].p.Unlock()
	if got := full - q.Credit; got != (int(n)+1)*(4+messageOverhead) {
		t.Errorf("%d sends cost %d bytes of credit", int(n)+1, got)
	}
}
