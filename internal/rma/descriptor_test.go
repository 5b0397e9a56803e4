package rma

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// What stands where the layout says is what Go has stored, also where a type of package
// atomic, or a slice, is around it (issue 7, section 3).
func TestDescriptorLayoutIsWhereThingsAre(t *testing.T) {
	at := map[string]uintptr{}
	for _, f := range DescriptorLayout() {
		if _, twice := at[f.Name]; twice {
			t.Fatalf("%s is there twice", f.Name)
		}
		at[f.Name] = uintptr(f.Value)
	}
	mem := make([]byte, 24)
	x := &target{unit: 3, most: 8, control: new(shmfmt.Window)}
	x.region = apply.Region{Mem: mem, Stripes: shmfmt.HeapStripes(5), Me: 4, Fine: true}
	x.gate.Store(gateOpen | gateLocked)
	x.framed.Store(true)
	x.size, x.addr, x.pid, x.gone = 24, 77, 78, new(atomic.Bool)
	x.may.Store(5)
	w := &Window{}
	w.mode.Store(modeLockAll)
	w.targets = make([]atomic.Pointer[target], 7)
	w.targets[2].Store(x)
	v := &View{w: w}
	v.how.Store(howIntrinsic)

	if p := load[*Window](unsafe.Pointer(v), at["VIEW_WINDOW"]); p != w {
		t.Errorf("the window is %p, read is %p", w, p)
	}
	if n := load[uint32](unsafe.Pointer(v), at["VIEW_HOW"]); n != uint32(at["HOW_INTRINSIC"]) {
		t.Errorf("how is %d", n)
	}
	if n := load[uint32](unsafe.Pointer(w), at["WINDOW_MODE"]); n != uint32(at["MODE_LOCK_ALL"]) {
		t.Errorf("the mode is %d", n)
	}
	if n := load[int](unsafe.Pointer(w), at["WINDOW_TARGETS"]+8); n != 7 {
		t.Errorf("there are %d targets", n)
	}
	if p := load[*target](load[unsafe.Pointer](unsafe.Pointer(w), at["WINDOW_TARGETS"]), 16); p != x {
		t.Errorf("target 2 is %p, read is %p", x, p)
	}
	p := unsafe.Pointer(x)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"gate", load[uint32](p, at["TARGET_GATE"]), uint32(at["GATE_OPEN"] | at["GATE_LOCKED"])},
		{"unit", load[int64](p, at["TARGET_UNIT"]), int64(3)},
		{"most", load[uint64](p, at["TARGET_MOST"]), uint64(8)},
		{"control", load[*shmfmt.Window](p, at["TARGET_CONTROL"]), x.control},
		{"framed", load[uint32](p, at["TARGET_FRAMED"]), uint32(1)},
		{"size", load[int64](p, at["TARGET_SIZE"]), int64(24)},
		{"address", load[uint64](p, at["TARGET_ADDR"]), uint64(77)},
		{"allowed", load[int32](p, at["TARGET_MAY"]), int32(5)},
		{"process", load[int32](p, at["TARGET_PID"]), int32(78)},
		{"gone", load[*atomic.Bool](p, at["TARGET_GONE"]), x.gone},
		{"mem", load[*byte](p, at["TARGET_MEM"]), &mem[0]},
		{"length", load[int](p, at["TARGET_MEM"]+8), 24},
		{"stripes", load[*shmfmt.Stripes](p, at["TARGET_STRIPES"]), x.region.Stripes},
		{"me", load[int](p, at["TARGET_ME"]), 4},
		{"fine", load[bool](p, at["TARGET_FINE"]), true},
		{"processes", load[int](unsafe.Pointer(x.region.Stripes), at["STRIPES_N"]), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, read is %v", c.name, c.want, c.got)
		}
	}
	// A reader's count and a writer's word are where the formula of the header has them.
	s, stripes := load[unsafe.Pointer](unsafe.Pointer(x.region.Stripes), at["STRIPES_MEM"]), x.region.Stripes
	for i := range shmfmt.StripeCount {
		if !stripes.Enter(i, 4) {
			t.Fatal("somebody is in a stripe")
		}
		if n := load[uint64](s, (at["STRIPE_COUNT"]+4)*at["STRIPE_LINE"]+uintptr(i)*8); n != uint64(at["STRIPE_ENTERED"]) {
			t.Errorf("the count of stripe %d is %#x", i, n)
		}
		stripes.Leave(i, 4)
		if !stripes.Claim(i, 4) {
			t.Fatal("somebody writes in a stripe")
		}
		if n := load[uint64](s, uintptr(i)*at["STRIPE_LINE"]); n != 5 {
			t.Errorf("the writer word of stripe %d is %#x", i, n)
		}
		stripes.Release(i)
	}
}

func load[T any](p unsafe.Pointer, at uintptr) T { return *(*T)(unsafe.Add(p, at)) }

// Layouts that differ have different numbers.
func TestLayoutNumber(t *testing.T) {
	fields := DescriptorLayout()
	was := LayoutNumber(fields)
	for i := range fields {
		fields[i].Value++
		if LayoutNumber(fields) == was {
			t.Errorf("%s does not count", fields[i].Name)
		}
		fields[i].Value--
	}
	if LayoutNumber(fields[1:]) == was {
		t.Error("the first field does not count")
	}
}
