package tcp

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// count is a sink that only counts.
type count struct {
	place  []byte // the place for long frames; nil: the sink offers none
	frames int
	bytes  int
	down   bool
}

func (c *count) Frame(_ int, h *wire.Header, payload []byte) {
	c.frames++
	c.bytes += len(payload)
	copy(c.place, payload) // a sink that needs the payload in a place copies it
}
func (c *count) Place(_ int, h *wire.Header) []byte {
	if c.place == nil {
		return nil
	}
	return c.place[:h.Size]
}
func (c *count) Placed(_ int, h *wire.Header) { c.frames++; c.bytes += int(h.Size) }
func (c *count) Down(int, error)              { c.down = true }

func sendNow(f made, s *count, to int, h *wire.Header, b []byte) {
	for !f.Send(to, h, b) {
		f.Poll(s, to)
	}
}

// BenchmarkPingPong measures a round trip with a process that answers on a thread of its own.
func BenchmarkPingPong(b *testing.B) {
	for _, c := range []struct {
		name string
		mk   maker
		size int
	}{
		{"8", raw, 8}, {"1024", raw, 1024}, {"16384", raw, 16 << 10}, {"64000", raw, eagerMax},
		{"8/sealed", apart(raw), 8}, {"1024/sealed", apart(raw), 1024}, {"16384/sealed", apart(raw), 16 << 10}, {"64000/sealed", apart(raw), eagerMax},
	} {
		size := c.size
		b.Run(c.name, func(b *testing.B) {
			fs := ends(b, c.mk, 2, limits{})
			var stop atomic.Bool
			var wg sync.WaitGroup
			h := wire.Header{Kind: wire.Eager, Size: uint32(size)}
			wg.Go(func() {
				runtime.LockOSThread()
				s, buf := &count{place: make([]byte, size)}, make([]byte, size)
				h := h
				for n := 0; ; n++ {
					for s.frames == n {
						if fs[1].Poll(s, 0) == 0 && stop.Load() {
							return
						}
					}
					sendNow(fs[1], s, 0, &h, buf)
				}
			})
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s, buf := &count{place: make([]byte, size)}, make([]byte, size)
			n := 0
			turn := func() {
				sendNow(fs[0], s, 1, &h, buf)
				n++
				for s.frames < n {
					fs[0].Poll(s, 1)
				}
			}
			turn()
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/half")
			stop.Store(true)
			wg.Wait()
		})
	}
}

// sockets opens a connection with the options of the fabric and returns its two descriptors.
func sockets(b *testing.B) (x, y int) {
	ln, err := listen(job(0, 2))
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	c, err := connect(b.Context(), ln.addr(), nil)
	if err != nil {
		b.Fatal(err)
	}
	d, err := ln.accept()
	if err != nil {
		b.Fatal(err)
	}
	l, err := newLink(0, c, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	m, err := newLink(0, d, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sys.CloseFD(l.fd); sys.CloseFD(m.fd) })
	return l.fd, m.fd
}

// BenchmarkRawPingPong measures the lower bound of BenchmarkPingPong: two sockets without a fabric.
func BenchmarkRawPingPong(b *testing.B) {
	x, y := sockets(b)
	var wg sync.WaitGroup
	swap := func(fd int, first bool, b []byte) bool {
		if first {
			sys.Send(fd, b)
		}
		for {
			n, e := sys.Recv(fd, b)
			if e == 0 {
				if n > 0 && !first {
					sys.Send(fd, b)
				}
				return n > 0
			}
		}
	}
	wg.Go(func() {
		runtime.LockOSThread()
		for buf := make([]byte, 48); swap(y, false, buf); {
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, 48)
	for b.Loop() {
		swap(x, true, buf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/half")
	sys.ShutdownWrite(x)
	wg.Wait()
}

// message is the number of bytes in a message of the bandwidth benchmarks, about 1 MiB.
const message = 16 * chunkMax

// BenchmarkBandwidth sends messages in one direction in frames of the largest size; an empty
// frame answers each message.
func BenchmarkBandwidth(b *testing.B)       { bandwidth(b, ends(b, raw, 2, limits{})) }
func BenchmarkSealedBandwidth(b *testing.B) { bandwidth(b, ends(b, apart(raw), 2, limits{})) }

// BenchmarkHostsBandwidth is the bandwidth between two hosts, sealed as it is, and for comparison plain.
// Package wire has the rate of the cipher, BenchmarkSeal and BenchmarkOpen.
func BenchmarkHostsBandwidth(b *testing.B) {
	h := hosttest.Start(b, 2)
	b.Run("sealed", func(b *testing.B) { bandwidth(b, spread(b, h, 2, false, limits{})) })
	b.Run("plain", func(b *testing.B) {
		var configs []Config
		for i := range 2 {
			j := job(i, 2) // without a table of hosts
			j.Listen = h.Addr(i)
			inside := func(work func() error) error { return h.Inside(i, work) }
			configs = append(configs, Config{Job: j, limits: limits{inside: inside}})
		}
		fs, addrs := open(b, raw, configs...)
		start(b, addrs, fs...)
		bandwidth(b, fs)
	})
}

func bandwidth(b *testing.B, fs []made) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		s := &count{place: make([]byte, chunkMax)}
		h := wire.Header{Kind: wire.Ack}
		for n := 0; ; n += message {
			for s.bytes < n+message {
				if fs[1].Poll(s, 0) == 0 && stop.Load() {
					return
				}
			}
			sendNow(fs[1], s, 0, &h, nil)
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, buf := &count{}, make([]byte, message)
	h := wire.Header{Kind: wire.Data, Size: chunkMax}
	n := 0
	turn := func() {
		for i := 0; i < message; i += chunkMax {
			sendNow(fs[0], s, 1, &h, buf[i:i+chunkMax])
		}
	}
	turn()
	b.SetBytes(message)
	b.ReportAllocs()
	for b.Loop() {
		turn()
		n++
		for s.frames < n { // one message stays in flight
			fs[0].Poll(s, 1)
		}
	}
	n++
	for s.frames < n {
		fs[0].Poll(s, 1)
	}
	stop.Store(true)
	wg.Wait()
}

// BenchmarkRawBandwidth measures the upper bound of BenchmarkBandwidth: writes and reads of the
// same lengths.
func BenchmarkRawBandwidth(b *testing.B) {
	x, y := sockets(b)
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		buf := make([]byte, chunkMax)
		for n := 0; ; {
			k, e := sys.Recv(y, buf)
			if e != 0 {
				continue
			}
			if k == 0 {
				return
			}
			n += k
			for ; n >= message; n -= message {
				sys.Send(y, buf[:1])
			}
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, message)
	var ack [64]byte
	got := 0
	turn := func() {
		for i := 0; i < message; {
			k, _ := sys.Send(x, buf[i:min(i+chunkMax, message)])
			i += k
		}
	}
	turn()
	n := 0
	b.SetBytes(message)
	for b.Loop() {
		turn()
		n++
		for got < n {
			k, _ := sys.Recv(x, ack[:])
			got += k
		}
	}
	sys.ShutdownWrite(x)
	wg.Wait()
}

// BenchmarkEmptyPoll measures a Poll that finds nothing: with a hint at a peer, and without
// a hint for few and for many connections.
func BenchmarkEmptyPoll(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, hint int
	}{{"hint", 8, 1}, {"one", 2, -1}, {"two", 3, -1}, {"many", 8, -1}} {
		b.Run(c.name, func(b *testing.B) {
			fs := ends(b, raw, c.n, limits{})
			meet(b, fs)
			s := &count{}
			b.ReportAllocs()
			for b.Loop() {
				fs[0].Poll(s, c.hint)
			}
		})
	}
}
