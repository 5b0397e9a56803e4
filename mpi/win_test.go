package mpi_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Members have memory of different sizes and units, and a put at displacement d arrives d units
// of the target after the beginning of its memory.
func TestRW01_EachTargetHasItsUnit(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		mem := make([]byte, 64*(me+1))
		w, err := c.WinCreate(mem, me+1)
		ok(t, err)
		if w.DispUnit() != me+1 || w.Bytes() != int64(len(mem)) || &w.Untyped().Local()[0] != &mem[0] {
			t.Errorf("unit %d, %d bytes", w.DispUnit(), w.Bytes())
		}
		ok(t, w.Fence(0))
		for r := range n {
			ok(t, w.Untyped().Put(mpi.Buf([]byte{byte(10 + me)}), r, int64(10+me), 1, mpi.Byte()))
		}
		ok(t, w.Fence(0))
		for i, b := range mem {
			want := byte(0)
			if d := i / (me + 1); i%(me+1) == 0 && d >= 10 && d < 10+n {
				want = byte(d)
			}
			if b != want {
				t.Fatalf("byte %d is %d, want %d", i, b, want)
			}
		}
		ok(t, w.Free())
	})
}

// Memory of one window is also that of another: both see the same bytes, and locks of the two
// are independent.
func TestRW02_TwoWindowsOverOneMemory(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		a, err := mpi.WinAllocate[int64](c, 8)
		ok(t, err)
		b, err := mpi.WinCreate(c, a.Local())
		ok(t, err)
		peer := (c.Rank() + 1) % c.Size()
		ok(t, a.Lock(mpi.LockExclusive, peer, 0))
		ok(t, c.Barrier())
		ok(t, b.Lock(mpi.LockExclusive, peer, 0)) // while all members of a are locked
		ok(t, a.Put([]int64{7}, peer, 0))
		ok(t, a.Flush(peer))
		got := []int64{0}
		ok(t, b.Get(got, peer, 0))
		ok(t, b.Put([]int64{8}, peer, 1))
		ok(t, b.Unlock(peer))
		ok(t, a.Unlock(peer))
		ok(t, c.Barrier())
		if got[0] != 7 || a.Local()[0] != 7 || b.Local()[1] != 8 {
			t.Errorf("got %d, memory %v %v", got[0], a.Local(), b.Local())
		}
		ok(t, b.Free())
		ok(t, a.Free())
	})
}

// The group of a window is that of its communicator, in the same order (X-RMA-20), and Free
// waits until no member accesses the memory any more.
func TestRW03_XRMA20_GroupAndFree(t *testing.T) {
	onWindows(t, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Split(0, -world.Rank()) // in reverse order
		ok(t, err)
		group, err := c.Group()
		ok(t, err)
		all, err := world.Group()
		ok(t, err)
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			g, err := s.Group()
			ok(t, err)
			for h, want := range map[*mpi.Group]mpi.Comparison{&group: mpi.Ident, &all: mpi.Similar} {
				if how, err := g.Compare(*h); err != nil || how != want {
					t.Errorf("compares as %v (%v), want %v", how, err, want)
				}
			}
			if g.Rank() != c.Rank() {
				t.Errorf("rank %d in the group, want %d", g.Rank(), c.Rank())
			}
		})
		// A member that calls Free first waits for the others' accesses to its memory.
		mem := make([]int64, c.Size())
		w, err := mpi.WinCreate(c, mem)
		ok(t, err)
		ok(t, w.LockAll(0))
		for r := range c.Size() {
			ok(t, w.Put([]int64{int64(c.Rank() + 1)}, r, c.Rank()))
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
		for r, v := range mem {
			if v != int64(r+1) {
				t.Fatalf("memory after Free is %v", mem)
			}
		}
		ok(t, c.Free())
	})
}

// Regions are attached and detached; displacements are addresses of the target.
func TestRW04_XRMA01_DynamicWindows(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := c.WinCreateDynamic()
		ok(t, err)
		if w.Flavor() != mpi.WinFlavorDynamic || w.Untyped().Local() != nil || w.Bytes() != 0 || w.DispUnit() != 1 || w.Model() != mpi.WinUnified {
			t.Errorf("%v, %v, %d bytes, unit %d, model %d", w.Flavor(), w.Untyped().Local(), w.Bytes(), w.DispUnit(), w.Model())
		}
		typed := mpi.Win[int32]{Window: w}
		regions := [][]int32{make([]int32, 10), make([]int32, 1), make([]int32, 5000)}
		for round := range 3 { // the same memory several times
			var addrs []int64
			for _, r := range regions {
				clear(r)
				ok(t, mpi.Attach(w, r))
				addrs = append(addrs, mpi.Address(r))
			}
			all := make([]int64, len(addrs)*c.Size())
			ok(t, mpi.Allgather(c, addrs, all))
			peer := (c.Rank() + 1 + round) % c.Size()
			theirs := all[peer*len(addrs):][:len(addrs)]
			ok(t, w.LockAll(0))
			for i, r := range regions {
				v := int32(1000*round + 10*i + c.Rank())
				last := mpi.AintAdd(theirs[i], int64(4*(len(r)-1)))
				ok(t, typed.Put([]int32{v}, peer, int(last)))
				if mpi.AintDiff(last, theirs[i]) != int64(4*(len(r)-1)) { // X-RMA-12
					t.Error("AintDiff does not undo AintAdd")
				}
			}
			ok(t, w.FlushAll())
			for i, r := range regions {
				got := []int32{0}
				ok(t, typed.Get(got, peer, int(theirs[i])+4*(len(r)-1)))
				ok(t, w.FlushLocal(peer))
				if want := int32(1000*round + 10*i + c.Rank()); got[0] != want {
					t.Errorf("region %d: got %d, want %d", i, got[0], want)
				}
			}
			ok(t, w.UnlockAll())
			ok(t, c.Barrier())
			from := (c.Rank() + 2*c.Size() - 1 - round) % c.Size()
			for i, r := range regions {
				if want := int32(1000*round + 10*i + from); r[len(r)-1] != want {
					t.Errorf("region %d holds %d, want %d", i, r[len(r)-1], want)
				}
				ok(t, mpi.Detach(w, r))
			}
			ok(t, c.Barrier())
		}
		ok(t, w.Free())
	})
}

// Detached memory is not accessed, even if an origin has cached its description; memory that is
// attached again with other bounds has these bounds.
func TestRW05_RegionsAreRevalidated(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := c.WinCreateDynamic()
		ok(t, err)
		typed := mpi.Win[int64]{Window: w}
		mem := make([]int64, 100)
		peer := (c.Rank() + 1) % c.Size()
		addrs, err := mpi.AllgatherOne(c, mpi.Address(mem))
		ok(t, err)
		// try puts one number, and returns the error.
		try := func(i int) error {
			ok(t, w.Lock(mpi.LockShared, peer, 0))
			put := typed.Put([]int64{int64(i)}, peer, int(addrs[peer])+8*i)
			return errors.Join(put, w.Unlock(peer))
		}
		for round := range 3 {
			for _, n := range []int{100, 1, 50} {
				ok(t, mpi.Attach(w, mem[:n]))
				ok(t, c.Barrier())
				ok(t, try(n-1))
				if n < 100 {
					wantClass(t, try(n), mpi.ErrRMARange)
				}
				ok(t, c.Barrier())
				if mem[n-1] != int64(n-1) || n < 100 && mem[n] != 0 {
					t.Fatalf("round %d, %d elements: the last is %d", round, n, mem[n-1])
				}
				clear(mem)
				ok(t, mpi.Detach(w, mem[:n]))
				ok(t, c.Barrier())
				wantClass(t, try(n-1), mpi.ErrRMARange)
				ok(t, c.Barrier())
				if mem[n-1] != 0 {
					t.Fatalf("round %d: detached memory was written to", round)
				}
			}
		}
		ok(t, w.Free())
	})
}

// Memory that cannot be attached or detached, and flavors that do not allow it.
func TestXRMA01_XRMA19_WrongAttach(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := c.WinCreateDynamic()
		ok(t, err)
		ok(t, w.SetName("heap"))
		mem := make([]int64, 10)
		ok(t, mpi.Attach(w, mem[2:6]))
		for _, overlap := range [][]int64{mem, mem[2:6], mem[:3], mem[5:], mem[3:4]} {
			wantText(t, mpi.Attach(w, overlap), mpi.ErrRMAAttach, "mpi: Attach on heap: ")
		}
		ok(t, mpi.Attach(w, mem[:2])) // two adjacent regions
		ok(t, mpi.Attach(w, mem[6:]))
		wantText(t, mpi.Detach(w, mem[3:]), mpi.ErrRMAAttach, "mpi: Detach on heap: ")
		ok(t, mpi.Detach(w, mem[2:]))
		wantClass(t, mpi.Detach(w, mem[2:]), mpi.ErrRMAAttach)
		wantClass(t, mpi.Detach(w, make([]int64, 1)), mpi.ErrRMAAttach)
		wantText(t, mpi.Attach(w, []string{"a"}), mpi.ErrType, "string")
		ok(t, w.Free())
		a, err := mpi.WinAllocate[int64](c, 4)
		ok(t, err)
		wantClass(t, mpi.Attach(a.Window, mem), mpi.ErrRMAFlavor)
		wantClass(t, mpi.Detach(a.Window, mem), mpi.ErrRMAFlavor)
		ok(t, a.Free())
	})
}

// The attributes of each flavor.
func TestXRMA01_Attributes(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		flavors := map[string]mpi.WinFlavor{"create": mpi.WinFlavorCreate, "create over AllocMem": mpi.WinFlavorCreate,
			"allocate": mpi.WinFlavorAllocate, "shared": mpi.WinFlavorShared,
			"dynamic": mpi.WinFlavorDynamic, "dynamic over AllocMem": mpi.WinFlavorDynamic}
		onSpaces(t, c, 3, func(t testing.TB, s *space[float64]) {
			if s.Flavor() != flavors[s.kind] || s.Model() != mpi.WinUnified || s.Flavor().String() == "no flavor" {
				t.Errorf("flavor %v, model %d", s.Flavor(), s.Model())
			}
			if s.addr != nil {
				return
			}
			if s.DispUnit() != 8 || s.Bytes() != 24 || &s.Local()[0] != &s.mem[0] || &s.Untyped().Local()[0] != (*byte)(unsafe.Pointer(&s.mem[0])) {
				t.Errorf("unit %d, %d bytes", s.DispUnit(), s.Bytes())
			}
		})
		// No memory at all, in one member and in all.
		for _, n := range []int{0, c.Rank() % 2} {
			w, err := mpi.WinAllocate[int16](c, n)
			ok(t, err)
			if len(w.Local()) != n {
				t.Errorf("%d elements, want %d", len(w.Local()), n)
			}
			ok(t, w.Fence(0))
			ok(t, w.Put(nil, (c.Rank()+1)%c.Size(), 0))
			ok(t, w.Fence(0))
			ok(t, w.Free())
		}
	})
}

// Shared memory of the ranks is contiguous, unless a hint allows gaps; others see stores to it.
// Ranks of several hosts share none.
func TestXRMA02_XRMA22_SharedMemory(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		if !canShare(t, c) {
			w, err := mpi.WinAllocateShared[int64](c, 1)
			wantClass(t, err, mpi.ErrRMAShared)
			if w.Window != nil {
				t.Error("there is a window")
			}
			return
		}
		noncontig := mpi.NewInfo()
		ok(t, noncontig.Set("alloc_shared_noncontig", "true"))
		for _, info := range []*mpi.Info{nil, noncontig} {
			w, err := mpi.WinAllocateShared[int32](c, c.Rank()+1, info)
			ok(t, err)
			me := w.Local()
			for i := range me {
				me[i] = int32(100*c.Rank() + i)
			}
			ok(t, w.Fence(0)) // active
			var end uintptr
			for r := range c.Size() {
				mem, err := w.Shared(r)
				ok(t, err)
				if len(mem) != r+1 {
					t.Fatalf("rank %d has %d elements", r, len(mem))
				}
				for i, v := range mem {
					if v != int32(100*r+i) {
						t.Fatalf("rank %d: %v", r, mem)
					}
				}
				at := uintptr(unsafe.Pointer(&mem[0]))
				if info == nil && r > 0 && at != end {
					t.Errorf("rank %d begins at %#x, the one before ends at %#x", r, at, end)
				}
				end = at + uintptr(4*len(mem))
			}
			ok(t, w.Fence(0))
			next := (c.Rank() + 1) % c.Size()
			ok(t, w.Lock(mpi.LockExclusive, next, 0)) // passive
			mem, err := w.Shared(next)
			ok(t, err)
			mem[0]++
			ok(t, w.Accumulate([]int32{1}, next, 0, mpi.Sum))
			ok(t, w.Unlock(next))
			ok(t, c.Barrier())
			ok(t, w.LockAll(0))
			ok(t, w.Sync())
			ok(t, w.UnlockAll())
			if me[0] != int32(100*c.Rank()+2) {
				t.Errorf("the first element is %d, want %d", me[0], 100*c.Rank()+2)
			}
			lowest, unit, err := w.SharedQuery(mpi.ProcNull)
			ok(t, err)
			if first, _ := w.Shared(0); unit != 4 || len(lowest) != 4 || &lowest[0] != (*byte)(unsafe.Pointer(&first[0])) {
				t.Errorf("ProcNull is %d bytes of unit %d", len(lowest), unit)
			}
			ok(t, w.Free())
		}
		// The lowest rank with memory is not rank 0.
		w, err := mpi.WinAllocateShared[int64](c, c.Rank()/2)
		ok(t, err)
		if mem, err := w.Shared(mpi.ProcNull); err != nil || len(mem) != 1 {
			t.Errorf("ProcNull has %d elements (%v), want those of rank 2", len(mem), err)
		}
		ok(t, w.Free())
	})
}

// SharedQuery works for other windows, too: it returns memory where that is mapped, and nil
// elsewhere.
func TestXRMA03_QueryOfOtherFlavors(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		host, err := c.SplitType(mpi.CommTypeShared, 0)
		ok(t, err)
		world, err := c.Group()
		ok(t, err)
		near, err := host.Group()
		ok(t, err)
		all := make([]int, c.Size())
		for i := range all {
			all[i] = i
		}
		local, err := world.TranslateRanks(all, near)
		ok(t, err)
		shares := canShare(t, host)
		onSpaces(t, c, 5, func(t testing.TB, s *space[int64]) {
			s.mem[1] = int64(c.Rank() + 1)
			ok(t, c.Barrier())
			for r := range c.Size() {
				mem, unit, err := s.SharedQuery(r)
				if s.addr != nil {
					wantClass(t, err, mpi.ErrRMAFlavor)
					continue
				}
				ok(t, err)
				mapped := r == c.Rank() || shares && local[r] != mpi.Undefined && s.kind != "create"
				if mapped != (len(mem) == 40) || !mapped && mem != nil {
					t.Errorf("rank %d: %d bytes, mapped %v", r, len(mem), mapped)
				}
				if !mapped {
					continue
				}
				typed, err := s.Shared(r)
				ok(t, err)
				if unit != 8 || typed[1] != int64(r+1) {
					t.Errorf("rank %d: unit %d, memory %v", r, unit, typed)
				}
			}
			for _, r := range []int{-1, c.Size()} {
				if s.addr == nil {
					_, err := s.Shared(r)
					wantText(t, err, mpi.ErrRank, "mpi: Shared")
				}
			}
			ok(t, c.Barrier())
		})
		ok(t, host.Free())
	})
}
