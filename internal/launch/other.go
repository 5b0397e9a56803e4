//go:build unix

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/ps"
)

// A program that is built for another MPI without PMI-1, such as Open MPI, becomes n worlds of one
// process under this launcher, and its status does not show that. The launcher reports it only with evidence, since ordinary
// commands are allowed too: a rank has not called Halo's Init, and its program is linked with a
// library of another MPI or has mapped one.

// otherMPIDelay is after how long an agent checks which libraries are mapped by processes that
// have not called Init.
const otherMPIDelay = time.Second

// watchOthers looks for programs of another MPI after they have had the time to start.
func (a *agent) watchOthers() {
	time.AfterFunc(otherMPIDelay, func() {
		a.post(func() {
			seen := map[int]bool{}
			for _, p := range a.procs {
				if p.joined || !p.alive() || seen[p.app] {
					continue
				}
				seen[p.app] = true
				if lib := mappedMPI(p.pid); lib != "" && !program.SpeaksPMI(lib) {
					a.up.other(p.rank, lib, true)
				}
			}
		})
	})
}

// linkedWith returns the library of another MPI that the program of a rank is linked with.
func (a *agent) linkedWith(app int) string {
	if a.linked == nil {
		a.linked = map[int]string{}
	}
	lib, known := a.linked[app]
	if !known {
		lib = program.LinkedMPI(a.share.Apps[app].File)
		a.linked[app] = lib
	}
	return lib
}

// mappedMPI returns the library of another MPI that a process, or one that it has started, has
// mapped; "" if there is none.
func mappedMPI(pid int) string {
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
			if value != linkFD {
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
		if name := filepath.Base(strings.TrimSuffix(line[at:], "\n")); program.IsOtherMPI(name) {
			return name
		}
	}
	return ""
}

// other is called when a rank has not called Init and its program uses a library of another
// MPI. If no rank has called Init, the launcher reports that: now if the rank still runs, else
// at the end.
func (j *job) other(rank int, library string, runs bool) {
	r := j.ranks[rank]
	r.other = library
	if runs && j.otherMPI() != "" && !j.ends() {
		j.say(j.otherMPI())
		j.otherSaid = true
	}
}

// otherMPI explains that the program of the job uses another MPI; "" if there is no evidence. A
// job of one rank is not explained, because such a program is a world of one under any launcher.
func (j *job) otherMPI() string {
	if j.firstIn != nil || j.otherSaid || len(j.ranks) == 1 {
		return ""
	}
	for _, r := range j.ranks {
		if program.SpeaksPMI(r.other) {
			return fmt.Sprintf("no rank has joined: %s uses %s%s, but has not connected to this launcher by PMI-1; if it calls MPI_Init, "+
				"each of the %d processes is a world of one: start it with the launcher of its MPI, or build that with PMI-1",
				j.appOf(r.index).File, r.other, program.Maker(r.other), len(j.ranks))
		}
		if r.other != "" {
			return fmt.Sprintf("no rank has called Halo's Init: is %s built for another MPI? It uses %s%s, and each of the %d processes "+
				"is a world of one: build it with Halo's mpicc, or start it with the launcher of its MPI",
				j.appOf(r.index).File, r.other, program.Maker(r.other), len(j.ranks))
		}
	}
	return ""
}
