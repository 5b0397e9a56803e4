//go:build !race

package apply

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// stepped is the value of setting.point for a process that does not die: the parent executes it
// instruction by instruction.
const stepped = -1

// beforeStepped returns the contents of the region before the update.
func beforeStepped(s setting) []byte { return pattern(s, 3) }

// F2, F3: a process may be killed after any instruction of an accumulate: each of its elements
// of up to 16 bytes is updated or not. The elements have their size as alignment, or only the
// alignment of their type in C; there are many, or few. (On arm64 the exclusive loads and stores
// of atomic operations do not work step by step.)
func TestF2_KilledAfterAnyInstruction(t *testing.T) {
	for _, x := range []struct {
		o     op.Op
		typ   op.Type
		at    int
		count int
	}{
		{op.Sum, op.Int32, 0, 20}, {op.Max, op.Float64, 0, 20}, {op.Lor, op.Uint16, 0, 20}, {op.Replace, op.Int64, 0, 20},
		{op.Replace, op.Uint8, 0, 20}, {op.Sum, op.Float16, 0, 3},
		{op.Sum, op.Complex32, 2, 3}, {op.Replace, op.Complex32, 2, 20},
		{op.Sum, op.Complex64, 4, 20}, {op.Prod, op.Complex64, 0, 3}, {op.Replace, op.Complex64, 4, 40},
		{op.Maxloc, op.Pair(op.Float32, op.Int32), 4, 3}, {op.Replace, op.Pair(op.Int32, op.Int32), 4, 20}, {op.Replace, op.Pair(op.Int32, op.Int32), 4, 1},
		{op.Sum, op.Complex128, 0, 3}, {op.Sum, op.Complex128, 8, 20}, {op.Prod, op.Complex128, 8, 3}, {op.Sum, op.Complex128, 8, 1},
		{op.Replace, op.Complex128, 8, 20}, {op.Replace, op.Complex128, 8, 1}, {op.Replace, op.Complex128, 0, 1},
		{op.Maxloc, op.Pair(op.Float64, op.Int32), 8, 3}, {op.Replace, op.Pair(op.Float64, op.Int32), 8, 3},
		{op.Sum, op.Int128, 0, 3}, {op.Bxor, op.Int128, 0, 3}, {op.Sum, op.Int128, 0, 1}, {op.Sum, op.Float80, 0, 3}, {op.Prod, op.Float128, 0, 3},
		{op.Lor, op.Bool128, 0, 3},
	} {
		t.Run(fmt.Sprintf("%v/%v/at=%d/%d", x.o, x.typ, x.at, x.count), func(t *testing.T) {
			s := setting{me: 1, at: x.at, count: x.count, typ: x.typ, updates: int(x.o), point: stepped}
			m := newMemory(t, s)
			before := beforeStepped(s)
			after := slices.Clone(before)
			op.Apply(x.o, x.typ, after, after, operandStepped(s))
			copy(m.region.Mem, before)
			inBetween, inside := m.watch(t, s, before, after)
			if !bytes.Equal(m.region.Mem, after) {
				t.Fatalf("left %x, want %x", m.region.Mem, after)
			}
			if bytes.Equal(before, after) || !inside || x.count >= 3 && x.typ.Size() >= 4 && !inBetween {
				t.Errorf("seen in a stripe: %t, with some elements done: %t", inside, inBetween)
			}
			idle(t, m.region.Stripes)
		})
	}
}

// watch executes the update of a process instruction by instruction, and examines the elements
// after each instruction. inBetween tells whether at some point only some elements were updated,
// and inside whether the process was in the stripe.
func (m *memory) watch(t *testing.T, s setting, before, after []byte) (inBetween, inside bool) {
	runtime.LockOSThread() // the tracer is this thread, which ends with the test
	c := m.command(s)
	c.Env = append(c.Env, "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	c.SysProcAttr.Ptrace = true
	if err := c.Start(); errors.Is(err, syscall.EPERM) {
		t.Skipf("this system does not let processes be traced: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	defer func() {
		c.Process.Kill()
		c.Wait()
	}()
	// resume lets the process run until it stops for a signal.
	resume := func(request func() error) syscall.Signal {
		if request != nil {
			if err := request(); err != nil {
				t.Fatal(err)
			}
		}
		var status syscall.WaitStatus
		for {
			_, err := syscall.Wait4(pid, &status, syscall.WALL, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil || !status.Stopped() {
				t.Fatalf("the process has ended: status %#x, %v", status, err)
			}
			return status.StopSignal()
		}
	}
	mine := &m.each[s.me]
	signal := resume(nil) // the process has begun
	for mine.started.Load() == 0 {
		if signal == syscall.SIGTRAP {
			signal = 0
		}
		given := int(signal)
		signal = resume(func() error { return syscall.PtraceCont(pid, given) })
	}
	if signal != syscall.SIGTRAP {
		t.Fatalf("stopped by %v, not at the breakpoint", signal)
	}
	size := s.typ.Size()
	steps := 0
	for ; mine.done.Load() == 0; steps++ {
		resume(func() error { return syscall.PtraceSingleStep(pid) })
		done, not := 0, 0
		for i := 0; i < len(before); i += size {
			switch e := m.region.Mem[i : i+size]; {
			case bytes.Equal(e, after[i:i+size]):
				done++
			case bytes.Equal(e, before[i:i+size]):
				not++
			default:
				t.Fatalf("element %d is %x, it was to become %x from %x", i/size, e, after[i:i+size], before[i:i+size])
			}
		}
		inBetween = inBetween || done > 0 && not > 0
		inside = inside || m.region.Stripes.Holder(shmfmt.Stripe(0)) == s.me || m.region.Stripes.Occupant(shmfmt.Stripe(0), 0) == s.me
	}
	t.Logf("%d instructions", steps)
	return inBetween, inside
}
