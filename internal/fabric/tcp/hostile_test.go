package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// An attacker on the network changes a record: all frames before it arrive, none after it,
// and the error says why.
func TestS3TamperingEndsTheConnection(t *testing.T) {
	const at = 3 // index of the record that the attacker changes
	rng := rand.New(rand.NewPCG(3, 3))
	var kept []byte
	cases := map[string]func(n int, record []byte) [][]byte{
		"repeated": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{kept, b}
			}
			kept = bytes.Clone(b)
			return [][]byte{b}
		},
		"left out": func(n int, b []byte) [][]byte {
			if n == at {
				return nil
			}
			return [][]byte{b}
		},
		"swapped": func(n int, b []byte) [][]byte {
			switch n {
			case at:
				kept = bytes.Clone(b)
				return nil
			case at + 1:
				return [][]byte{b, kept}
			}
			return [][]byte{b}
		},
		"truncated": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{b[:len(b)-1], nil}
			}
			return [][]byte{b}
		},
		"truncated and continued": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{b[:len(b)-8]} // a single byte could equal the next record's first
			}
			return [][]byte{b}
		},
		"ended between records": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{nil}
			}
			return [][]byte{b}
		},
		"garbage between": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{[]byte(strings.Repeat("GET / HTTP/1.1\r\n", 50)), b}
			}
			return [][]byte{b}
		},
		"an empty record between": func(n int, b []byte) [][]byte {
			if n == at {
				return [][]byte{make([]byte, wire.RecordOverhead), b}
			}
			return [][]byte{b}
		},
	}
	for range 12 {
		bit := rng.Uint32()
		cases["bit "+string('a'+rune(bit%26))] = func(n int, b []byte) [][]byte {
			if n == at {
				k := int(bit) % (8 * len(b))
				b[k/8] ^= 1 << (k % 8)
				if k < 32 { // the length: as many bytes as it may announce follow
					return [][]byte{b, make([]byte, wire.RecordMax)}
				}
			}
			return [][]byte{b}
		}
	}
	for path, mk := range paths() {
		for name, tamper := range cases {
			t.Run(path+"/"+name, func(t *testing.T) {
				kept = nil
				fs, r := through(t, apart(mk), tamper)
				s := inboxes(t, 2)
				frames := parcels(100, 0, 5000, 70, 70, 1000, 3)
				sent := 0
				attend(fs, s, func() bool {
					if sent < len(frames) {
						h := frames[sent].h
						if fs[0].Send(1, &h, frames[sent].payload) {
							sent++
						}
					}
					return s[1].downs[0] != nil
				})
				cause := s[1].downs[0]
				cut := name == "truncated" || name == "ended between records"
				if cut != errors.Is(cause, io.EOF) || !cut && (!errors.Is(cause, wire.ErrForged) || !strings.Contains(cause.Error(), "process 0")) {
					t.Errorf("the user is told: %v", cause)
				}
				got := s[1].frames[0]
				if len(got) != at {
					t.Errorf("%d frames came, %d were untouched", len(got), at)
				}
				for i := range got {
					if got[i].h != frames[i].h || !bytes.Equal(got[i].payload, frames[i].payload) {
						t.Errorf("frame %d came as %+v", i, got[i].h)
					}
				}
				if _, back := r.heard(); len(back) != shakeBack {
					t.Errorf("the victim said %d bytes after the handshake", len(back)-shakeBack)
				}
			})
		}
	}
}

// refused runs call, which calls the fabric, and waits until the fabric has counted one more caller as refused.
func refused(by made, call func()) {
	before := by.Refused()
	call()
	for by.Refused() == before {
		runtime.Gosched()
	}
}

// Bytes recorded from one connection, and bytes of the other side itself, are not accepted on
// another connection.
func TestS2RecordedConnectionsAreWorthless(t *testing.T) {
	for name, mk := range paths() {
		t.Run(name, func(t *testing.T) {
			fs, r := through(t, apart(mk), nil)
			meet(t, fs)
			there, back := r.heard()
			if len(there) <= shakeThere || len(back) < shakeBack {
				t.Fatalf("%d and %d bytes recorded", len(there), len(back))
			}
			victim := fs[1].Connector().ln.addr()
			for what, b := range map[string][]byte{"the dialler's side": there, "the acceptor's side": back} {
				refused(fs[1], func() {
					if got := knock(t, victim, b); len(got) != 0 && len(got) != wire.ChallengeSize {
						t.Errorf("%s played again: %d bytes came back", what, len(got))
					}
				})
			}
			// The reverse: a listener that replays the acceptor's side.
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			go func() {
				for {
					c, err := ln.Accept()
					if err != nil {
						return
					}
					c.Write(back)
					io.Copy(io.Discard, c)
					c.Close()
				}
			}()
			fresh, _ := open(t, apart(mk), Config{Job: job(0, 2), limits: quick()})
			start(t, []string{"", ln.Addr().String()}, fresh...)
			fresh[0].Send(1, &wire.Header{Kind: wire.User}, nil)
			if err := awaitDown(fresh[0], newInbox(t), 1); !errors.Is(err, wire.ErrRefused) {
				t.Errorf("a recorded acceptor: %v", err)
			}
			meet(t, fs) // the recorded connection still works
		})
	}
}

// A caller that knows the secret and claims to be a process that is connected already is
// refused, and the connection continues. So is a call to the wrong process.
func TestS2SecondProcessOfARankIsRefused(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 3, limits{})
			meet(t, fs)
			victim := fs[1].Connector().ln.addr()
			for from := range 3 {
				twin := &connector{job: job(from, 3), limits: limits{}.defaults()}
				refused(fs[1], func() {
					if conn, _, err := twin.dial(t.Context(), 1, victim); err == nil {
						conn.Close()
						t.Errorf("a second process %d was let in", from)
					}
				})
			}
			// A Hello to another process than the one that it names.
			refused(fs[2], func() {
				if conn, _, err := fs[0].Connector().dial(t.Context(), 1, fs[2].Connector().ln.addr()); err == nil {
					conn.Close()
					t.Error("process 2 answered for process 1")
				}
			})
			meet(t, fs)
		})
	}
}

// Callers that send single bytes, and callers that send a recorded Hello and then nothing, fill
// all slots repeatedly. Correct peers connect nevertheless.
func TestS2SlowStrangersKeepNobodyOut(t *testing.T) {
	hello := greeting(zeroToOne())
	for _, c := range []struct {
		name string
		say  []byte
	}{{"a byte at a time", hello[:10]}, {"a recorded hello", hello}} {
		for name, mk := range paths() {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				l := quick()
				// No time limit ends the strangers: they must make way for other callers.
				l.hello, l.handshake, l.reach = time.Hour, time.Hour, time.Minute
				fs := ends(t, mk, 2, l)
				addr := fs[1].Connector().ln.addr()
				var wg sync.WaitGroup
				stop := make(chan struct{})
				for range 20 {
					wg.Go(func() {
						for {
							conn, err := net.Dial("tcp", addr)
							if err != nil {
								return
							}
							if len(c.say) == wire.HelloSize {
								conn.Write(c.say)
							}
							ended := make(chan struct{})
							go func() { io.Copy(io.Discard, conn); close(ended) }()
							for i := 0; ; i++ {
								if len(c.say) < wire.HelloSize && i < len(c.say) {
									conn.Write(c.say[i : i+1])
								}
								select {
								case <-stop:
								case <-ended:
								case <-time.After(5 * time.Millisecond):
									continue
								}
								break
							}
							conn.Close()
							<-ended
							select {
							case <-stop:
								return
							default:
							}
						}
					})
				}
				for fs[1].Refused() < 10 { // the attack has begun
					runtime.Gosched()
				}
				meet(t, fs)
				close(stop)
				wg.Wait()
			})
		}
	}
}

// Thousands of callers that send arbitrary bytes cost no memory.
func TestS6StrangersCostNoMemory(t *testing.T) {
	const callers = 2000
	for name, mk := range paths() {
		t.Run(name, func(t *testing.T) {
			l := quick()
			l.penalty = time.Microsecond
			fs := ends(t, mk, 2, l)
			meet(t, fs)
			own := fs[1].Refused() // on a busy machine an attempt of process 0 may run out of time, and count
			addr := fs[1].Connector().ln.addr()
			good := greeting(zeroToOne())
			heap := func() int64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			noise := rand.NewChaCha8([32]byte{6})
			rng := rand.New(noise)
			before, goroutines := heap(), runtime.NumGoroutine()
			for i := range callers {
				b := make([]byte, rng.IntN(400))
				noise.Read(b)
				if i%3 == 0 {
					copy(b, good) // all of it, or a part
				}
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				conn.Write(b)
				if i%2 == 0 {
					conn.(*net.TCPConn).SetLinger(0) // reset
				}
				conn.Close()
			}
			// Connections that are reset before accept do not count as callers.
			for n := uint64(0); n == 0 || n != fs[1].Refused(); time.Sleep(50 * time.Millisecond) {
				n = fs[1].Refused()
			}
			if n := fs[1].Refused() - own; n < callers/2 || n > callers {
				t.Errorf("%d of %d callers are counted", n, callers)
			}
			if more := heap() - before; more > 1<<20 {
				t.Errorf("%d callers left %d bytes", callers, more)
			}
			if more := runtime.NumGoroutine() - goroutines; more > 3*l.callers {
				t.Errorf("%d callers left %d goroutines", callers, more)
			}
			meet(t, fs)
		})
	}
}
