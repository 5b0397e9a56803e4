package sys

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Core dumps omit the runtime's reservations, and neither reservations of others nor accessible
// memory.
func TestDumpsLeaveReservationsOut(t *testing.T) {
	const size = 4 << 20
	maps := map[string][]byte{}
	for name, x := range map[string][2]int{
		"reserved as by the runtime":    {unix.PROT_NONE, 0},
		"reserved as by the C library":  {unix.PROT_NONE, unix.MAP_NORESERVE},
		"memory":                        {unix.PROT_READ | unix.PROT_WRITE, 0},
		"memory that can only be read ": {unix.PROT_READ, 0},
	} {
		// The guard pages prevent the kernel from merging adjacent areas.
		m, err := unix.Mmap(-1, 0, size+2*os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(m)
		part := m[os.Getpagesize():][:size]
		if err := again(part, x[0], x[1]); err != nil {
			t.Fatal(err)
		}
		maps[name] = part
	}
	if err := OmitReserved(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range maps {
		if got, want := omitted(t, string(text), m), name == "reserved as by the runtime"; got != want {
			t.Errorf("%s: left out %t, want %t", name, got, want)
		}
	}
	err = reserved(bytes.NewReader(text), func(lo, hi uintptr) error {
		t.Errorf("a reservation is still in dumps: %x-%x", lo, hi)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	// OmitReserved runs in each rank, so it may take only a few KiB, however long the list is.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := OmitReserved(); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	taken := after.TotalAlloc - before.TotalAlloc
	if taken > 8<<10 {
		t.Errorf("looking for reservations takes %d bytes of memory", taken)
	}
}

// again maps new memory at the same addresses.
func again(part []byte, prot, flags int) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&part[0]), uintptr(len(part)), prot, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|flags)
	return err
}

// omitted reports whether the area of m has the flag of MADV_DONTDUMP.
func omitted(t *testing.T, smaps string, m []byte) bool {
	t.Helper()
	_, text, found := strings.Cut(smaps, fmt.Sprintf("%x-", uintptr(unsafe.Pointer(&m[0]))))
	if !found {
		t.Fatal("an area is not in the list")
	}
	_, text, _ = strings.Cut(text, "VmFlags:")
	flags, _, _ := strings.Cut(text, "\n")
	return slices.Contains(strings.Fields(flags), "dd")
}
