package mpi_test

import (
	"bytes"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// longPart is the length of a part of long memory.
const longPart = 2 << 20

// longMemory returns size bytes of memory, zero at first, that takes a few MiB of the machine: all parts of it are
// the same memory, except those with a byte of apart, which have memory of their own. It exists until
// the test ends.
func longMemory(t testing.TB, size int, apart ...int) []byte {
	t.Helper()
	if size == 0 {
		return nil
	}
	var parts []int
	for _, at := range apart {
		parts = append(parts, at/longPart)
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	f, err := sys.Memfd("test", int64(1+len(parts))*longPart)
	ok(t, err)
	defer f.Close()
	all, err := syscall.Mmap(-1, 0, (size+longPart-1)&^(longPart-1), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	ok(t, err)
	t.Cleanup(func() { syscall.Munmap(all) })
	for part := range len(all) / longPart {
		offset := 0
		if i, own := slices.BinarySearch(parts, part); own {
			offset = (1 + i) * longPart
		}
		if _, _, err := syscall.Syscall6(syscall.SYS_MMAP, uintptr(unsafe.Pointer(&all[part*longPart])), longPart,
			syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_FIXED, f.Fd(), uintptr(offset)); err != 0 {
			t.Fatal(err)
		}
	}
	return all[:size]
}

// TRM-13: a message of more than 4 GiB, on the fabrics between processes.
func TestTRM13_MoreThan4GiB(t *testing.T) {
	const size = 4<<30 + 12345
	testrun.PlainOnly(t, "4 GiB take too long")
	if testing.Short() {
		t.Skip("4 GiB take too long with -short")
	}
	marks := []int{0, 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, size - 1}
	out := longMemory(t, size, marks...)
	common := out[longPart : 2*longPart]
	for i := range common {
		common[i] = byte(i % 251)
	}
	for i, at := range marks {
		out[at] = byte(i + 1)
	}
	for _, fabric := range mpitest.Fabrics() {
		if fabric == "inproc" {
			continue
		}
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
				if c.Rank() == 0 {
					ok(t, mpi.Send(c, out, 1, 0))
					return
				}
				st, err := c.Probe(0, 0)
				ok(t, err)
				wantStatus(t, st, 0, 0, size)
				in := longMemory(t, size, marks...)
				st, err = mpi.Recv(c, in, 0, 0)
				ok(t, err)
				wantStatus(t, st, 0, 0, size)
				for part := 0; part < size; part += longPart {
					if end := min(part+longPart, size); !bytes.Equal(in[part:end], out[part:end]) {
						t.Fatalf("the %d bytes from %d on are others than were sent", end-part, part)
					}
				}
			})
		})
	}
}

// X-RMA-15: displacement units and sizes above 2^31, and one operation of more than that many bytes.
func TestXRMA15_LargeCounts(t *testing.T) {
	testrun.PlainOnly(t, "2 GiB take too long")
	const long = 1<<31 + 5
	marks := []int{0, 1 << 30, long - 1}
	for _, fabric := range mpitest.Fabrics()[:1] { // the other fabrics have the same code, partly slower
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
				var mem []byte
				if c.Rank() == 1 {
					mem = longMemory(t, long+10, 7, 7+1<<30, 7+long)
				}
				w, err := mpi.WinCreate(c, mem)
				ok(t, err)
				if c.Rank() == 0 {
					out := longMemory(t, long, marks...)
					for i, at := range marks {
						out[at] = byte(i + 1)
					}
					ok(t, w.Lock(mpi.LockExclusive, 1, 0))
					ok(t, w.Untyped().Put(mpi.Buf(out), 1, 7, long, mpi.Byte()))
					ok(t, w.Unlock(1))
				}
				ok(t, c.Barrier())
				if c.Rank() == 1 && (mem[7] != 1 || mem[7+1<<30] != 2 || mem[7+long-1] != 3 || mem[7+long] != 0) {
					t.Error("not all has come")
				}
				ok(t, w.Free())
				u, err := c.WinAllocate(1, 1<<40)
				ok(t, err)
				if u.DispUnit() != 1<<40 {
					t.Errorf("unit %d", u.DispUnit())
				}
				ok(t, u.Fence(0))
				wantClass(t, u.Untyped().Put(mpi.Buf([]byte{1}), 0, 1, 1, mpi.Byte()), mpi.ErrRMARange)
				wantClass(t, u.Untyped().Put(mpi.Buf([]byte{1}), 0, 1<<24, 1, mpi.Byte()), mpi.ErrRMARange) // 2^64 bytes
				ok(t, u.Untyped().Put(mpi.Buf([]byte{byte(5 + c.Rank())}), c.Rank(), 0, 1, mpi.Byte()))
				ok(t, u.Fence(0))
				if u.Untyped().Local()[0] != byte(5+c.Rank()) {
					t.Errorf("memory %v", u.Untyped().Local())
				}
				ok(t, u.Free())
			})
		})
	}
}

// QV-02: while one goroutine's put of 1 GiB is pending, another one's flush with thread scope,
// after a put of a byte, returns. With mapped memory there is nothing to wait for.
func TestQV02_FlushBesideAGiB(t *testing.T) {
	const long = 1 << 30
	testrun.PlainOnly(t, "1 GiB takes too long")
	switch {
	case testing.Short():
		t.Skip("1 GiB takes too long")
	case !slices.Contains(mpitest.Fabrics(), "tcp"):
		t.Skip("not over tcp")
	}
	mpitest.On(t, "tcp", 2, func(t testing.TB, c *mpi.Comm) {
		mem := longMemory(t, c.Rank()*(long+1), 0, long-1, long)
		w, err := mpi.WinCreate(c, mem)
		ok(t, err)
		if c.Rank() == 0 {
			data := longMemory(t, long, 0, long-1)
			data[0], data[long-1] = 1, 1
			a, err := w.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			b, err := w.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			ok(t, w.LockAll(0))
			beside := false
			// A scheduler may stop this goroutine for the time of the put, but not always.
			for tries := 0; tries < 5 && !beside; tries++ {
				put := make(chan mpi.Request)
				go func() { put <- a.Rrput(data, 1, 0) }()
				q := <-put
				ok(t, b.Put([]byte{2}, 1, long))
				ok(t, b.Flush(1))
				_, done, err := q.GetStatus()
				ok(t, err)
				beside = !done
				ok(t, second(q.Wait()))
			}
			if !beside {
				t.Error("the flush was never over before the long put of another goroutine")
			}
			ok(t, w.UnlockAll())
			ok(t, a.Free())
			ok(t, b.Free())
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 && (mem[0] != 1 || mem[long-1] != 1 || mem[long] != 2) {
			t.Errorf("there are %d, %d and %d", mem[0], mem[long-1], mem[long])
		}
		ok(t, w.Free())
	})
}
