package p2p

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// The ranks of an attackTest.
const (
	victim = iota
	bystander
	attacker
	processes
)

// ctx is the context of user messages in these tests.
const ctx = 2

// attackTest is a job of three processes. The attacker is a member with a fabric but without
// an engine: the test sends its frames one by one.
type attackTest struct {
	t        *testing.T
	engines  [attacker]*Engine
	comms    [attacker]*comm.Comm
	fab      fabric.Fabric
	received []wire.Header // by the attacker
	toldDown bool          // the attacker's fabric has reported the victim as failed
	killed   bool          // the attacker has ended
	end      func()
}

// underAttack runs attack over each fabric that gives control over single frames.
func underAttack(t *testing.T, attack func(s *attackTest)) {
	t.Helper()
	for _, name := range []string{"inproc", "tcp"} {
		t.Run(name, func(t *testing.T) {
			s := &attackTest{t: t}
			s.open(name)
			attack(s)
			s.checkBystander()
			if name == "tcp" && !s.killed && s.cause() != nil {
				s.until("the attacker's connection is closed", func() bool { return s.toldDown })
			}
		})
	}
}

func (s *attackTest) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *attackTest) open(name string) {
	s.t.Helper()
	boots := boot.Memory(processes)
	var nodes [processes]*node.Node
	var fars [processes]fabric.Fabric
	if name == "inproc" {
		w, err := inproc.New(processes)
		s.must(err)
		for i := range nodes {
			nodes[i], err = w.Open(i)
			s.must(err)
		}
		s.fab = shm.New(nodes[attacker])
		s.end = func() { w.Kill(attacker) }
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
		s.fab = fars[attacker]
		s.end = func() { s.fab.Close() }
	}
	s.t.Cleanup(func() { s.fab.Close() })
	for i := range s.engines {
		p, err := proc.New(boots[i], nodes[i], fars[i], proc.Policy{Loads: 4, Yields: 50, Yield: runtime.Gosched})
		s.must(err)
		e := New(p)
		p.Start(e, e)
		s.t.Cleanup(func() { p.Stop() })
		s.engines[i], s.comms[i] = e, comm.New(p, ctx, i, []int32{victim, bystander, attacker})
	}
}

// Frame, Place, Placed and Down make the attackTest the attacker's sink.
func (s *attackTest) Frame(from int, h *wire.Header, _ []byte) {
	if from == victim {
		s.received = append(s.received, *h)
	}
}
func (s *attackTest) Place(int, *wire.Header) []byte { return nil }
func (s *attackTest) Placed(int, *wire.Header)       {}
func (s *attackTest) Down(peer int, _ error)         { s.toldDown = s.toldDown || peer == victim }

// kill ends the attacker.
func (s *attackTest) kill() {
	s.killed = true
	s.end()
}

// cause is why the victim regards the attacker as failed, nil if it does not.
func (s *attackTest) cause() error {
	p := s.engines[victim].p
	p.Lock()
	defer p.Unlock()
	return p.DownCause(attacker)
}

// until polls as the attacker until so returns true.
func (s *attackTest) until(what string, so func() bool) {
	s.t.Helper()
	testrun.Until(s.t, what, func() bool {
		s.fab.Poll(s, -1)
		return so()
	})
}

// send sends one frame as the attacker. It reports false if the victim has taken the
// attacker down before the frame was accepted.
func (s *attackTest) send(h wire.Header, payload []byte) bool {
	s.t.Helper()
	if h.Size == 0 {
		h.Size = uint32(len(payload))
	}
	down := false
	for tries := 0; ; tries++ {
		if s.fab.Send(victim, &h, payload) {
			return true
		}
		if tries > 10 {
			s.until("the attacker's frame is taken", func() bool {
				down = s.cause() != nil
				return down || s.fab.Send(victim, &h, payload)
			})
			return !down
		}
		s.fab.Poll(s, -1)
	}
}

// awaitFrames waits until the attacker has received n frames of a kind from the victim, and
// returns the last of them.
func (s *attackTest) awaitFrames(kind wire.Kind, n int) (last wire.Header) {
	s.t.Helper()
	s.until("the attacker receives frames of the victim", func() bool {
		seen := 0
		for _, h := range s.received {
			if h.Kind == kind {
				seen++
				last = h
			}
		}
		return seen >= n
	})
	return last
}

// request starts an operation of the victim.
func (s *attackTest) request(start func(e *Engine, c *comm.Comm) *Request) *Request {
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	return start(e, s.comms[victim])
}

func (s *attackTest) irecv(buf []byte, source int, tag int32) *Request {
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.irecv(c, ctx, buf, source, tag) })
}

func (s *attackTest) isend(mode Mode, buf []byte, dest int, tag int32) *Request {
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.isend(c, ctx, mode, buf, dest, tag) })
}

// done reports whether a request of the victim is complete.
func (s *attackTest) done(r *Request) bool {
	p := s.engines[victim].p
	p.Lock()
	defer p.Unlock()
	return r.Done()
}

// wait waits for a request of the victim, and takes it.
func (s *attackTest) wait(r *Request) Status {
	s.t.Helper()
	s.until("the victim's request is complete", func() bool { return s.done(r) })
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	st := r.Status
	e.Take(r)
	return st
}

// expectFailed expects that a request ends because the attacker has failed.
func (s *attackTest) expectFailed(r *Request, why string) {
	s.t.Helper()
	st := s.wait(r)
	var err *class.Error
	if !errors.As(st.Err, &err) || err.Class != class.ProcFailed || !strings.Contains(err.Text, "rank 2 has failed") || !strings.Contains(err.Text, why) {
		s.t.Errorf("an operation with the attacker ends with %v, want class ProcFailed and %q", st.Err, why)
	}
}

// expectDown runs an attack, and expects that the victim takes the attacker down: all
// operations with it fail and say why.
func (s *attackTest) expectDown(why string, attack func()) {
	s.t.Helper()
	e := s.engines[victim]
	receive := s.irecv(make([]byte, 8), attacker, 77)
	wild := s.irecv(make([]byte, 8), AnySource, 78)
	long := s.isend(Standard, make([]byte, 400_000), attacker, 1)
	sync := s.isend(Synchronous, make([]byte, 8), attacker, 1)
	s.awaitFrames(wire.EagerSync, 1)
	attack()
	s.until("the victim takes the attacker down", func() bool { return s.cause() != nil })
	for _, r := range []*Request{receive, wild, long, sync} {
		s.expectFailed(r, why)
	}
	s.expectFailed(s.isend(Standard, make([]byte, 8), attacker, 1), why)
	s.checkBounds()
	// Complete messages from before the attack can still be received.
	e.p.Lock()
	for n := range e.table.Messages() {
		if n.Src == attacker && (!n.Owner.eager || n.Owner.arriving) {
			s.t.Errorf("a message of %d bytes whose payload never arrives is still there", n.Owner.size)
		}
	}
	e.p.Unlock()
}

// expectPeer expects that the attacker is still a peer like any other.
func (s *attackTest) expectPeer() {
	s.t.Helper()
	got := make([]byte, 3)
	r := s.irecv(got, attacker, 99)
	s.send(wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: 99}, []byte{1, 2, 3})
	if st := s.wait(r); st.Err != nil || st.Bytes != 3 || !bytes.Equal(got, []byte{1, 2, 3}) {
		s.t.Errorf("a correct message of the attacker: %+v, % x", st, got)
	}
	heard := len(s.received)
	r = s.isend(Synchronous, []byte{7}, attacker, 5)
	s.until("the attacker receives the send", func() bool { return len(s.received) > heard && s.received[len(s.received)-1].Tag == 5 })
	s.send(wire.Header{Kind: wire.Ack, Name: s.received[len(s.received)-1].Name}, nil)
	if st := s.wait(r); st.Err != nil {
		s.t.Errorf("a send to the attacker, which answers correctly: %v", st.Err)
	}
	s.checkBounds()
}

// checkBounds checks that what the victim buffers for the attacker is within the limits.
func (s *attackTest) checkBounds() {
	s.t.Helper()
	e := s.engines[victim]
	e.p.Lock()
	defer e.p.Unlock()
	held, free, asking := 0, 0, 0
	for n := range e.table.Messages() {
		switch m := n.Owner; {
		case m.node.Src != attacker:
		case !m.eager:
			asking++
		case m.uncredited:
			asking++
			free += len(m.data)
		default:
			held += len(m.data) + messageOverhead
		}
	}
	if most := e.unansweredLimit + creditMax/messageOverhead; held > creditMax || asking > most || free > most*uncreditedMax {
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

// checkBystander exchanges messages of every protocol with the third process.
func (s *attackTest) checkBystander() {
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
