package apply

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// F2, F3: processes are killed at any moment of their updates. The survivors go on with their
// updates once the death is known. Of the interrupted update, each element is either updated or
// not.
func TestF3_KilledAnywhere(t *testing.T) {
	const survivors = 2
	left := 0 // deaths within a stripe
	for _, x := range []struct {
		typ op.Type
		at  int
	}{{op.Int64, 0}, {op.Uint16, 0}, {op.Complex128, 0}, {op.Float64, 4}} {
		s := setting{at: x.at, count: 20_000, typ: x.typ}
		m := newMemory(t, s)
		changes := make([]int, s.count+1)
		maybe := make([]int, s.count)
		m.begin.Store(1)
		var running []setting
		var commands []*exec.Cmd
		for s.me = 1; s.me <= survivors; s.me++ {
			commands = append(commands, m.start(t, s))
			running = append(running, s)
		}
		g := rand.New(rand.NewPCG(uint64(x.typ), uint64(x.at)))
		for ; s.me < survivors+6; s.me++ {
			c := m.start(t, s)
			mine := &m.each[s.me]
			until(t, "updates begin", func() bool { return mine.done.Load() > 20 })
			time.Sleep(time.Duration(g.IntN(2000)) * time.Microsecond)
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			for i := range shmfmt.StripeCount {
				if m.region.Stripes.Holder(i) == s.me || m.region.Stripes.Occupant(i, s.me) == s.me {
					left++
					break
				}
			}
			mine.dead.Store(1)
			var before [survivors]uint64
			for i, r := range running {
				before[i] = m.each[r.me].done.Load()
			}
			until(t, "the others go on", func() bool {
				for i, r := range running {
					if m.each[r.me].done.Load() < before[i]+30 { // enough to reach all stripes
						return false
					}
				}
				return true
			})
			m.replay(s, changes)
			if k := mine.started.Load(); k > mine.done.Load() {
				from, n, _ := update(s, k-1)
				for e := from; e < from+n; e++ {
					maybe[e]++
				}
			}
		}
		m.stop.Store(1)
		for i, r := range running {
			if err := commands[i].Wait(); err != nil {
				t.Fatal(err)
			}
			m.replay(r, changes)
		}
		m.region.Accumulate(0, op.NoOp, x.typ, nil, make([]byte, len(m.region.Mem))) // this process goes on, too
		size := x.typ.Size()
		for e, n := range counted(changes) {
			got, ok := m.region.Mem[e*size:][:size], false
			for k := n; k <= n+maybe[e]; k++ {
				ok = ok || bytes.Equal(got, number(x.typ, k))
			}
			if !ok {
				t.Fatalf("%v: element %d is %x, want %x and up to %d more", x.typ, e, got, number(x.typ, n), maybe[e])
			}
		}
		idle(t, m.region.Stripes)
	}
	t.Logf("%d processes died within a stripe", left)
	if left == 0 {
		t.Error("no process died within a stripe")
	}
}

// The points at which a process kills itself.
const (
	asReader = 1 + iota
	asWriter
	halfWritten
	awaitingReaders // as a writer that already has the stripe
	awaitingWriter  // as a reader
	awaitingTurn    // as a writer
	points
)

// dieIn is the stripe in which the process dies.
const dieIn = 1

func kill() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// die kills the process at a point.
func (m *memory) die(s setting) {
	r, off := &m.region, int64(dieIn<<shmfmt.StripeShift)
	r.Yield = kill
	ones := bytes.Repeat(one(s.typ), 100)
	switch s.point {
	case asReader:
		r.Stripes.Enter(dieIn, s.me)
	case asWriter:
		r.lock(dieIn)
	case halfWritten:
		r.lock(dieIn)
		op.Apply(op.Sum, s.typ, r.Mem[off:off+400], r.Mem[off:off+400], ones[:400])
	case awaitingReaders, awaitingTurn:
		r.Accumulate(off, op.Sum, s.typ, ones, nil)
	case awaitingWriter:
		r.FetchOp(off, op.Sum, s.typ, ones, nil)
	}
	kill()
}

// F3: a process that dies at any point in a stripe does not block the others. They find out that
// it is dead, remove its claim and go on, with any operation.
func TestF3_KilledAtPoints(t *testing.T) {
	for point := asReader; point < points; point++ {
		for wish := range 4 {
			t.Run(fmt.Sprintf("%d/%d", point, wish), func(t *testing.T) {
				s := setting{me: 1, count: 8000, typ: op.Int64, point: point}
				m := newMemory(t, s)
				r, off := &m.region, int64(dieIn<<shmfmt.StripeShift)
				r.Me = 0
				switch point {
				case awaitingReaders:
					r.Stripes.Enter(dieIn, 0)
				case awaitingWriter, awaitingTurn:
					r.lock(dieIn)
				}
				m.start(t, s).Wait()
				switch point {
				case awaitingReaders:
					if r.Stripes.Holder(dieIn) != 1 {
						t.Fatal("it has not died where it should")
					}
					r.Stripes.Leave(dieIn, 0)
				case awaitingWriter, awaitingTurn:
					r.unlock(dieIn)
				}
				asked := 0
				r.Yield = func() {
					asked++
					if asked == 40 { // the death becomes known only now
						m.each[1].dead.Store(1)
					}
					sys.Yield()
				}
				inside := r.Stripes.Holder(dieIn) == 1 || r.Stripes.Occupant(dieIn, 0) == 1
				if inside != (point <= awaitingReaders) {
					t.Fatalf("the dead is inside: %t", inside)
				}
				before := bytes.Clone(r.Mem[off : off+800])
				done, old := make(chan struct{}), make([]byte, 800)
				go func() {
					defer close(done)
					switch wish {
					case 0:
						r.FetchOp(off, op.Sum, s.typ, one(s.typ), old)
					case 1:
						r.CompareSwap(off, 8, one(s.typ), before, old)
					case 2:
						r.Accumulate(off-400, op.NoOp, s.typ, nil, make([]byte, 800))
						r.Accumulate(off, op.Sum, s.typ, bytes.Repeat(one(s.typ), 100), old)
					case 3:
						r.FetchOp(off+4, op.Replace, s.typ, one(s.typ), old)
					}
				}()
				select {
				case <-done:
				case <-time.After(testTimeout):
					t.Fatal("nobody gets in any more")
				}
				if wish < 3 && !bytes.Equal(old[:8], before[:8]) {
					t.Errorf("found %x, want %x", old[:8], before[:8])
				}
				// A reader does not keep readers waiting.
				if waits := point <= awaitingReaders && !(point == asReader && wish < 2); waits && asked < 40 {
					t.Errorf("went in after %d looks, before the death was known", asked)
				}
				r.Stripes.Reap(1)
				idle(t, r.Stripes)
			})
		}
	}
}
