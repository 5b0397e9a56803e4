package shmfmt

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"
)

// offerForTest is an offer between two goroutines.
func offerForTest() *Offer { return (*Offer)(unsafe.Pointer(&heapMemory(OfferSize)[0])) }

// Each offer is either retracted, and was not done at all, or it ends, and was done once, with its own
// data and its own answer.
func TestOfferIsRetractedOrEnds(t *testing.T) {
	const offers = 30000
	o := offerForTest()
	var stop atomic.Bool
	taken := make([]int, offers+1) // by number
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r := rand.New(rand.NewPCG(1, 2))
		for h := (OfferHead{}); !stop.Load(); {
			for range r.IntN(20) {
				Pause()
			}
			if r.IntN(50) == 0 {
				runtime.Gosched()
			}
			n, ok := o.Take(&h)
			if !ok {
				continue
			}
			if n == 0 || n > offers || h.Window != n || h.At != 2*n || uint64(h.Do) != 3*n || uint64(h.Size) != 4*n ||
				binary.LittleEndian.Uint64(o.Data()[:]) != 5*n {
				t.Errorf("offer %d is %+v with %d", n, h, binary.LittleEndian.Uint64(o.Data()[:]))
				n = 0
			}
			taken[n]++
			binary.LittleEndian.PutUint64(o.Answer()[:], 6*n)
			o.End(n, n%3 != 0)
		}
	}()
	back, done := 0, 0
	was := make([]bool, offers+1) // retracted
	for n := uint64(1); n <= offers; n++ {
		binary.LittleEndian.PutUint64(o.Data()[:], 5*n)
		o.Make(n, &OfferHead{Window: n, At: 2 * n, Do: uint32(3 * n), Size: uint32(4 * n)})
		for k := int(n) % 40; k > 0; k-- {
			Pause()
		}
		if n%2 == 0 && o.Retract(n) {
			was[n] = true
			back++
			continue
		}
		for {
			if ended, ok := o.Ended(n); ended {
				if got := binary.LittleEndian.Uint64(o.Answer()[:]); ok != (n%3 != 0) || got != 6*n {
					t.Fatalf("offer %d ends with %v and %d", n, ok, got)
				}
				break
			}
			runtime.Gosched()
		}
		done++
	}
	stop.Store(true)
	<-gone
	for n := 1; n <= offers; n++ {
		if want := map[bool]int{true: 0, false: 1}[was[n]]; taken[n] != want {
			t.Fatalf("offer %d was done %d times; retracted: %v", n, taken[n], was[n])
		}
	}
	if back == 0 || done == 0 {
		t.Errorf("of %d offers %d were retracted and %d ended: one of both was not tried", offers, back, done)
	}
}

// The end of an offer is not the end of the one before or after it.
func TestOfferEndsByItsNumber(t *testing.T) {
	o := offerForTest()
	var h OfferHead
	if ended, _ := o.Ended(1); ended {
		t.Error("the first offer has ended before it was made")
	}
	o.Make(1, &h)
	if !o.Made() {
		t.Error("nobody can see the offer")
	}
	if n, ok := o.Take(&h); !ok || n != 1 {
		t.Fatal(n, ok)
	}
	if _, again := o.Take(&h); again || o.Made() || o.Retract(1) {
		t.Error("an offer is taken twice, or taken and retracted")
	}
	o.End(1, true)
	if ended, done := o.Ended(1); !ended || !done {
		t.Error("the offer has not ended")
	}
	o.Make(2, &h)
	if ended, _ := o.Ended(2); ended {
		t.Error("the second offer ends as the first")
	}
	if !o.Retract(2) || o.Made() || o.Retract(2) {
		t.Error("the offer cannot be retracted once")
	}
	if _, ok := o.Take(&h); ok {
		t.Error("what was retracted is taken")
	}
}

// BenchmarkOffer measures offers to a target that does nothing but take them.
func BenchmarkOffer(b *testing.B) {
	o := offerForTest()
	var stop atomic.Bool
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for h := (OfferHead{}); !stop.Load(); {
			if n, ok := o.Take(&h); ok {
				o.End(n, true)
			}
		}
	}()
	b.ReportAllocs()
	var pace atomic.Uint64
	n := uint64(0)
	for b.Loop() {
		n++
		o.Make(n, &OfferHead{Size: 8})
		for ended := false; !ended; ended, _ = o.Ended(n) {
			pace.Add(1)
		}
	}
	stop.Store(true)
	<-gone
}
