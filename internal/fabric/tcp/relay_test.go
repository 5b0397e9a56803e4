package tcp

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// A relay is an attacker between two processes: it forwards the handshake, and then for each
// record from the dialler what tamper returns.
type relay struct {
	t      testing.TB
	ln     net.Listener
	to     string
	tamper func(n int, record []byte) [][]byte // nil: forward records unchanged
	hold   func()                              // if not nil, called before the verdict is passed back
	wg     sync.WaitGroup

	mu    sync.Mutex
	there []byte // all bytes of the dialler
	back  []byte // all bytes of the acceptor
}

const (
	shakeThere = wire.HelloSize + wire.ProofSize
	shakeBack  = wire.ChallengeSize + wire.VerdictSize
)

func (r *relay) begin(t testing.TB, to string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.t, r.ln, r.to = t, ln, to
	r.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.pass(c) })
		}
	})
}

func (r *relay) addr() string { return r.ln.Addr().String() }

// heard returns copies of the bytes that both sides have sent so far.
func (r *relay) heard() (there, back []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.there), bytes.Clone(r.back)
}

func (r *relay) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer d.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.Close()
		b := make([]byte, 4096)
		for {
			n, err := d.Read(b)
			r.mu.Lock()
			if r.hold != nil && n > 0 && len(r.back) == wire.ChallengeSize {
				r.hold()
			}
			r.back = append(r.back, b[:n]...)
			r.mu.Unlock()
			c.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	r.forward(c, d)
	d.(*net.TCPConn).CloseWrite()
	<-done
}

// forward forwards the bytes of the dialler until the dialler or tamper ends the stream.
func (r *relay) forward(c, d net.Conn) {
	take := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(c, b); err != nil {
			return nil
		}
		r.mu.Lock()
		r.there = append(r.there, b...)
		r.mu.Unlock()
		return b
	}
	for _, n := range []int{wire.HelloSize, wire.ProofSize} {
		b := take(n)
		if b == nil {
			return
		}
		d.Write(b)
	}
	for n := 0; ; n++ {
		record := take(wire.RecordOverhead)
		if record == nil {
			return
		}
		size, err := wire.RecordSize(record)
		if err != nil {
			r.t.Errorf("the dialler sent no record: %v", err)
			return
		}
		if more := size - len(record); more > 0 {
			rest := take(more)
			if rest == nil {
				return
			}
			record = append(record, rest...)
		}
		out := [][]byte{record}
		if r.tamper != nil {
			out = r.tamper(n, record)
		}
		for _, b := range out {
			if b == nil {
				return // cut here
			}
			d.Write(b)
		}
	}
}

// through opens two ends on separate hosts; connections from 0 to 1 go through the relay.
func through(t testing.TB, mk maker, tamper func(int, []byte) [][]byte) (fs []made, r *relay) {
	l := limits{beat: time.Hour, linger: time.Millisecond} // no keepalives, so each record is a frame
	fs, addrs := open(t, mk, Config{Job: job(0, 2), limits: l}, Config{Job: job(1, 2), limits: l})
	return fs, between(t, fs, addrs, &relay{tamper: tamper})
}

// between puts a relay between two ends and starts the ends.
func between(t testing.TB, fs []made, addrs []string, r *relay) *relay {
	r.begin(t, addrs[1])
	t.Cleanup(func() {
		for _, f := range fs { // the relay ends after the ends
			f.Close()
		}
		r.ln.Close()
		r.wg.Wait()
	})
	start(t, []string{addrs[0], r.addr()}, fs...)
	return r
}
