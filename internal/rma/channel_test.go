package rma

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// QV-40: a view of thread scope has no channel to a target before its first operation there, also
// when it has flushed, and none to targets that it does not access. Views of process scope have
// only the main channel.
func TestQV40_ChannelsAreMadeAtTheFirstAccess(t *testing.T) {
	p := newPair(t, 1, 64)
	tg := to(p.w)
	own := func() (n int) {
		for c := range tg.Channels {
			if c.Number() >= link.FirstNumber {
				n++
			}
		}
		return n
	}
	put := func(v *View, at int64) {
		issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of([]byte{1}), Disp: at}, false)
		p.until("the flush", flushBy(p, v).Request.Done)
	}
	var views []*View
	for range 5 {
		views = append(views, viewOf(p.w, Options{Thread: true}))
	}
	whole := viewOf(p.w, Options{})
	for _, v := range views {
		p.until("a flush of nothing", flushBy(p, v).Request.Done)
	}
	if n := own(); n != 0 || len(p.f.take()) != 0 {
		t.Fatalf("%d channels, or some frames, are there before the first access", n)
	}
	put(whole, 0)
	if own() != 0 {
		t.Fatalf("a view of process scope has made %d channels", own())
	}
	for i, k := range []int{3, 0, 3, 4, 0} {
		put(views[k], int64(i+1))
		if n, want := own(), []int{1, 2, 2, 3, 3}[i]; n != want {
			t.Fatalf("%d channels after access %d, want %d", n, i, want)
		}
		if c := tg.Numbered(views[k].number); c == nil || c.Number() != views[k].number {
			t.Fatalf("view %d has no channel after its access", k)
		}
	}
	for _, k := range []int{1, 2} {
		if tg.Numbered(views[k].number) != nil {
			t.Errorf("view %d has a channel, and has accessed nothing", k)
		}
	}
	if n := arrived(p.mem); n != 6 {
		t.Errorf("%d bytes are there, want 6", n)
	}
}

// QV-40, QV-02, QV-03: with long puts under way by the channels of three threads, the flush of one
// thread covers its own put only, that of a thread without operations covers nothing, and that of
// the process covers all of them.
func TestQV40_ProcessFlushesGoOverAllChannels(t *testing.T) {
	const threads, size = 3, 16 * link.QueueTurn
	for seed := range uint64(2) {
		for flusher := range threads + 2 { // a thread with a put, the one without, and the process
			p := newPair(t, seed, threads*size)
			var views []*View
			for range threads + 1 {
				views = append(views, viewOf(p.w, Options{Thread: true}))
			}
			views = append(views, viewOf(p.w, Options{}))
			there := func(k int) int { return arrived(p.mem[k*size : (k+1)*size]) }
			for k := range threads {
				length := size
				if k == flusher {
					length = 2 * link.QueueTurn // soon complete, so that those of others are still under way
				}
				issueBy(p.e, views[k], operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{byte(k + 1)}, length)), Disp: int64(k * size)}, false)
			}
			f := flushBy(p, views[flusher])
			if none := flusher == threads; none != f.Request.Done() {
				t.Fatalf("seed %d: the flush of view %d is over at once: %v", seed, flusher, !none)
			}
			p.until("the flush", f.Request.Done)
			for k := range threads {
				switch n := there(k); {
				case k == flusher && n < 2*link.QueueTurn:
					t.Errorf("seed %d: the flush of thread %d is over when %d of its %d bytes are there", seed, k, n, 2*link.QueueTurn)
				case flusher > threads && n < size:
					t.Errorf("seed %d: the flush of the process is over when %d of the %d bytes of thread %d are there", seed, n, size, k)
				case k != flusher && flusher <= threads && n >= size/2:
					t.Errorf("seed %d: the flush of thread %d is over when %d of the %d bytes of thread %d are there", seed, flusher, n, size, k)
				}
			}
		}
	}
}

// channelsOf returns how many channels a target has.
func channelsOf(t *target) (n int) {
	for range t.Channels {
		n++
	}
	return n
}
