package rendezvous

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/frame"
)

// A server is what rank 0 does for the others: it keeps their values, and knows which have joined.
type server struct {
	size    int
	job     string
	timeout time.Duration // how long processes may take to join after the first has entered a fence

	mu      sync.Mutex
	peers   map[int]*peer // by rank: those that have joined, even if they have left since
	values  map[slot]string
	waiting map[slot][]waiter // gets of values that nobody has put yet
	fence   []waiter
	leaving bool // rank 0 may end
}

// A slot is the place of a value.
type slot struct {
	rank int
	name string
}

// A waiter is a request that is answered later.
type waiter struct {
	peer   *peer
	number uint32
}

// A peer is a process that has joined.
type peer struct {
	rank int
	conn io.ReadWriteCloser
	mu   sync.Mutex // guards writes
	puts int

	waits int // values for which the process waits; guarded by server.mu
}

func (p *peer) send(f []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.Write(f) // the reader detects the end of the connection
}

func newServer(size int, timeout time.Duration) *server {
	return &server{size: size, job: "env-" + rand.Text(), timeout: timeout, peers: map[int]*peer{}, values: map[slot]string{}, waiting: map[slot][]waiter{}}
}

// serve serves a process until it disconnects. rank is the rank that the process has proved to have, -1 if
// it has proved none.
func (s *server) serve(conn io.ReadWriteCloser, rank int) {
	defer conn.Close()
	r := frame.Reader{Source: conn, Limit: frameMax}
	kind, body, err := r.Next()
	if err != nil || kind != kindJoin {
		return
	}
	p, err := s.join(conn, rank, body)
	if err != nil {
		conn.Write(frame.New(kindRefused).Rest(err.Error()).Bytes())
		return
	}
	for {
		kind, body, err := r.Next()
		if err != nil || kind == kindBye || !s.take(p, kind, body) {
			return
		}
	}
}

// join accepts a process, or says why not.
func (s *server) join(conn io.ReadWriteCloser, proved int, body []byte) (*peer, error) {
	b := frame.Body{Left: body}
	if string(b.Take(len(magic))) != magic {
		return nil, errors.New("this is no process of Halo")
	}
	v, rank, size := b.U16(), int(b.U32()), int(b.U32())
	switch {
	case v != version:
		return nil, fmt.Errorf("this process speaks version %d and rank 0 version %d: build all programs of a job from the same version of Halo", v, version)
	case b.Bad || size != s.size:
		return nil, fmt.Errorf("the job of rank 0 has %d processes, this one says %d: two jobs share an address, or the environments differ", s.size, size)
	case rank >= s.size || proved >= 0 && proved != rank:
		return nil, fmt.Errorf("there is no rank %d in a job of %d", rank, s.size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[rank] != nil {
		return nil, fmt.Errorf("rank %d has joined already: two jobs share an address, two processes have the same rank, "+
			"or a process was started again, which cannot join a job that runs", rank)
	}
	p := &peer{rank: rank, conn: conn}
	s.peers[rank] = p
	p.send(frame.New(kindWelcome).Rest(s.job).Bytes())
	if s.leaving {
		p.send(frame.New(kindLeave).Bytes())
	}
	return p, nil
}

// take handles a request. It returns false for an invalid one, which ends the connection.
func (s *server) take(p *peer, kind uint8, body []byte) bool {
	b := frame.Body{Left: body}
	switch kind {
	case kindPut:
		number, name, value := b.U32(), b.Text(), b.Text()
		if !b.Done() || engine.CheckKey(name) != nil || engine.CheckValue(value) != nil {
			return false
		}
		s.put(p, number, name, value)
	case kindGet:
		number, rank, wait, name := b.U32(), int(b.U32()), b.U8() != 0, b.Text()
		if !b.Done() || rank >= s.size || engine.CheckKey(name) != nil {
			return false
		}
		s.get(p, number, slot{rank, name}, wait)
	case kindFence:
		number := b.U32()
		if !b.Done() {
			return false
		}
		return s.enter(p, number)
	case kindAbort:
		f := frame.New(kindOver).U32(b.U32()).Rest(string(b.Left)).Bytes()
		for _, other := range s.others(p) {
			go other.send(f)
		}
	default:
		return false
	}
	return true
}

// others returns all processes that have joined, except p.
func (s *server) others(p *peer) (list []*peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.peers {
		if other != p {
			list = append(list, other)
		}
	}
	return list
}

func (s *server) put(p *peer, number uint32, name, value string) {
	s.mu.Lock()
	p.puts++
	if p.puts > keysMax {
		s.mu.Unlock()
		p.send(done(number, doneFailed, fmt.Sprintf("rank %d has put more than %d values", p.rank, keysMax)))
		return
	}
	at := slot{p.rank, name}
	s.values[at] = value
	waiting := s.waiting[at]
	delete(s.waiting, at)
	for _, w := range waiting {
		w.peer.waits--
	}
	s.mu.Unlock()
	p.send(done(number, doneValue, ""))
	for _, w := range waiting {
		w.peer.send(done(w.number, doneValue, value))
	}
}

func (s *server) get(p *peer, number uint32, at slot, wait bool) {
	s.mu.Lock()
	value, ok := s.values[at]
	waits := !ok && wait && p.waits < waitsMax
	if waits {
		s.waiting[at] = append(s.waiting[at], waiter{p, number})
		p.waits++
	}
	s.mu.Unlock()
	switch {
	case ok:
		p.send(done(number, doneValue, value))
	case !wait:
		p.send(done(number, doneNothing, ""))
	case !waits:
		p.send(done(number, doneFailed, fmt.Sprintf("rank %d waits for more than %d values", p.rank, waitsMax)))
	}
}

// enter adds a process to the fence, which ends when all are in it. The fence fails if some processes have
// not even joined when timeout has passed. enter returns false if the process is in the fence already.
func (s *server) enter(p *peer, number uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.fence, func(w waiter) bool { return w.peer == p }) {
		return false // a process is in one fence at a time
	}
	s.fence = append(s.fence, waiter{p, number})
	if len(s.fence) == 1 {
		time.AfterFunc(s.timeout, s.late)
	}
	if len(s.fence) == s.size {
		s.release(doneValue, "")
	}
	return true
}

// release answers all that are in the fence. mu is held.
func (s *server) release(result uint8, text string) {
	for _, w := range s.fence {
		go w.peer.send(done(w.number, result, text))
	}
	s.fence = nil
}

// late makes the fence fail if processes have not joined.
func (s *server) late() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []int
	for r := range s.size {
		if s.peers[r] == nil {
			missing = append(missing, r)
		}
	}
	if len(s.fence) > 0 && missing != nil {
		s.release(doneFailed, fmt.Sprintf("ranks %s of %d have not joined within %v: start all ranks, with the same size and address", ranksText(missing), s.size, s.timeout))
	}
}

// leave tells the others that the process may end.
func (s *server) leave() {
	s.mu.Lock()
	s.leaving = true
	s.mu.Unlock()
	for _, p := range s.others(nil) {
		p.send(frame.New(kindLeave).Bytes())
	}
}
