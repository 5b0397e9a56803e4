//go:build unix

package agent

import (
	"time"

	"github.com/halo-mpi/halo/internal/launch/program"
)

// A program that is built for another MPI without PMI-1, such as Open MPI, becomes n worlds of one
// process under this launcher, and its status does not show that. The launcher reports it only with evidence, since ordinary
// commands are allowed too: a rank has not called Halo's Init, and its program is linked with a
// library of another MPI or has mapped one.

// otherMPIDelay is after how long an agent checks which libraries are mapped by processes that
// have not called Init.
const otherMPIDelay = time.Second

// watchOthers looks for programs of another MPI after they have had the time to start.
func (a *Agent) watchOthers() {
	time.AfterFunc(otherMPIDelay, func() {
		a.post(func() {
			seen := map[int]bool{}
			for _, p := range a.procs {
				if p.joined || !p.alive() || seen[p.app] {
					continue
				}
				seen[p.app] = true
				if lib := program.MappedMPI(p.pid); lib != "" && !program.SpeaksPMI(lib) {
					a.up.Other(p.rank, lib, true)
				}
			}
		})
	})
}

// linkedWith returns the library of another MPI that the program of a rank is linked with.
func (a *Agent) linkedWith(app int) string {
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
