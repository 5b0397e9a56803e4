package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
)

func TestMain(m *testing.M) { leak.Main(m) }

// A meeting is a server, and connections with it.
type meeting struct {
	t      *testing.T
	server *server
	served sync.WaitGroup
}

func newMeeting(t *testing.T, size int) *meeting {
	m := &meeting{t: t, server: newServer(size, testrun.Long)}
	t.Cleanup(m.served.Wait)
	return m
}

// connect returns the other end of a connection with the server. proved is the rank that its owner has
// proved, -1 for none.
func (m *meeting) connect(proved int) net.Conn {
	mine, theirs := net.Pipe()
	m.served.Go(func() { m.server.serve(theirs, proved) })
	m.t.Cleanup(func() { mine.Close() })
	return mine
}

// join joins as a rank.
func (m *meeting) join(rank int) *Client {
	m.t.Helper()
	c, err := open(m.connect(-1), Config{Rank: rank, Size: m.server.size, Local: 2}, "here")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Finalize() })
	return c
}

// Values are seen by others, a fence ends when all have entered, and a lookup waits for its value.
func TestXLCH01_XSES01_Store(t *testing.T) {
	m := newMeeting(t, 3)
	a, b := m.join(0), m.join(1)
	if nodes, err := a.Nodes(); err != nil || fmt.Sprint(nodes) != "[0 0 1]" {
		t.Errorf("nodes %v, %v", nodes, err)
	}
	if a.Identity().Job != b.Identity().Job || a.Identity().Rank != 0 || b.Identity().Rank != 1 {
		t.Errorf("%+v, %+v", a.Identity(), b.Identity())
	}
	if err := a.Put("k", "v"); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := b.Get("k", 0); v != "v" || !ok || err != nil {
		t.Errorf("%q %t %v", v, ok, err)
	}
	if v, ok, err := b.Get("k", 2); ok || err != nil {
		t.Errorf("%q %t %v", v, ok, err)
	}
	found := make(chan string)
	go func() {
		v, err := b.Lookup(t.Context(), "name", 2)
		found <- fmt.Sprint(v, err)
	}()
	ended := make(chan error, 2)
	for _, c := range []*Client{a, b} {
		go func() { ended <- c.Fence() }()
	}
	c := m.join(2)
	if err := c.Publish("name", "x"); err != nil {
		t.Error(err)
	}
	if got := <-found; got != "x<nil>" {
		t.Error(got)
	}
	select {
	case err := <-ended:
		t.Errorf("a fence ends without rank 2: %v", err)
	default:
	}
	if err := errors.Join(c.Fence(), <-ended, <-ended); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Lookup(short, "never", 1); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "rank 0 of 3") {
		t.Error(err)
	}
}

// S6, X-SES-01: lookups wait for a value however many others do, and however many have given up, up to a limit.
// Beyond it they fail.
func TestS6_XSES01_ManyLookups(t *testing.T) {
	m := newMeeting(t, 2)
	a, b := m.join(0), m.join(1)
	short, cancel := context.WithCancel(t.Context())
	cancel()
	const lookups = 10
	for range waitsMax - lookups {
		if _, err := a.Lookup(short, "name", 1); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	found := make(chan string, lookups)
	for range lookups {
		go func() {
			v, err := a.Lookup(t.Context(), "name", 1)
			found <- fmt.Sprint(v, err)
		}()
	}
	for m.server.waits(0) < waitsMax {
		runtime.Gosched()
	}
	if v, err := a.Lookup(t.Context(), "name", 1); err == nil || !strings.Contains(err.Error(), fmt.Sprint("rank 0 waits for more than ", waitsMax, " values")) {
		t.Errorf("%q, %v", v, err)
	}
	if err := b.Publish("name", "x"); err != nil {
		t.Error(err)
	}
	for range lookups {
		if got := <-found; got != "x<nil>" {
			t.Error(got)
		}
	}
	if n := m.server.waits(0); n != 0 {
		t.Errorf("%d values are waited for", n)
	}
}

// waits returns the number of values for which a process waits.
func (s *server) waits(rank int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers[rank].waits
}

// An abort ends the others. The end of rank 0 does so, too, unless it has said that it may end.
func TestXLCH01_EndsOfRankZero(t *testing.T) {
	m := newMeeting(t, 2)
	a, b := m.join(0), m.join(1)
	if err := a.Abort(7, "why"); err != nil {
		t.Error(err)
	}
	<-b.Lost()

	m = newMeeting(t, 2)
	b = m.join(1)
	m.server.peers[1].conn.Close()
	<-b.Lost()
	if err := b.Fence(); !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "rank 1 of 2 at here") {
		t.Error(err)
	}

	m = newMeeting(t, 2)
	b = m.join(1)
	m.server.leave()
	m.server.peers[1].conn.Close()
	if err := b.Fence(); !errors.Is(err, engine.ErrLost) {
		t.Error(err)
	}
	select {
	case <-b.Lost():
		t.Error("the job is over, although rank 0 may end")
	default:
	}
}

// A process that does not belong to the job is refused, with the reason.
func TestXLCH01_Refusals(t *testing.T) {
	join := func(v, rank, size int) []byte {
		return frame.New(kindJoin).Raw([]byte(magic)).U16(v).U32(uint32(rank)).U32(uint32(size)).Bytes()
	}
	for _, x := range []struct {
		proved int
		send   []byte
		want   string
	}{
		{-1, frame.New(kindJoin).Raw([]byte("HTTP")).Bytes(), "no process of Halo"},
		{-1, frame.New(kindJoin).Raw([]byte(magic)).Bytes(), "version 0"},
		{-1, join(version+1, 0, 2), "the same version of Halo"},
		{-1, join(version, 1, 3), "has 2 processes, this one says 3"},
		{-1, join(version, 2, 2), "no rank 2 in a job of 2"},
		{1, join(version, 0, 2), "no rank 0"},
	} {
		conn := newMeeting(t, 2).connect(x.proved)
		go conn.Write(x.send)
		r := frame.Reader{Source: conn, Limit: frameMax}
		kind, body, err := r.Next()
		if err != nil || kind != kindRefused || !strings.Contains(string(body), x.want) {
			t.Errorf("%s: frame of kind %d, %q, %v", x.want, kind, body, err)
		}
	}
	m := newMeeting(t, 2)
	m.join(1)
	if _, err := open(m.connect(-1), Config{Rank: 1, Size: 2}, "here"); err == nil || !strings.Contains(err.Error(), "rank 1 has joined already") {
		t.Error(err)
	}
}

// A process cannot make the server keep more than a few values, and a request that makes no sense ends its
// connection.
func TestS6_Limits(t *testing.T) {
	m := newMeeting(t, 2)
	c := m.join(0)
	var err error
	for i := 0; i <= keysMax && err == nil; i++ {
		err = c.Put(fmt.Sprint("k", i), "v")
	}
	if err == nil || !strings.Contains(err.Error(), "more than 16 values") {
		t.Error(err)
	}
	for _, e := range []error{c.Put("a b", "v"), c.Put("a", ""), c.Put("a", strings.Repeat("x", engine.MaxValue+1))} {
		if e == nil {
			t.Error("it was put")
		}
	}
	if _, _, err := c.Get("k", 2); err == nil {
		t.Error("a value of rank 2 of 2")
	}
	for _, f := range [][]byte{frame.New(99).Bytes(), frame.New(kindPut).Bytes(), frame.New(kindPut).U32(1).Text("a b").Text("v").Bytes(),
		frame.New(kindGet).U32(1).U32(9).U8(0).Text("k").Bytes(), frame.New(kindFence).Bytes(),
		append(frame.New(kindFence).U32(1).Bytes(), frame.New(kindFence).U32(2).Bytes()...), {0xff, 0xff, 0xff, 0xff}} {
		m := newMeeting(t, 2)
		c := m.join(0)
		c.conn.Write(f)
		<-c.Lost()
	}
}

// FuzzServer: no stream of bytes makes the server panic or keep more than its limits.
func FuzzServer(f *testing.F) {
	f.Add(frame.New(kindPut).U32(1).Text("k").Text("v").Bytes())
	f.Add(append(frame.New(kindGet).U32(1).U32(1).U8(1).Text("k").Bytes(), frame.New(kindFence).U32(2).Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newServer(2, time.Hour)
		mine, theirs := net.Pipe()
		done := make(chan struct{})
		go func() { io.Copy(io.Discard, mine); close(done) }()
		p := &peer{rank: 0, conn: theirs}
		s.peers[0] = p
		r := frame.Reader{Source: strings.NewReader(string(b)), Limit: frameMax}
		for {
			kind, body, err := r.Next()
			if err != nil || !s.take(p, kind, body) {
				break
			}
		}
		if len(s.values) > keysMax {
			t.Errorf("%d values", len(s.values))
		}
		theirs.Close()
		mine.Close()
		<-done
	})
}
