package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// history is the part of one member in a random program that all members run. The program has
// collectives of all kinds and forms and messages, on several communicators at once. Each member
// waits at random points of its own.
//
// The program has no deadlock: all members start all operations in the same order, except
// batches of persistent collectives. The members start the collectives of a batch one right
// after the other, each member in a random order of its own.
type history struct {
	w       *world.World
	own     *rand.Rand // a different one at each member
	pending []outstanding
}

// outstanding is an operation that has been started.
type outstanding struct {
	what    string
	r       *p2p.Request
	correct func() error
}

func (h *history) started(what string, r *p2p.Request, correct func() error) {
	h.pending = append(h.pending, outstanding{what, r, correct})
}

// wait completes one of the operations, and checks its result.
func (h *history) wait() error {
	i, last := h.own.IntN(len(h.pending)), len(h.pending)-1
	o := h.pending[i]
	h.pending[i] = h.pending[last]
	h.pending = h.pending[:last]
	if err := finish(h.w, o.r); err != nil {
		return fmt.Errorf("%s: %w", o.what, err)
	}
	return o.correct()
}

// messages sends a message round a ring of the members of c.
func (h *history) messages(c *comm.Comm, g *rand.Rand, step int) {
	n, far := c.Size(), g.IntN(c.Size())
	size := []int{0, 8, 500, 9000, 70_000, 300_000}[g.IntN(6)]
	to, from := (c.Rank+far)%n, (c.Rank-far+n)%n
	bytesOf := func(r int) []byte {
		b := make([]byte, size)
		fill(b, rand.New(rand.NewPCG(uint64(step), uint64(r))))
		return b
	}
	in, p := make([]byte, size), h.w.P2P
	what := fmt.Sprintf("message of %d bytes in step %d", size, step)
	h.w.Proc.Lock()
	recv := p.Irecv(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: from, Tag: int32(step)}, mem.Of(in))
	send := p.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: to, Tag: int32(step)}, mem.Of(bytesOf(c.Rank)))
	h.w.Proc.Unlock()
	h.started(what, send, func() error { return nil })
	h.started(what, recv, func() error {
		if !bytes.Equal(in, bytesOf(from)) {
			return fmt.Errorf("%s is wrong", what)
		}
		return nil
	})
}

// step does one step of the program; g is the same at all members of c.
func (h *history) step(c *comm.Comm, g *rand.Rand, step int) error {
	id := uint64(step) * 100
	switch g.IntN(5) {
	case 0:
		h.messages(c, g, step)
	case 1:
		return newTask(c, coll.Kind(g.IntN(coll.Kinds)), g, 5000).do(h.w, id, 0)
	case 2:
		var batch []*task
		var requests []*p2p.Request
		for i := range 3 {
			t := newTask(c, coll.Kind(g.IntN(coll.Kinds)), g, 5000)
			t.load(id + uint64(i))
			r, err := t.start(h.w, coll.Persistent)
			if err != nil {
				return err
			}
			batch, requests = append(batch, t), append(requests, r)
		}
		for _, i := range h.own.Perm(len(batch)) {
			restart(h.w, requests[i])
			h.started(batch[i].String(), requests[i], func() error { return batch[i].verify(id + uint64(i)) })
		}
	default:
		t := newTask(c, coll.Kind(g.IntN(coll.Kinds)), g, 5000)
		t.load(id)
		r, err := t.start(h.w, coll.Nonblocking)
		if err != nil {
			return err
		}
		h.started(t.String(), r, func() error { return t.verify(id) })
	}
	return nil
}

func (h *history) run(seed uint64, steps int) error {
	w := h.w
	twin, err := w.Coll.Dup(w.Comm)
	if err != nil {
		return err
	}
	half, err := w.Coll.Split(w.Comm, w.Comm.Rank%2, -w.Comm.Rank)
	if err != nil {
		return err
	}
	comms := []*comm.Comm{w.Comm, twin, half}
	for step := range steps {
		g := rand.New(rand.NewPCG(seed, uint64(step)))
		if err := h.step(comms[g.IntN(len(comms))], g, step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		for len(h.pending) > 0 && h.own.IntN(2) == 0 {
			if err := h.wait(); err != nil {
				return fmt.Errorf("after step %d: %w", step, err)
			}
		}
	}
	for len(h.pending) > 0 {
		if err := h.wait(); err != nil {
			return err
		}
	}
	w.Coll.Free(half)
	w.Coll.Free(twin)
	return nil
}

// 6.12, 6.14, COL-15: collectives of all kinds and forms and messages, mixed at random on
// several communicators, give the same as serial computations, in whatever order the members
// complete them.
func TestRandomHistories(t *testing.T) {
	histories, steps := 12, 60
	if testrun.Race {
		histories, steps = 4, 40
	}
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for i := range histories {
			seed := uint64(i)
			table := auto()
			g := rand.New(rand.NewPCG(seed, 3))
			for k := range coll.Kinds { // algorithms in any combination
				if list := choice.Algorithms(coll.Kind(k)); g.IntN(2) == 0 {
					table.Force(list[g.IntN(len(list))])
				}
			}
			n := 2 + i%5
			run(t, fabric, n, table, func(w *world.World) error {
				h := &history{w: w, own: rand.New(rand.NewPCG(seed, 1000+uint64(w.Comm.Rank)))}
				if err := h.run(seed, steps); err != nil {
					return fmt.Errorf("seed %d over %s: %w", seed, fabric, err)
				}
				return nil
			})
		}
	}
}
