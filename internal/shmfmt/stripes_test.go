package shmfmt

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// A reader delays a writer of its stripe, and a writer excludes readers of its stripe. Other stripes are
// not affected.
func TestStripesExclude(t *testing.T) {
	s := HeapStripes(3)
	for _, process := range []int{0, 0, 2} {
		if !s.Enter(5, process) {
			t.Fatal("readers do not get in")
		}
	}
	if s.Occupant(5, 0) != 0 || s.Occupant(5, 1) != 2 || s.Occupant(4, 0) != -1 || s.Holder(5) != -1 {
		t.Fatal("readers are not where they are")
	}
	if !s.Claim(5, 1) || s.Holder(5) != 1 || s.Claim(5, 0) || s.Claim(5, 1) {
		t.Fatal("there is not one writer")
	}
	if s.Enter(5, 0) || s.Enter(5, 1) || s.Occupant(5, 1) != 2 {
		t.Fatal("a reader gets in beside a writer, or is left there")
	}
	if !s.Enter(4, 0) {
		t.Fatal("a writer keeps readers from another stripe")
	}
	s.Leave(4, 0)
	s.Leave(5, 0)
	s.Leave(5, 2)
	if s.Occupant(5, 0) != 0 {
		t.Fatal("one of two readers is gone with the other")
	}
	s.Leave(5, 0)
	if s.Occupant(5, 0) != -1 {
		t.Fatal("readers are left")
	}
	s.Release(5)
	if s.Holder(5) != -1 || !s.Enter(5, 1) {
		t.Fatal("the writer is left")
	}
	s.Leave(5, 1)
}

// F3: any process may reap a dead one, repeatedly. Other processes stay in their stripes.
func TestF3_StripesAreReaped(t *testing.T) {
	s := HeapStripes(3)
	s.Enter(0, 1)
	s.Enter(0, 1)
	s.Enter(0, 2)
	s.Claim(1, 1)
	s.Claim(2, 2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { s.Reap(1) })
	}
	all.Wait()
	if s.Occupant(0, 0) != 2 || s.Holder(1) != -1 || s.Holder(2) != 2 {
		t.Fatalf("reader %d, writers %d and %d: want 2, none and 2", s.Occupant(0, 0), s.Holder(1), s.Holder(2))
	}
	if !s.Claim(1, 0) {
		t.Fatal("the stripe is not to be had")
	}
	s.Reap(1)
	s.Reap(-1)
	s.Reap(3)
	if s.Holder(1) != 0 || s.Occupant(0, 0) != 2 {
		t.Fatal("a second reaping takes from the living")
	}
}

// Among many readers and writers a writer is alone in a stripe, and readers are without a writer.
func TestStripesUnderWay(t *testing.T) {
	const rounds = 3000
	s := HeapStripes(2)
	var protected, written int // the race detector watches
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			me := w % 2
			for i := range rounds {
				if (i+w)%4 == 0 {
					for !s.Claim(3, me) {
						runtime.Gosched()
					}
					for s.Occupant(3, 0) >= 0 {
						runtime.Gosched()
					}
					protected++
					written++
					s.Release(3)
				} else if s.Enter(3, me) {
					if protected != written {
						t.Error("a reader saw a writer at work")
					}
					s.Leave(3, me)
				}
			}
		})
	}
	all.Wait()
	if protected != rounds {
		t.Fatalf("%d updates, want %d", protected, rounds)
	}
}

// The layout is a writer word in each of the first lines, then a line of counts for each process.
func TestStripesLayout(t *testing.T) {
	mem := heapMemory(StripesSize(2))
	if len(mem) != 10*Line {
		t.Fatalf("%d bytes", len(mem))
	}
	s := OpenStripes(mem, 2)
	s.Enter(6, 1)
	s.Claim(7, 1)
	for i := 0; i < len(mem); i += 8 {
		want := uint64(0)
		switch i {
		case (StripeCount+1)*Line + 6*8:
			want = entered
		case 7 * Line:
			want = 2
		}
		if got := *(*uint64)(unsafe.Pointer(&mem[i])); got != want {
			t.Errorf("word at %d is %d, want %d", i, got, want)
		}
	}
	if Stripe(0) != 0 || Stripe(1<<StripeShift-1) != 0 || Stripe(1<<StripeShift) != 1 || Stripe(StripeCount<<StripeShift) != 0 ||
		StripeEnd(5) != 1<<StripeShift || StripeEnd(1<<StripeShift) != 2<<StripeShift {
		t.Error("elements are in other stripes than they should")
	}
}

// A stripe becomes biased to a process that enters it alone many times. Another process withdraws the
// bias, and ClaimBiased fails beside a reader or a writer.
func TestStripesBias(t *testing.T) {
	s := HeapStripes(2)
	alone := func(me, times int) int {
		n := 0
		for range times {
			if s.ClaimBiased(0, me) {
				if s.Enter(0, 1-me) || s.Claim(0, 1-me) || s.Holder(0) != me {
					t.Fatal("a biased writer is not alone")
				}
				n++
				s.Release(0)
			} else if !s.Enter(0, me) {
				t.Fatal("a reader does not get in")
			} else {
				s.Leave(0, me)
			}
		}
		return n
	}
	if n := alone(0, 3*biasEvery); n != 2*biasEvery {
		t.Fatalf("%d of %d times biased", n, 3*biasEvery)
	}
	s.Enter(0, 0)
	if s.ClaimBiased(0, 0) {
		t.Fatal("a biased writer gets in beside a reader")
	}
	s.Leave(0, 0)
	if s.Biased(0, 0) || alone(0, 2*biasEvery) == 0 {
		t.Fatal("the bias does not end beside a reader of the same process, or never returns")
	}
	if !s.Claim(0, 1) || s.ClaimBiased(0, 0) {
		t.Fatal("a biased writer gets in beside a writer")
	}
	s.Release(0)
	if alone(0, 1) != 0 {
		t.Fatal("a writer does not withdraw the bias")
	}
	if alone(0, 2*biasEvery) == 0 || !s.Claim(0, 0) {
		t.Fatal("the stripe does not become biased again")
	}
	s.Release(0)
	if alone(0, 1) != 1 {
		t.Fatal("a Claim of the biased process ends the bias")
	}
	if !s.Enter(0, 1) || s.Biased(0, 0) {
		t.Fatal("a reader does not withdraw the bias")
	}
	s.Leave(0, 1)
	if alone(1, 2*biasEvery) == 0 || alone(0, 1) != 0 {
		t.Fatal("the bias does not go to another process")
	}
	s.Claim(0, 1)
	s.Reap(1)
	if s.Holder(0) != -1 || s.Occupant(0, 0) != -1 || alone(0, 2*biasEvery) == 0 {
		t.Fatal("the bias to a dead process remains")
	}
	s = HeapStripes(biasMost + 1)
	if alone(0, 2*biasEvery) != 0 {
		t.Fatal("a stripe of too many processes becomes biased")
	}
}
