package shmfmt

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// pingPong runs a ping-pong of b.N turns between two goroutines that are locked to threads and spin. It
// reports the time of half a round trip.
func pingPong(b *testing.B, ping func(i uint64), pong func(i uint64)) {
	if runtime.NumCPU() < 2 {
		b.Skip("two spinning sides need two cores")
	}
	n := uint64(b.N)
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		close(ready)
		for i := range n {
			pong(i)
		}
		close(done)
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	<-ready
	b.ResetTimer()
	start := time.Now()
	for i := range n {
		ping(i)
	}
	half := float64(time.Since(start).Nanoseconds()) / float64(n) / 2
	<-done
	b.ReportMetric(half, "ns/half")
	b.ReportMetric(0, "ns/op")
}

// word is one word in lines of its own.
type word64 struct {
	_ [Line]byte
	v atomic.Uint64
	_ [2*Line - 8]byte
}

// BenchmarkHalfRoundTrip compares a frame through the ring with the physical limit: one word in one
// line.
func BenchmarkHalfRoundTrip(b *testing.B) {
	b.Run("limit", func(b *testing.B) {
		there, back := new(word64), new(word64)
		pingPong(b, func(i uint64) {
			there.v.Store(i + 1)
			for back.v.Load() != i+1 {
			}
		}, func(i uint64) {
			for there.v.Load() != i+1 {
			}
			back.v.Store(i + 1)
		})
	})
	for _, size := range []int{0, 8, 24, 64, 1024, 8192} {
		b.Run(fmt.Sprint("ring,size=", size), func(b *testing.B) {
			b.ReportAllocs()
			_, outP, outC := newRing()
			_, inP, inC := newRing()
			pingBuf, pongBuf := make([]byte, size), make([]byte, size)
			side := func(p *Producer, buf []byte) {
				h := wire.Header{Kind: wire.Eager, Size: uint32(size)}
				if !p.Put(&h, buf) {
					panic("no room for the only frame")
				}
			}
			take := func(c *Consumer, buf []byte) {
				for c.Empty() {
				}
				var h wire.Header
				for {
					if payload, ok, err := c.Next(&h); err != nil {
						panic(err)
					} else if ok {
						copy(buf, payload)
						break
					}
				}
				c.Done()
			}
			pingPong(b, func(uint64) {
				side(&outP, pingBuf)
				take(&inC, pingBuf)
			}, func(uint64) {
				take(&outC, pongBuf)
				side(&inP, pongBuf)
			})
		})
	}
}

// BenchmarkPutTake measures the work of both sides on one core, without transfers between cores.
func BenchmarkPutTake(b *testing.B) {
	for _, size := range []int{8, 1024, 8192} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			_, p, c := newRing()
			buf := make([]byte, size)
			h := wire.Header{Kind: wire.Eager, Size: uint32(size)}
			var got wire.Header
			for b.Loop() {
				p.Put(&h, buf)
				if payload, ok, _ := c.Next(&got); ok {
					copy(buf, payload)
					c.Done()
				}
			}
		})
	}
}
