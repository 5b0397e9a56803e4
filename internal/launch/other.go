//go:build unix

package launch

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/launch/program"
)

// Other is called when a rank has not called Init and its program uses a library of another
// MPI. If no rank has called Init, the launcher reports that: now if the rank still runs, else
// at the end.
func (j *job) Other(rank int, library string, runs bool) {
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
