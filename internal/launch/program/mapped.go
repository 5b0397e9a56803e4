//go:build unix

package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/ps"
)

// MappedMPI returns the library of another MPI that a process, or one that it has started, has
// mapped; "" if there is none.
func MappedMPI(pid int) string {
	if lib := mapped(pid); lib != "" {
		return lib
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if k, err := strconv.Atoi(filepath.Base(d)); err == nil && k != pid && ps.Descends(k, pid) && !launchedByOthers(k) {
			if lib := mapped(k); lib != "" {
				return lib
			}
		}
	}
	return ""
}

// launchedByOthers reports whether the launcher of another MPI, itself a plain command
// here, has started a process.
func launchedByOthers(pid int) bool {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for kv := range strings.SplitSeq(string(env), "\x00") {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_PORT":
			return true
		case boot.EnvPMIFD:
			if value != plan.LinkFD {
				return true
			}
		}
	}
	return false
}

func mapped(pid int) string {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for line := range strings.Lines(string(maps)) {
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		if name := filepath.Base(strings.TrimSuffix(line[at:], "\n")); isOtherMPI(name) {
			return name
		}
	}
	return ""
}
