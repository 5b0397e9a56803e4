package part

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// A process that does nothing but send partitions directly polls in each round, so that it counts as
// one that calls.
func TestXPRT01_StartsPoll(t *testing.T) {
	v := newVictim(t)
	out, in := []byte{1, 2}, make([]byte, 2)
	s, err := v.SendInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 0, Tag: 5}, mem.Of(out), 2)
	if err != nil {
		t.Fatal(err)
	}
	r := v.RecvInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 0, Tag: 5}, mem.Of(in), 1)
	for round := range 3 {
		v.messages.Start(r)
		before := v.fabric.polls
		v.messages.Start(s)
		if v.fabric.polls == before {
			t.Fatalf("round %d: the start of the send has not polled", round)
		}
		v.p.Unlock()
		if err := s.Starter().(*Send).Ready(0, 2); err != nil {
			t.Fatal(err)
		}
		v.p.Lock()
		for _, q := range []*p2p.Request{s, r} {
			if !q.Done() {
				t.Fatalf("round %d is not complete", round)
			}
			if err := v.messages.Take(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(in, out) {
		t.Errorf("received %v", in)
	}
}
