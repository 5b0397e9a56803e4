//go:build unix

package launch

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// loaderAdvice explains why r ended with status 127 before it called Init: the dynamic loader
// ends so if it does not find a library, and a shell if it does not find a command. It is ""
// if r ended otherwise.
func loaderAdvice(j *job, r *rank) string {
	var list []int
	for _, other := range j.ranks {
		if other.lost() {
			list = append(list, other.index)
		}
	}
	if !r.lost() {
		return ""
	}
	return fmt.Sprintf("%s (%s) exited with status %d before %s: %s", wording.Numbered("rank", list), r.host.name, exit.NotFound, j.nameOfInit(r),
		program.NotLoaded(j.appOf(r.index).File))
}

// lost reports whether the process ended as one whose loader or shell found something missing.
func (r *rank) lost() bool {
	return r.ended && !r.joined && !r.status.Signaled() && r.status.ExitStatus() == exit.NotFound
}

// nameOfInit is the name of Init in the language of r's program: that of other ranks of the
// program, or the one that its libraries show.
func (j *job) nameOfInit(r *rank) string {
	app := j.appOf(r.index)
	for _, other := range j.ranks {
		if other.joined && j.appOf(other.index) == app {
			return wording.Calls("mpi.Init", other.InC)
		}
	}
	if program.UsesABI(app.File) {
		return "MPI_Init"
	}
	return "mpi.Init or MPI_Init"
}
