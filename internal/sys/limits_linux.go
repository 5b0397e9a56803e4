package sys

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// LimitOfAddresses returns how many bytes this process may map; ok is false if there is no limit.
func LimitOfAddresses() (n uint64, ok bool) { return limit(unix.RLIMIT_AS) }

// LimitOfFiles returns how many descriptors this process may have; ok is false if there is no limit.
func LimitOfFiles() (n uint64, ok bool) { return limit(unix.RLIMIT_NOFILE) }

// mapped returns the error of a mapping, with the limit that is its likely cause.
func mapped(err error) error {
	if n, ok := LimitOfAddresses(); ok && errors.Is(err, unix.ENOMEM) {
		return fmt.Errorf("%w: this process may map %d KiB (ulimit -v), Halo reserves some 2 GiB", err, n>>10)
	}
	return err
}

// LimitOfUser returns how many processes and threads the user of this process may have; ok is false if
// there is no limit, as for root.
func LimitOfUser() (n uint64, ok bool) {
	if os.Geteuid() == 0 {
		return 0, false
	}
	return limit(unix.RLIMIT_NPROC)
}

func limit(which int) (n uint64, ok bool) {
	var l unix.Rlimit
	if unix.Getrlimit(which, &l) != nil || l.Cur >= math.MaxInt64 {
		return 0, false
	}
	return l.Cur, true
}

// LimitOfGroup returns how many processes and threads the control groups of this process permit; ok is
// false if no group limits them.
func LimitOfGroup() (n uint64, ok bool) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(f) < 3 {
			continue
		}
		root := "/sys/fs/cgroup"
		switch {
		case f[1] == "": // version 2
		case f[1] == "pids":
			root = "/sys/fs/cgroup/pids"
		default:
			continue
		}
		for dir := f[2]; ; dir = filepath.Dir(dir) {
			value, _ := os.ReadFile(filepath.Join(root, dir, "pids.max"))
			if most, err := strconv.ParseUint(strings.TrimSpace(string(value)), 10, 64); err == nil && (!ok || most < n) {
				n, ok = most, true
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return n, ok
}
