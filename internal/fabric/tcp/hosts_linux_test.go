package tcp

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// spread opens n ends in this process and puts their sockets on the hosts, one after the
// other. With six the ends use IPv6.
func spread(t testing.TB, h *hosttest.Hosts, n int, six bool, l limits) []made {
	t.Helper()
	var configs []Config
	for i := range n {
		j := job(i, n)
		for k := range h.Len() {
			j.Hosts = append(j.Hosts, h.Name(k))
		}
		for k := range n {
			j.Host = append(j.Host, int32(k%h.Len()))
		}
		here := i % h.Len()
		j.Listen = h.Addr(here)
		if six {
			j.Listen = h.Addr6(here)
		}
		l := l
		l.inside = func(work func() error) error { return h.Inside(here, work) }
		configs = append(configs, Config{Job: j, limits: l})
	}
	fs, addrs := open(t, raw, configs...)
	start(t, addrs, fs...)
	return fs
}

// The fabric conforms between hosts, over a network that delays, loses, duplicates and
// reorders packets, with some processes on one host. Only some tests of the suite run
// here: the others wait too often.
func TestConformanceOverABadWire(t *testing.T) {
	testrun.Covered(t)
	h := hosttest.Start(t, 2)
	h.Wire(1, hosttest.Line{Delay: 100 * time.Microsecond, Loss: 0.002, Duplicate: 0.002, Reorder: 0.01, Seed: 5})
	fabrictest.RunPart(t, 5, func(t testing.TB, n int) []fabric.Fabric {
		l := limits{linger: 2 * time.Minute, silence: 2 * time.Minute} // for many losses in a row
		return fabrics(spread(t, h, n, false, l))
	}, "OrderAndIntegrity", "SendInsideFrame", "CloseLosesNothing")
	t.Run("traffic", func(t *testing.T) {
		traffic(t, spread(t, h, 3, false, limits{silence: 2 * time.Minute}), 200, wire.MaxPayload, some)
	})
}

func TestHostsSpeakIPv6(t *testing.T) {
	h := hosttest.Start(t, 2)
	if h.Addr6(0) == "" {
		t.Skip("the kernel has no IPv6")
	}
	traffic(t, spread(t, h, 3, true, limits{}), 50, wire.MaxPayload, some)
}

// A process listens on the address that its job names and on no other.
func TestS4ListensOnOneAddress(t *testing.T) {
	h := hosttest.Start(t, 2)
	for _, six := range []bool{false, true} {
		if six && h.Addr6(0) == "" {
			continue
		}
		fs := spread(t, h, 2, six, limits{})
		host, port, err := net.SplitHostPort(fs[1].Connector().ln.addr())
		if err != nil || host != h.Addr(1) && host != h.Addr6(1) {
			t.Fatalf("listens on %s: %v", fs[1].Connector().ln.addr(), err)
		}
		for _, other := range []string{"127.0.0.1", "::1", h.Addr(1), h.Addr6(1)} {
			if other == host || other == "" {
				continue
			}
			err := h.Inside(1, func() error {
				c, err := net.DialTimeout("tcp", net.JoinHostPort(other, port), testrun.Long)
				if err == nil {
					c.Close()
				}
				return err
			})
			// An address of IPv6 whose link the kernel is still bringing up is unreachable.
			if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.EHOSTUNREACH) {
				t.Errorf("told to listen on %s, answers on %s: %v", host, other, err)
			}
		}
		meet(t, fs)
	}
}

// timeoutOfF1 is longer than any loaded machine needs; without the check of reach the kernel
// takes a quarter of an hour. TestF1WatchKeepsTheBound tests the bound of promise F1 in virtual
// time.
const timeoutOfF1 = 10 * time.Minute

// After a cable was cut, all processes with a connection to the host get an error with its
// name; the other processes stay connected.
func TestF1CutCableIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name string
		busy bool // processes send to the host all the time
		know bool // there were connections before the cut
	}{{"idle", false, true}, {"sending", true, true}, {"never connected", true, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.Start(t, 3)
			fs, s := spread(t, h, 3, false, limits{}), inboxes(t, 3)
			if c.know {
				meet(t, fs)
			}
			head := wire.Header{Kind: wire.Data, Size: chunkMax}
			payload := make([]byte, chunkMax)
			send := func() {
				if c.busy {
					for i := range fs {
						if i != 1 && s[i].downs[1] == nil {
							fs[i].Send(1, &head, payload)
						}
					}
				}
			}
			end := time.Now().Add(50 * time.Millisecond)
			if c.know {
				attend(fs, s, func() bool { send(); return time.Now().After(end) })
			}
			h.Cut(1)
			defer h.Join(1)
			cut := time.Now()
			attend(fs, s, func() bool {
				send()
				return s[0].downs[1] != nil && s[2].downs[1] != nil && (!c.know || s[1].downs[0] != nil && s[1].downs[2] != nil) ||
					!c.busy && !c.know || time.Since(cut) > timeoutOfF1
			})
			took := time.Since(cut)
			t.Logf("noticed after %v: %v", took.Round(time.Millisecond), s[0].downs[1])
			if took > timeoutOfF1 {
				t.Errorf("it took %v to notice a cut cable", took)
			}
			for i, far := range []int{1, -1, 1} {
				if far >= 0 && (s[i].downs[far] == nil || !strings.Contains(s[i].downs[far].Error(), "host1")) {
					t.Errorf("process %d is told: %v", i, s[i].downs[far])
				}
			}
			if s[0].downs[2] != nil || s[2].downs[0] != nil {
				t.Errorf("processes that reach each other are down: %v, %v", s[0].downs[2], s[2].downs[0])
			}
			sinks := inboxes(t, 3)
			for _, p := range [][2]int{{0, 2}, {2, 0}} {
				for !fs[p[0]].Send(p[1], &wire.Header{Kind: wire.User}, nil) {
					fs[p[0]].Poll(sinks[p[0]], -1)
				}
				attend([]made{fs[0], nil, fs[2]}, sinks, func() bool { return len(sinks[p[1]].frames[p[0]]) > 0 })
			}
		})
	}
}

// After a short cut that is repaired in time the connection continues.
func TestShortCutIsSurvived(t *testing.T) {
	h := hosttest.Start(t, 2)
	fs, s := spread(t, h, 2, false, limits{silence: 2 * time.Minute}), inboxes(t, 2)
	meet(t, fs)
	h.Cut(1)
	for i := range 2 {
		for !fs[i].Send(1-i, &wire.Header{Kind: wire.User, Tag: 9}, nil) {
			fs[i].Poll(s[i], -1)
		}
	}
	end := time.Now().Add(300 * time.Millisecond)
	attend(fs, s, func() bool { return time.Now().After(end) })
	h.Join(1)
	attend(fs, s, func() bool {
		return len(s[0].frames[1]) > 0 && len(s[1].frames[0]) > 0 || len(s[0].downs)+len(s[1].downs) > 0
	})
	if len(s[0].downs)+len(s[1].downs) > 0 {
		t.Errorf("down: %v, %v", s[0].downs, s[1].downs)
	}
}

// A process that is stopped, or gets no core, for longer than a host may be silent does not
// count as failed, even if its buffers fill up.
func TestPeerThatDoesNotReadIsNotDead(t *testing.T) {
	l := limits{silence: 300 * time.Millisecond, beat: 20 * time.Millisecond, buffer: 64 << 10}
	for _, c := range []struct {
		path  string
		flood bool
	}{{"raw", false}, {"raw", true}, {"streams", false}, {"streams", true}} {
		t.Run(fmt.Sprintf("%s flood=%t", c.path, c.flood), func(t *testing.T) {
			t.Parallel()
			flood := c.flood
			fs, s := ends(t, apart(paths()[c.path]), 2, l), inboxes(t, 2)
			meet(t, fs)
			h := wire.Header{Kind: wire.Data, Size: chunkMax}
			payload := make([]byte, chunkMax)
			sent := 0
			end := time.Now().Add(6 * l.silence)
			attend([]made{fs[0], nil}, s, func() bool {
				if flood && fs[0].Send(1, &h, payload) {
					sent++
				}
				return time.Now().After(end)
			})
			if flood && fs[0].Send(1, &h, payload) {
				t.Error("the peer's buffers never filled up")
			}
			attend(fs, s, func() bool {
				return len(s[0].downs)+len(s[1].downs) > 0 || len(s[1].frames[0]) >= sent && (flood && fs[0].Send(1, &h, payload) || !flood)
			})
			if len(s[0].downs)+len(s[1].downs) > 0 {
				t.Errorf("down: %v, %v", s[0].downs, s[1].downs)
			}
		})
	}
}

func TestS4NeverListensOnAllAddresses(t *testing.T) {
	for _, listen := range []string{"0.0.0.0", "::", "224.0.0.1", "everywhere"} {
		j := job(0, 2)
		j.Listen = listen
		for name, mk := range paths() {
			if f, addr, err := mk(Config{Job: j}); err == nil {
				f.Close()
				t.Errorf("%s: told to listen on %s, listens on %s", name, listen, addr)
			}
		}
	}
	for name, mk := range paths() {
		f, addr, err := mk(Config{Job: job(0, 2)})
		if err != nil {
			t.Fatal(err)
		}
		if host, _, _ := net.SplitHostPort(addr); host != boot.Loopback {
			t.Errorf("%s: a job of one host listens on %s", name, addr)
		}
		f.Close()
	}
}
