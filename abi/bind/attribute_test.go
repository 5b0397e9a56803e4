package bind

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// hooksOfGo are Hooks whose memory is of Go and lives as long as the test, and whose functions are
// those of a map, by their addresses.
func hooksOfGo(t testing.TB, functions map[uintptr]func(words []uintptr) int) Hooks {
	var keep []*int64
	t.Cleanup(func() { runtime.KeepAlive(keep) })
	return Hooks{
		Malloc: func(size uintptr) unsafe.Pointer {
			if size != 8 {
				panic("more than an integer")
			}
			keep = append(keep, new(int64))
			return unsafe.Pointer(keep[len(keep)-1])
		},
		Invoke: func(_ int, function uintptr, words []uintptr) int { return functions[function](words) },
	}
}

// An attribute that Fortran sets is an integer: C reads an address, behind which it is, and Fortran
// the integer. What C sets is a pointer, whose bits Fortran reads. A copy is of the same kind, with
// an integer of its own, and functions get the form of their language (LNG-10; MPI-5, 19.3.7).
func TestLNG10_AttributesOfTwoLanguages(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		const copied, deleted = 0x10000, 0x20000
		var given, ended []uintptr
		l := New(hooksOfGo(t, map[uintptr]func([]uintptr) int{
			copied: func(words []uintptr) int {
				given = append(given, words[3])
				words[4], words[5] = words[3], 1
				return 0
			},
			deleted: func(words []uintptr) int { ended = append(ended, words[2]); return 0 },
		}))
		key, ofC := l.addCommKeyval(&keyval{copy: copied, delete: deleted, fortran: true}), l.commKeyval(copied, deleted, 0)
		read := func(c *mpi.Comm, number int) attribute {
			t.Helper()
			v, set, err := mpi.GetAttr(c, l.keyvals.get(number).comm)
			ok(t, err)
			if !set {
				t.Fatal("there is no attribute")
			}
			return v
		}
		c, err := world.Dup()
		ok(t, err)
		const value = -(1<<33 + 7)
		ok(t, l.setCommAttr(c, key, l.attribute(uintptr(1<<64-(1<<33+7)), true)))
		ok(t, l.setCommAttr(c, ofC, l.attribute(uintptr(1<<64-(1<<33+7)), true)))
		v := read(c, key)
		if at := (*int64)(pointer(v.as(false))); int64(v.as(true)) != value || *at != value {
			t.Errorf("Fortran reads %d, C %d, want %d", int64(v.as(true)), *at, value)
		}
		d, err := c.Dup()
		ok(t, err)
		w := read(d, key)
		if int64(w.as(true)) != value || w.as(false) == v.as(false) {
			t.Errorf("the copy is %d at %#x, the original at %#x", int64(w.as(true)), w.as(false), v.as(false))
		}
		if of := read(c, ofC).as(false); len(given) != 2 || int64(given[0]) != value || given[1] != of {
			t.Errorf("copy functions got %#x, want %d in Fortran and %#x in C", given, value, of)
		}
		if own := read(d, ofC); int64(own.as(true)) != value || own.as(false) == given[1] {
			t.Errorf("the copy by C is %d at %#x", int64(own.as(true)), own.as(false))
		}
		addresses := []uintptr{read(d, ofC).as(false), w.as(true)}
		ok(t, d.Free())
		if len(ended) != 2 || ended[0] != addresses[0] || ended[1] != addresses[1] {
			t.Errorf("delete functions got %#x, want %#x in C, and in Fortran", ended, addresses)
		}

		object := unmoved[int64]()
		pointed := uintptr(unsafe.Pointer(object))
		ok(t, l.setCommAttr(c, key, l.attribute(pointed, false)))
		if v := read(c, key); v.as(true) != pointed || v.as(false) != pointed {
			t.Errorf("a pointer %#x reads as %#x in Fortran, %#x in C", pointed, v.as(true), v.as(false))
		}
		e, err := c.Dup()
		ok(t, err)
		if v := read(e, key); v.as(false) != pointed {
			t.Errorf("its copy is %#x in C", v.as(false))
		}
	})
}

// A destructor is called once: when its keyval has been freed and has no attributes any more, when
// nothing refers to its operation, and at the end of the process at the latest.
func TestDestructorsAreCalledOnce(t *testing.T) {
	const destroy, function = 0x10000, 0x20000
	calls := map[uintptr]int{}
	l := New(hooksOfGo(t, map[uintptr]func([]uintptr) int{destroy: func(words []uintptr) int { calls[words[0]]++; return 0 }}))
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		number, err := l.fortranKeyval(call.None, l.addCommKeyval, 0, 0, destroy, 1)
		ok(t, err)
		k := l.keyvals.get(number)
		ok(t, l.setCommAttr(c, number, l.attribute(5, true)))
		l.count(k, 0, true)
		if calls[1] != 0 {
			t.Error("the destructor of a keyval is called while there is an attribute")
		}
		ok(t, c.Free())
		if calls[1] != 1 {
			t.Errorf("the destructor of a keyval that ends is called %d times", calls[1])
		}
	})
	for i := range 2 {
		f, err := l.callback(call.None, function, destroy, uintptr(2+i))
		ok(t, err)
		o := mpi.CreateOpFunc(func(in, inout mpi.Buffer) { l.combine(0, f.function, []uintptr{f.extra}, 1, in, inout) }, true)
		h := l.ops.add(o)
		if i == 0 {
			l.ops.remove(h)
		}
	}
	for calls[2] == 0 { // until the garbage collector has found the first one; the second has a handle
		runtime.GC()
		l.destructors.flush(false)
	}
	if calls[3] != 0 {
		t.Error("the destructor of an operation that has a handle is called")
	}
	l.lastOut()
	l.lastOut()
	if calls[1] != 1 || calls[2] != 1 || calls[3] != 1 {
		t.Errorf("in the end they are called %v times", calls)
	}
	if len(l.destructors.live) != 0 {
		t.Errorf("%d destructors are kept", len(l.destructors.live))
	}
}
