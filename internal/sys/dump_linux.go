package sys

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// reservedLeast is the size in bytes from which OmitReserved marks a reservation: larger than the guard
// pages of stacks.
const reservedLeast = 1 << 20

// OmitReserved excludes from core dumps the addresses that Go's runtime has reserved for its heap and
// has not used, 1.2 GB. Otherwise a debugger writes them as zeros. The runtime maps addresses again
// when it uses them, so that they are in dumps then.
//
// Reservations by others (the C library for malloc of threads, sanitizers) have the flag of
// MAP_NORESERVE and are not changed: their owners may only change the protection when they use the
// addresses, which would then be missing in dumps.
//
// OmitReserved reads the list of areas through one small buffer. It does not use an os.File, which would
// start the runtime's poller and so take memory of each rank.
func OmitReserved() error {
	fd, err := unix.Open("/proc/self/smaps", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/proc/self/smaps: %w", err)
	}
	defer unix.Close(fd)
	return reserved(descriptor(fd), func(lo, hi uintptr) error {
		// The kernel checks that the area is mapped.
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, lo, hi-lo, unix.MADV_DONTDUMP); errno != 0 {
			return fmt.Errorf("madvise of %d bytes at %#x: %w", hi-lo, lo, errno)
		}
		return nil
	})
}

// descriptor is an io.Reader of a file.
type descriptor int

func (d descriptor) Read(b []byte) (int, error) {
	n, err := unix.Read(int(d), b)
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// reserved calls found for the areas in a text of /proc/PID/smaps that are not accessible, belong to no
// file, and are not marked yet.
func reserved(smaps io.Reader, found func(lo, hi uintptr) error) error {
	var lo, hi uint64
	candidate := false
	lines := bufio.NewScanner(smaps)
	lines.Buffer(make([]byte, 0, 2<<10), 64<<10)
	for lines.Scan() {
		line := lines.Bytes()
		if flags, ok := bytes.CutPrefix(line, []byte("VmFlags:")); ok {
			if candidate && !marked(flags) {
				if err := found(uintptr(lo), uintptr(hi)); err != nil {
					return err
				}
			}
			candidate = false
			continue
		}
		// Addresses, access, offset, device, inode, and a name if there is one.
		from, rest, ok := hex(line)
		if !ok || len(rest) == 0 || rest[0] != '-' {
			continue
		}
		to, rest, ok := hex(rest[1:])
		lo, hi = from, to
		candidate = ok && to-from >= reservedLeast && bytes.HasPrefix(rest, []byte(" ---p ")) && bytes.HasSuffix(bytes.TrimRight(rest, " "), []byte(" 00:00 0"))
	}
	return lines.Err()
}

// marked reports whether flags contain that of MAP_NORESERVE or of MADV_DONTDUMP.
func marked(flags []byte) bool {
	return bytes.Contains(flags, []byte(" nr")) || bytes.Contains(flags, []byte(" dd"))
}

// hex parses the hexadecimal digits at the beginning of a text.
func hex(text []byte) (n uint64, rest []byte, ok bool) {
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return n, text[i:], i > 0
		}
	}
	return n, nil, len(text) > 0
}
