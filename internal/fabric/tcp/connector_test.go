package tcp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// quick makes refused callers cost little time. On a busy machine processes of the job may be late, too, and try again.
func quick() limits {
	return limits{callers: 4, hello: 30 * time.Millisecond, handshake: 10 * time.Second, penalty: time.Millisecond}
}

// impatient is quick for processes that reach nobody.
func impatient() limits {
	l := quick()
	l.reach = 300 * time.Millisecond
	return l
}

// awaitDown polls until the peer is reported lost, and returns why.
func awaitDown(f made, s *inbox, peer int) error {
	for s.downs[peer] == nil {
		if f.Poll(s, peer) == 0 {
			runtime.Gosched()
		}
	}
	return s.downs[peer]
}

// knock opens a connection, sends b, and returns what comes back until the other side closes.
func knock(t *testing.T, addr string, b []byte) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write(b)
	got, _ := io.ReadAll(conn)
	return got
}

func TestS2StrangersGetNoByte(t *testing.T) {
	pair := func(change func(*wire.Pair)) []byte {
		p := zeroToOne()
		change(&p)
		return greeting(p)
	}
	replay := greeting(zeroToOne())
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, quick())
			addr := fs[1].Connector().ln.addr()
			for i, c := range []struct {
				name string
				send []byte
				back int // bytes that a caller with a valid but recorded Hello receives
			}{
				{"silence", nil, 0},
				{"garbage", []byte(strings.Repeat("GET / HTTP/1.1\r\n", 20)), 0},
				{"half a hello", replay[:50], 0},
				{"wrong secret", pair(func(p *wire.Pair) { p.Secret = secret(8) }), 0},
				{"another job", pair(func(p *wire.Pair) { p.Job = "other" }), 0},
				{"meant for another", pair(func(p *wire.Pair) { p.From, p.To = 1, 0 }), 0},
				{"replay", append(bytes.Clone(replay), make([]byte, wire.ProofSize)...), wire.ChallengeSize},
				{"a frame at once", append(bytes.Clone(replay), make([]byte, 1000)...), wire.ChallengeSize},
			} {
				if got := knock(t, addr, c.send); len(got) != c.back && len(got) != 0 {
					t.Errorf("%s: %d bytes came back, want %d", c.name, len(got), c.back)
				}
				for fs[1].Refused() < uint64(i+1) {
					runtime.Gosched()
				}
				if n := fs[1].Refused(); n != uint64(i+1) {
					t.Errorf("%s: %d callers refused, want %d", c.name, n, i+1)
				}
			}
			s := newInbox(t)
			for range 10 {
				if fs[1].Poll(s, -1) != 0 {
					t.Error("a stranger reached the data path")
				}
			}
			meet(t, fs)
		})
	}
}

// A handshake that stops halfway keeps its slot for a bounded time.
func TestS2HalfAHandshakeEnds(t *testing.T) {
	l := quick()
	l.handshake = 50 * time.Millisecond
	_, addrs := open(t, goroutines, Config{Job: job(1, 2), limits: l})
	var got []byte
	for len(got) == 0 { // on a busy machine the time may be over before the greeting is read
		got = knock(t, addrs[0], greeting(zeroToOne()))
	}
	if len(got) != wire.ChallengeSize {
		t.Errorf("%d bytes came back, want the challenge of %d", len(got), wire.ChallengeSize)
	}
}

func TestS2FloodKeepsNobodyOut(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			l := quick()
			l.hello, l.reach = time.Hour, time.Minute // silent callers end only when they are dropped
			fs := ends(t, mk, 2, l)
			addr := fs[1].Connector().ln.addr()
			before := runtime.NumGoroutine()
			for range 60 {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			if n := runtime.NumGoroutine() - before; n > 3*l.callers {
				t.Errorf("60 strangers are served by %d goroutines, with places for %d", n, l.callers)
			}
			meet(t, fs)
		})
	}
}

func TestBothDialAtOnceGiveOneConnection(t *testing.T) {
	testrun.Covered(t)
	for name, mk := range makers() {
		rounds := 20
		if _, plain := paths()[name]; !plain {
			rounds = 5 // sealing begins after the decision which connection stays
		}
		t.Run(name, func(t *testing.T) {
			for range rounds {
				fs := ends(t, mk, 3, limits{})
				var wg sync.WaitGroup
				var lost atomic.Bool   // a process has lost another one: all stop
				for i, f := range fs { // all processes run at the same time
					wg.Go(func() {
						s := newInbox(t)
						var sent [3]bool
						for len(s.frames[(i+1)%3]) == 0 || len(s.frames[(i+2)%3]) == 0 || !sent[(i+1)%3] || !sent[(i+2)%3] {
							for to := range 3 {
								h := wire.Header{Kind: wire.User, Tag: int32(i)}
								if to != i && !sent[to] {
									sent[to] = f.Send(to, &h, nil)
								}
							}
							if f.Poll(s, -1) == 0 {
								runtime.Gosched()
							}
							if len(s.downs) > 0 {
								t.Errorf("process %d: %v", i, s.downs)
								lost.Store(true)
							}
							if lost.Load() {
								return
							}
						}
						for from, got := range s.frames {
							if len(got) != 1 || got[0].h.Tag != int32(from) {
								t.Errorf("process %d got %v from %d", i, got, from)
							}
						}
					})
				}
				wg.Wait()
				if t.Failed() {
					return
				}
				for _, f := range fs {
					f.Close()
				}
			}
		})
	}
}

// An accepted caller may get its verdict late, because the network is slow or one of the two
// was stopped. It must not give up before, since a peer accepts it only once.
func TestLateVerdictIsWaitedFor(t *testing.T) {
	for name, mk := range paths() {
		t.Run(name, func(t *testing.T) {
			l := limits{handshake: 100 * time.Millisecond, silence: time.Minute} // no silence in the test
			fs, addrs := open(t, apart(mk), Config{Job: job(0, 2), limits: l}, Config{Job: job(1, 2)})
			between(t, fs, addrs, &relay{hold: func() { time.Sleep(3 * l.handshake) }})
			s := inboxes(t, 2)
			attend(fs, s, func() bool {
				if len(s[1].frames[0]) == 0 {
					fs[0].Send(1, &wire.Header{Kind: wire.User}, nil)
				}
				return len(s[1].frames[0]) > 0 || len(s[0].downs)+len(s[1].downs) > 0
			})
			if len(s[0].downs)+len(s[1].downs) > 0 {
				t.Errorf("down: %v, %v", s[0].downs, s[1].downs)
			}
		})
	}
}

func TestPeerThatCannotBeReachedIsDown(t *testing.T) {
	stranger, err := listen(job(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stranger.Close()
	wg.Go(func() { // echoes what it receives
		for {
			c, err := stranger.accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				io.Copy(c, c)
			})
		}
	})
	deaf, err := listen(job(0, 2)) // never accepts
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	// A listener cannot get a port that a connection is bound to, but it can get one that was just
	// closed.
	bound, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}).Dial("tcp", deaf.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer bound.Close()
	nobody := bound.LocalAddr().String()
	for name, mk := range makers() {
		for _, c := range []struct {
			name, addr string
			is         error
			says       string
		}{
			{"nobody listens", nobody, nil, "refused"},
			{"a stranger listens", stranger.addr(), wire.ErrRefused, "handshake refused"},
			{"deaf", deaf.addr(), nil, "process 0 cannot reach process 1 at"},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				fs, _ := open(t, mk, Config{Job: job(0, 2), limits: impatient()})
				start(t, []string{"", c.addr}, fs...)
				f, h := fs[0], wire.Header{Kind: wire.User}
				if f.Send(1, &h, nil) {
					t.Fatal("a frame was taken without a connection")
				}
				err := awaitDown(f, newInbox(t), 1)
				if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
				if !f.Send(1, &h, nil) {
					t.Error("a frame to a lost peer was not dropped")
				}
			})
		}
	}
}

func TestProcessWithAnotherSecretIsKeptOut(t *testing.T) {
	for name, mk := range paths() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, jobs := quick(), []*boot.Job{job(0, 2), job(1, 2)}
			l.reach = 2 * time.Second // for at least one attempt to be answered, however busy the machine
			jobs[1].Secret = secret(1)
			fs, addrs := open(t, mk, Config{Job: jobs[0], limits: l}, Config{Job: jobs[1], limits: l})
			start(t, addrs, fs...)
			h := wire.Header{Kind: wire.User}
			fs[0].Send(1, &h, nil)
			if err := awaitDown(fs[0], newInbox(t), 1); !strings.Contains(err.Error(), "no answer to the greeting") {
				t.Error(err)
			}
			if fs[1].Refused() == 0 {
				t.Error("nobody was refused")
			}
		})
	}
}

func TestStartWantsAnAddressOfEveryProcess(t *testing.T) {
	for _, mk := range makers() {
		f, addr, err := mk(Config{Job: job(0, 3)})
		if err != nil {
			t.Fatal(err)
		}
		if f.Start([]string{addr, addr}) == nil {
			t.Error("two addresses for three processes were taken")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error("second Close:", err)
		}
	}
}
