package bind

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// told is a Fast that records the calls of its methods.
type told struct {
	types   map[uintptr]FastKind
	ops     map[[2]uintptr]uintptr // kernels by types and operations
	comms   map[uintptr][2]int
	slots   map[uintptr]uintptr
	wins    map[uintptr]uintptr
	files   map[uintptr]uintptr
	made    map[uintptr]*shmfmt.Type // derived types
	layouts shmfmt.Layouts
	ends    int
}

func newTold() *told {
	return &told{map[uintptr]FastKind{}, map[[2]uintptr]uintptr{}, map[uintptr][2]int{}, map[uintptr]uintptr{}, map[uintptr]uintptr{}, map[uintptr]uintptr{}, map[uintptr]*shmfmt.Type{}, shmfmt.Layouts{}, 0}
}

func (x *told) Watched() bool { return false }
func (x *told) KnowType(h uintptr, size, extent, trueExtent int, kind FastKind, code uint8) {
	x.types[h] = kind
}
func (x *told) KnowKernels(datatype uintptr, functions *[FastOps]uintptr) {
	for i, function := range functions {
		if function != 0 {
			x.ops[[2]uintptr{datatype, opNull + uintptr(i)}] = function
		}
	}
}
func (x *told) OpenComm(h uintptr, rank, size int, _ bool, slot, messages Descriptor) {
	x.comms[h], x.slots[h], x.layouts.Slot, x.layouts.Message = [2]int{rank, size}, slot.Address, slot.Layout, messages.Layout
}
func (x *told) CloseComm(h uintptr) { delete(x.comms, h) }
func (x *told) OpenWin(h, descriptor uintptr, layout uint64) {
	x.wins[h], x.layouts.Win = descriptor, layout
}
func (x *told) CloseWin(h uintptr) { delete(x.wins, h) }
func (x *told) OpenType(h, record uintptr, layout uint64) {
	x.made[h], x.layouts.Type = *(**shmfmt.Type)(unsafe.Pointer(&record)), layout
}
func (x *told) CloseType(h uintptr) { delete(x.made, h) }
func (x *told) OpenFile(h, descriptor uintptr, layout uint64) {
	x.files[h], x.layouts.File = descriptor, layout
}
func (x *told) CloseFile(h uintptr)  { delete(x.files, h) }
func (x *told) CloseAll()            { x.ends++ }
func (l *Lib) testStart(c *mpi.Comm) { l.startTypes(); l.startFlat(); l.world.Store(c); l.startFast() }
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// C hears of the beginning and the end of each handle, unless HALO_C_FAST is 0.
func TestFastHearsOfHandles(t *testing.T) {
	for _, on := range []bool{true, false} {
		mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
			x := newTold()
			l := New(Hooks{Fast: x})
			if on {
				t.Setenv("HALO_C_FAST", "1")
			} else {
				t.Setenv("HALO_C_FAST", "0")
			}
			l.testStart(world)
			c, err := world.Dup()
			ok(t, err)
			w, err := world.WinAllocate(64, 1)
			ok(t, err)
			opened, err := mpi.OpenFile(world, filepath.Join(t.TempDir(), "file"), mpi.ModeCreate|mpi.ModeReadWrite)
			ok(t, err)
			hc, hw, hf := l.addComm(c), l.addWin(w), l.addFile(opened)
			if !on {
				if len(x.types)+len(x.ops)+len(x.comms)+len(x.wins)+len(x.files) > 0 {
					t.Errorf("told in spite of HALO_C_FAST=0: %+v", x)
				}
			} else {
				if x.comms[hc] != [2]int{0, 1} || x.comms[commWorld] != [2]int{0, 1} || x.comms[commSelf] != [2]int{0, 1} || len(x.comms) != 3 {
					t.Errorf("communicators %v", x.comms)
				}
				address := engine.WinDescriptor(w)
				if address == 0 || x.wins[hw] != address {
					t.Errorf("window at %#x, told is %v", address, x.wins)
				}
				if address := engine.FileDescriptor(opened); address == 0 || x.files[hf] != address {
					t.Errorf("file at %#x, told is %v", address, x.files)
				}
				if want := (shmfmt.Layouts{
					Slot: shmfmt.LayoutNumber(coll.DescriptorLayout()), Message: shmfmt.LayoutNumber(p2p.DescriptorLayout()),
					Win: shmfmt.LayoutNumber(rma.DescriptorLayout()), File: shmfmt.LayoutNumber(file.DescriptorLayout()),
				}); x.layouts != want {
					t.Errorf("the numbers of layouts are %x, told are %x", want, x.layouts)
				}
				if len(x.types) != len(predefinedTypes) {
					t.Errorf("%d types, told are %d", len(predefinedTypes), len(x.types))
				}
			}
			l.comms.drop(hc)
			l.wins.drop(hw)
			l.files.drop(hf)
			if len(x.wins)+len(x.files) != 0 || x.comms[hc] != [2]int{} {
				t.Errorf("handles that have ended: %v, %v", x.wins, x.comms)
			}
			ok(t, c.Free())
			ok(t, w.Free())
			ok(t, opened.Close())
			if address := engine.FileDescriptor(opened); address != 0 {
				t.Error("a file that was closed has a descriptor")
			}
			if address := engine.WinDescriptor(w); address != 0 {
				t.Error("a window that was freed has a descriptor")
			}
			l.stopFast()
			if x.ends != 1 {
				t.Error("it is not told of the end")
			}
		})
	}
}

// C gets the record of a derived type when the type is made. The record contains a program for
// packing once Go has packed an element, until the handle ends. It is not on the Go heap, and
// the next type reuses it.
func TestFastHearsOfTypes(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		x := newTold()
		l := New(Hooks{Fast: x})
		l.testStart(world)
		l.state.Store(running)
		d, err := mpi.TypeVector(3, 1, 2, typeOf(t, "MPI_INT"))
		ok(t, err)
		h := l.addType(d)
		r := x.made[h]
		if r == nil || !offheap.Holds(unsafe.Pointer(r)) || r.Size != 12 || r.Program.Load() != 0 {
			t.Fatalf("told of %v before the type is committed", r)
		}
		if want := shmfmt.LayoutNumber(dtype.DescriptorLayout()); x.layouts.Type != want {
			t.Errorf("the number of the layout of types is %x, told is %x", want, x.layouts.Type)
		}
		r.Committed.Store(1) // as C does
		if !d.Committed() {
			t.Error("C has committed a type, which is not committed")
		}
		if r.Program.Load() != 0 {
			t.Error("a type may be packed before elements are")
		}
		packOne(t, l, h)
		program := r.Program.Load()
		if program == 0 || !offheap.Holds(*(*unsafe.Pointer)(unsafe.Pointer(&program))) {
			t.Errorf("the program of a type is at %#x", program)
		}
		again, err := d.Dup()
		ok(t, err)
		copied := l.addType(again)
		if copy := x.made[copied]; copy == r || copy.Program.Load() != 0 {
			t.Errorf("told of %v before elements of the copy are packed", copy)
		} else {
			packOne(t, l, copied)
			if copy.Program.Load() == 0 || copy.Program.Load() == program {
				t.Errorf("the program of the copy is at %#x, that of the type at %#x", copy.Program.Load(), program)
			}
		}
		old := h
		ok(t, l.freeType(args{unsafe.Pointer(&[]unsafe.Pointer{unsafe.Pointer(&h)}[0]), false, 0}))
		if x.made[old] != nil || len(x.made) != 1 || r.Program.Load() != 0 {
			t.Errorf("a type that was freed: told is %v", x.made)
		}
		if _, err := l.datatype(old).Size(); !errors.Is(err, mpi.ErrType) {
			t.Errorf("a stale handle: %v", err)
		}
		next, err := mpi.TypeContiguous(7, typeOf(t, "MPI_SHORT"))
		ok(t, err)
		if h := l.addType(next); x.made[h] != r || r.Size != 14 || r.Committed.Load() != 0 {
			t.Errorf("the next type has %v, the one before had %v", x.made[h], r)
		}
		if next.Committed() {
			t.Error("the type with the record of another one is committed")
		}
	})
}

// A second handle of one type, as MPI_Type_get_contents makes, leaves the record to the first
// handle; a commit through either counts.
func TestFastHearsOfOneTypeTwice(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		x := newTold()
		l := New(Hooks{Fast: x})
		l.testStart(world)
		inner, err := mpi.TypeVector(3, 1, 2, typeOf(t, "MPI_INT"))
		ok(t, err)
		outer, err := mpi.TypeContiguous(2, inner)
		ok(t, err)
		h := l.addType(inner)
		contents, err := outer.Contents()
		ok(t, err)
		second := l.addType(contents.Types[0])
		if second == h || x.made[h] == nil || x.made[second] != nil {
			t.Fatalf("handles %#x and %#x, told is %v", h, second, x.made)
		}
		x.made[h].Committed.Store(1)
		l.types.drop(h)
		if !contents.Types[0].Committed() {
			t.Error("with its first handle a type has lost that it is committed")
		}
		l.types.drop(second)
	})
}

// packOne packs an element of a type in Go.
func packOne(t testing.TB, l *Lib, h handle) {
	at := func(p unsafe.Pointer) uintptr { return uintptr(p) }
	memory, position := unmoved[[256]byte](), unmoved[int32]()
	words := &[7]uintptr{at(unsafe.Pointer(&memory[0])), 1, h, at(unsafe.Pointer(&memory[128])), 128, at(unsafe.Pointer(position)), commWorld}
	ok(t, l.pack(args{unsafe.Pointer(words), false, 0}))
	if *position == 0 {
		t.Error("nothing is packed")
	}
}

// C gets the address of the slot of a communicator, and 0 for a communicator without slot; a
// wait that C hands to Go ends, and a freed communicator has no slot.
func TestFastHearsOfSlots(t *testing.T) {
	mpitest.On(t, "inproc", 2, func(t testing.TB, world *mpi.Comm) {
		x := newTold()
		l := New(Hooks{Fast: x})
		l.testStart(world)
		c, err := world.Dup()
		ok(t, err)
		h := l.addComm(c)
		if address := engine.CommDescriptor(c); address == 0 || x.slots[h] != address || x.slots[commWorld] == 0 || x.slots[commSelf] != 0 {
			t.Errorf("a slot at %#x, told is %v", address, x.slots)
		}
		var word atomic.Uint64
		word.Store(7)
		if n := l.Await(h, &word, 7); n != 0 {
			t.Errorf("a wait for what is there ends with %d", n)
		}
		l.Ring(h)
		l.Balance(h)
		l.comms.drop(h)
		ok(t, c.Free())
		if address := engine.CommDescriptor(c); address != 0 {
			t.Error("a communicator that was freed has a descriptor")
		}
	})
}

// Package mpi defines all operations that C carries out on elements of a type. C knows only
// the kind of a type.
func TestFastKindsAreDefined(t *testing.T) {
	arithmetic := []mpi.Op{mpi.Sum, mpi.Min, mpi.Max}
	bitwise := []mpi.Op{mpi.Band, mpi.Bor, mpi.Bxor}
	always := []mpi.Op{mpi.Replace, mpi.NoOp}
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		w, err := world.WinAllocate(64, 1)
		ok(t, err)
		ok(t, w.LockAll(0))
		l := New(Hooks{})
		l.testStart(world)
		var a, b, c [32]byte
		found, kernels := 0, 0
		for _, p := range predefinedTypes {
			d := l.predefined[p.handle-firstPredefined]
			size, kind := fastType(p.name, d)
			if n, err := d.Size(); err != nil || n != size || size <= 0 || size > len(a) {
				t.Errorf("%s has %d bytes, C is told %d: %v", p.name, n, size, err)
			}
			one := func(x *[32]byte) mpi.Buffer { return mpi.BufPtr(unsafe.Pointer(x), 1, d) }
			if kind >= FastDense {
				ok(t, w.Untyped().Put(one(&a), 0, 0, 1, d))
				ok(t, w.Untyped().Get(one(&a), 0, 0, 1, d))
				if lb, extent, err := d.TrueExtent(); err != nil || lb != 0 || extent != size {
					t.Errorf("%s is not as it is packed", p.name)
				}
			}
			for _, o := range predefinedOps {
				if kind < FastDense || engine.Kernel(o, d) == 0 {
					continue
				}
				kernels++
				ok(t, o.ReduceLocal(one(&a), one(&b)))
				if kind >= FastBits {
					ok(t, w.Untyped().FetchAndOp(one(&a), one(&b), 0, 0, o))
				}
			}
			var ops []mpi.Op
			switch kind {
			case FastBits:
				ops = append(always, bitwise...)
			case FastSigned, FastUnsigned:
				ops = append(append(always, bitwise...), arithmetic...)
			case FastFloating:
				ops = append(always, mpi.Sum)
			default:
				continue
			}
			found++
			for _, o := range ops {
				ok(t, w.Untyped().FetchAndOp(one(&a), one(&b), 0, 0, o))
			}
			if kind != FastFloating {
				ok(t, w.Untyped().CompareAndSwap(one(&a), one(&b), one(&c), 0, 0))
			}
			// The maximum of 0 and a value with all bits set shows whether the type is signed.
			for i := range size {
				a[i], b[i] = 0xff, 0
			}
			if o := mpi.Max; kind == FastSigned || kind == FastUnsigned {
				ok(t, w.Untyped().Put(one(&a), 0, 0, 1, d))
				ok(t, w.Untyped().FetchAndOp(one(&b), one(&c), 0, 0, o))
				ok(t, w.Untyped().Get(one(&c), 0, 0, 1, d))
				if signed := c[0] == 0; signed != (kind == FastSigned) {
					t.Errorf("%s is signed: %v", p.name, signed)
				}
			}
		}
		x := newTold()
		l.hooks.Fast = x
		l.startFast()
		if len(x.ops) != kernels {
			t.Errorf("%d kernels for the types, told are %d", kernels, len(x.ops))
		}
		if double := l.predefined[0x214-firstPredefined]; x.ops[[2]uintptr{0x214, 0x21}] != engine.Kernel(mpi.Sum, double) {
			t.Error("the kernel of sums of MPI_DOUBLE is another one")
		}
		if found != 33 { // all types in fastKind except MPI_PACKED and MPIX_HANDLE_SYNC
			t.Errorf("%d of the types with a kind are there, want 33", found)
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}
