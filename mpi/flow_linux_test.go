package mpi_test

import (
	"bytes"
	"runtime"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A message of more than 4 GiB, on the fabrics between processes.
func TestTRM13_MoreThan4GiB(t *testing.T) {
	const size, need = 4<<30 + 12345, 10 << 30
	testrun.PlainOnly(t, "4 GiB take too long")
	if testing.Short() {
		t.Skip("4 GiB take too long with -short")
	}
	if free := freeMemory(); free < need {
		t.Skipf("%d MiB of memory are free, %d are needed", free>>20, need>>20)
	}
	marks := []int{0, 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, size - 1}
	out, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	ok(t, err)
	defer syscall.Munmap(out)
	syscall.Madvise(out, syscall.MADV_HUGEPAGE) // where the kernel has huge pages, they save half of the time
	for i := 0; i < size; i += 4096 {
		out[i] = 0 // pages that were never written are slow to read by another process
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
				b, st, err := mpi.RecvSlice[byte](c, 0, 0)
				ok(t, err)
				wantStatus(t, st, 0, 0, size)
				for i, at := range marks {
					if b[at] != byte(i+1) {
						t.Errorf("byte %d is %d, want %d", at, b[at], i+1)
					}
				}
				if n := bytes.Count(b, []byte{0}); n != size-len(marks) {
					t.Errorf("%d bytes are zero, want %d", n, size-len(marks))
				}
			})
			runtime.GC()
		})
	}
}
