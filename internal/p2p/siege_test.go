package p2p

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/inproc"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// The ranks of a siege.
const (
	victim = iota
	bystander
	enemy
	parties
)

// ctx is the context of user messages in these tests.
const ctx = 2

// siege is a job of three in which one process has the right to speak, and no
// engine: the test sends its frames by hand.
type siege struct {
	t       *testing.T
	engines [enemy]*Engine
	comms   [enemy]*comm.Comm
	enemy   fabric.Fabric
	heard   []wire.Header // what the enemy was sent
	down    bool          // the enemy was told that the victim is gone
	dead    bool          // the enemy has ended
	end     func()
}

// besieged runs attack over each fabric that gives control over single frames.
func besieged(t *testing.T, attack func(s *siege)) {
	t.Helper()
	for _, name := range []string{"inproc", "tcp"} {
		t.Run(name, func(t *testing.T) {
			s := &siege{t: t}
			s.open(name)
			attack(s)
			s.bystanderIsWell()
			if name == "tcp" && !s.dead && s.cause() != nil {
				s.until("the enemy's connection is closed", func() bool { return s.down })
			}
		})
	}
}

func (s *siege) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *siege) open(name string) {
	s.t.Helper()
	boots := boot.Memory(parties)
	var nodes [parties]*shm.Fabric
	var fars [parties]fabric.Fabric
	if name == "inproc" {
		w, err := inproc.New(parties)
		s.must(err)
		for i := range nodes {
			nodes[i], err = w.Open(i)
			s.must(err)
		}
		s.enemy = nodes[enemy]
		s.end = func() { w.Kill(enemy) }
	} else {
		var starts []func([]string) error
		var addrs []string
		for i := range fars {
			f, addr, err := tcp.Listen(tcp.Config{Job: boots[i].Job()})
			s.must(err)
			fars[i] = f
			starts, addrs = append(starts, f.Start), append(addrs, addr)
		}
		for _, start := range starts {
			s.must(start(addrs))
		}
		s.enemy = fars[enemy]
		s.end = func() { s.enemy.Close() }
	}
	s.t.Cleanup(func() { s.enemy.Close() })
	for i := range s.engines {
		p, err := proc.New(boots[i], nodes[i], fars[i], proc.Policy{Loads: 4, Yields: 50, Yield: runtime.Gosched})
		s.must(err)
		e := New(p)
		p.Start(e, e)
		s.t.Cleanup(func() { p.Stop() })
		s.engines[i], s.comms[i] = e, comm.New(p, ctx, i, []int32{victim, bystander, enemy})
	}
}

// Frame, Place, Placed and Down make the siege the enemy's sink.
func (s *siege) Frame(from int, h *wire.Header, _ []byte) {
	if from == victim {
		s.heard = append(s.heard, *h)
	}
}
func (s *siege) Place(int, *wire.Header) []byte { return nil }
func (s *siege) Placed(int, *wire.Header)       {}
func (s *siege) Down(peer int, _ error)         { s.down = s.down || peer == victim }

// kill ends the enemy.
func (s *siege) kill() {
	s.dead = true
	s.end()
}

// cause is why the victim takes the enemy for dead, nil if it does not.
func (s *siege) cause() error {
	p := s.engines[victim].p
	p.Lock()
	defer p.Unlock()
	return p.DownCause(enemy)
}

// until looks again and again for what others will make so.
func (s *siege) until(what string, so func() bool) {
	s.t.Helper()
	for end := time.Now().Add(60 * time.Second); !so(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			s.t.Fatalf("%s: has not happened\n%s", what, buf[:runtime.Stack(buf, true)])
		}
		s.enemy.Poll(s, -1)
	}
}

// speak has the enemy send one frame, and reports false if the victim has turned
// away before it was taken.
func (s *siege) speak(h wire.Header, payload []byte) bool {
	s.t.Helper()
	if h.Size == 0 {
		h.Size = uint32(len(payload))
	}
	down := false
	for tries := 0; ; tries++ {
		if s.enemy.Send(victim, &h, payload) {
			return true
		}
		if tries > 10 {
			s.until("the enemy's frame is taken", func() bool {
				down = s.cause() != nil
				return down || s.enemy.Send(victim, &h, payload)
			})
			return !down
		}
		s.enemy.Poll(s, -1)
	}
}

// hears waits until the victim has sent the enemy n frames of a kind, and
// returns the last of them.
func (s *siege) hears(kind wire.Kind, n int) (last wire.Header) {
	s.t.Helper()
	s.until("the enemy hears from the victim", func() bool {
		seen := 0
		for _, h := range s.heard {
			if h.Kind == kind {
				seen++
				last = h
			}
		}
		return seen >= n
	})
	return last
}

// request starts something at the victim.
func (s *siege) request(start func(e *Engine, c *comm.Comm) *Request) *Request {
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	return start(e, s.comms[victim])
}

func (s *siege) irecv(buf []byte, source int, tag int32) *Request {
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.irecv(c, ctx, buf, source, tag) })
}

func (s *siege) isend(mode Mode, buf []byte, dest int, tag int32) *Request {
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.isend(c, ctx, mode, buf, dest, tag) })
}

// done reports whether a request of the victim is complete.
func (s *siege) done(r *Request) bool {
	p := s.engines[victim].p
	p.Lock()
	defer p.Unlock()
	return r.Done()
}

// wait ends a request of the victim.
func (s *siege) wait(r *Request) Status {
	s.t.Helper()
	s.until("the victim's request is complete", func() bool { return s.done(r) })
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	st := r.Status
	e.Take(r)
	return st
}

// failed expects that a request ends because the enemy has failed.
func (s *siege) failed(r *Request, why string) {
	s.t.Helper()
	st := s.wait(r)
	var err *class.Error
	if !errors.As(st.Err, &err) || err.Class != class.ProcFailed || !strings.Contains(err.Text, "rank 2 has failed") || !strings.Contains(err.Text, why) {
		s.t.Errorf("an operation with the enemy ends with %v, want class ProcFailed and %q", st.Err, why)
	}
}

// takenDown runs an attack that the victim is to answer by taking the enemy
// down: all that goes on with it fails and says why.
func (s *siege) takenDown(why string, attack func()) {
	s.t.Helper()
	e := s.engines[victim]
	receive := s.irecv(make([]byte, 8), enemy, 77)
	wild := s.irecv(make([]byte, 8), AnySource, 78)
	long := s.isend(Standard, make([]byte, 400_000), enemy, 1)
	sync := s.isend(Synchronous, make([]byte, 8), enemy, 1)
	s.hears(wire.EagerSync, 1)
	attack()
	s.until("the victim takes the enemy down", func() bool { return s.cause() != nil })
	for _, r := range []*Request{receive, wild, long, sync} {
		s.failed(r, why)
	}
	s.failed(s.isend(Standard, make([]byte, 8), enemy, 1), why)
	s.bounded()
	// What it had sent within the rules can still be received.
	e.p.Lock()
	for n := range e.table.Messages() {
		if n.Src == enemy && (!n.Owner.eager || n.Owner.filling) {
			s.t.Errorf("a message of %d bytes whose payload will never come is still there", n.Owner.size)
		}
	}
	e.p.Unlock()
}

// survives expects that the enemy is still a peer like any other.
func (s *siege) survives() {
	s.t.Helper()
	got := make([]byte, 3)
	r := s.irecv(got, enemy, 99)
	s.speak(wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: 99}, []byte{1, 2, 3})
	if st := s.wait(r); st.Err != nil || st.Bytes != 3 || !bytes.Equal(got, []byte{1, 2, 3}) {
		s.t.Errorf("a message of the enemy that is right: %+v, % x", st, got)
	}
	heard := len(s.heard)
	r = s.isend(Synchronous, []byte{7}, enemy, 5)
	s.until("the enemy hears of the send", func() bool { return len(s.heard) > heard && s.heard[len(s.heard)-1].Tag == 5 })
	s.speak(wire.Header{Kind: wire.Ack, Name: s.heard[len(s.heard)-1].Name}, nil)
	if st := s.wait(r); st.Err != nil {
		s.t.Errorf("a send to the enemy that answers right: %v", st.Err)
	}
	s.bounded()
}

// bounded looks at what the victim holds of the enemy.
func (s *siege) bounded() {
	s.t.Helper()
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	held, free, asking := 0, 0, 0
	for n := range e.table.Messages() {
		switch m := n.Owner; {
		case m.node.Src != enemy:
		case !m.eager:
			asking++
		case m.free:
			asking++
			free += len(m.data)
		default:
			held += len(m.data) + frameCost
		}
	}
	if most := e.limit + window/frameCost; held > window || asking > most || free > most*tiny {
		s.t.Errorf("the victim holds %d bytes within credit, %d without, and %d messages that wait for an answer", held, free, asking)
	}
}

// receiveBy is a blocking receive of the victim or the bystander.
func receiveBy(e *Engine, c *comm.Comm, buf []byte, source int, tag int32) Status {
	e.p.Lock()
	defer e.p.Unlock()
	r := e.irecv(c, ctx, buf, source, tag)
	e.Wait(r)
	st := r.Status
	e.Take(r)
	return st
}

// bystanderIsWell exchanges messages of every protocol with the third process.
func (s *siege) bystanderIsWell() {
	s.t.Helper()
	for _, n := range []int{0, 8, 5000, 60_000, 300_000} {
		out, in := make([]byte, n), make([]byte, n)
		for i := range out {
			out[i] = byte(i*7 + n)
		}
		echo := make(chan error, 1)
		go func() {
			e, c := s.engines[bystander], s.comms[bystander]
			b := make([]byte, n)
			if st := receiveBy(e, c, b, victim, 3); st.Err != nil {
				echo <- st.Err
				return
			}
			echo <- e.Send(c, Standard, dtype.Mixed, b, victim, 4)
		}()
		e, c := s.engines[victim], s.comms[victim]
		if err := e.Send(c, Standard, dtype.Mixed, out, bystander, 3); err != nil {
			s.t.Fatalf("send of %d bytes to the bystander: %v", n, err)
		}
		if st := receiveBy(e, c, in, bystander, 4); st.Err != nil || !bytes.Equal(in, out) {
			s.t.Fatalf("%d bytes from the bystander: %v", n, st.Err)
		}
		if err := <-echo; err != nil {
			s.t.Fatalf("the bystander: %v", err)
		}
	}
}
