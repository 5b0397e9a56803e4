package sys

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// reservedLeast is the size in bytes from which a reservation is worth a system call: above
// all guards of stacks.
const reservedLeast = 1 << 20

// OmitReserved has core dumps leave out the addresses that Go's runtime has reserved for its
// heap and has not used, 1.2 GB. A debugger writes them as zeros otherwise. What the runtime
// uses later of them it maps anew, and is in dumps.
//
// What others have reserved has the flag of MAP_NORESERVE (the C library for malloc of
// threads, sanitizers), and stays as it is: they may only change its protection when they use
// it, so that it would be missing.
func OmitReserved() error {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, area := range reserved(text) {
		// The kernel checks that the area is mapped.
		_, _, errno := unix.Syscall(unix.SYS_MADVISE, area.lo, area.hi-area.lo, unix.MADV_DONTDUMP)
		if errno != 0 {
			return fmt.Errorf("madvise of %d bytes at %#x: %w", area.hi-area.lo, area.lo, errno)
		}
	}
	return nil
}

// area is a range of addresses.
type area struct{ lo, hi uintptr }

// reserved are the areas in a text of /proc/PID/smaps that cannot be accessed, are of no
// file, and have not been marked.
func reserved(smaps []byte) (list []area) {
	var last area
	candidate := false
	for lines := bufio.NewScanner(bytes.NewReader(smaps)); lines.Scan(); {
		line := lines.Text()
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
			marked := strings.Contains(flags+" ", " nr ") || strings.Contains(flags+" ", " dd ")
			if candidate && !marked {
				list = append(list, last)
			}
			candidate = false
			continue
		}
		// Addresses, access, offset, device, inode, and a name if there is one.
		head := strings.Fields(line)
		if len(head) < 5 || strings.HasSuffix(head[0], ":") {
			continue
		}
		var a area
		n, _ := fmt.Sscanf(head[0], "%x-%x", &a.lo, &a.hi)
		last, candidate = a, n == 2 && head[1] == "---p" && head[4] == "0" && a.hi-a.lo >= reservedLeast
	}
	return list
}
