package proc_test

import (
	"errors"
	"math/bits"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// Code in C finds in the record of a process which peers have sent, which have made offers, that one has failed, and whether
// there are sockets.
func TestArrivalsAreShared(t *testing.T) {
	if sys.Race {
		t.Skip("under the race detector no code in C uses records")
	}
	const n = 3
	h := nodetest.New(t, n)
	policy := proc.Policy{Loads: 4, Yields: shortly, Yield: runtime.Gosched, Threads: true}
	var p [n]*proc.Proc
	for i := range n {
		opened, err := proc.New(boot.Memory(n)[i], h.Open(t, i), nil, policy)
		if err != nil {
			t.Fatal(err)
		}
		p[i] = opened
	}
	rec, peers := p[0].Shared()
	w := &rec.Watch
	bitmap := func(which int) int {
		words := unsafe.Slice((*atomic.Uint64)(w.Senders), 2*w.Words)
		all := 0
		for i := range int(w.Words) {
			all += bits.OnesCount64(words[which*int(w.Words)+i].Load())
		}
		return all
	}
	check := func(what string, senders, offering int, losing bool, elsewhere uint32) {
		t.Helper()
		if s, o := bitmap(0), bitmap(1); s != senders || o != offering || w.Losing.Load() != losing || w.Elsewhere.Load() != elsewhere {
			t.Errorf("%s: %d have sent, %d have made offers, one has failed: %v, elsewhere %d", what, s, o, w.Losing.Load(), w.Elsewhere.Load())
		}
	}
	if w.Peers != peers || w.Words != 1 {
		t.Errorf("the records of %d peers at %p, want those at %p", w.Words, w.Peers, peers)
	}
	check("first", 0, 0, false, 0)
	for i := 1; i < n; i++ {
		p[i].Lock()
		p[i].Queue(0, &wire.Header{Kind: wire.User}, nil, nil)
		p[i].Unlock()
		check("a frame was sent", i, 0, false, 0)
	}
	p[1].Node().Offer(0)
	check("an offer was made", 2, 1, false, 0)
	p[0].Lose(2, errors.New("failed"))
	check("a process has failed", 2, 1, true, 0)
	q, err := proc.New(boot.Memory(n)[0], p[0].Node(), &early{closed: make(chan struct{})}, policy)
	if err != nil {
		t.Fatal(err)
	}
	if rec, _ := q.Shared(); rec.Watch.Elsewhere.Load() == 0 {
		t.Error("nothing comes through the sockets of a process that has some")
	}
}
