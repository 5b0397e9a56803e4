//go:build unix

package launch

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
)

// names are the services that ranks have published, by name.
type names map[string]string

// maxNames bounds the number of names in a job.
const maxNames = 1 << 12

// Service is called when a rank wants something of the name of a service.
func (j *job) Service(rank int, r pmi1.NameRequest) {
	port, known := j.names[r.Service]
	var n agent.NameAnswer
	switch {
	case r.Verb == pmi1.Publish && known:
		n.Why = "the service has been published"
	case r.Verb == pmi1.Publish && len(j.names) == maxNames:
		n.Why = fmt.Sprintf("the job has published %d services, which is the limit", maxNames)
	case r.Verb == pmi1.Publish:
		if j.names == nil {
			j.names = names{}
		}
		j.names[r.Service] = r.Port
	case !known:
		n.Why = "the service has not been published"
	case r.Verb == pmi1.Lookup:
		n.Port = port
	default:
		delete(j.names, r.Service)
	}
	if h := j.ranks[rank].host; !h.gone() {
		h.node.Named(rank, n)
	}
}

// mixed ends a job in which r and a rank before it use different implementations of MPI: their ranks
// would wait for each other.
func (j *job) mixed(r *rank) bool {
	if j.firstRank == nil {
		j.firstRank = r
	}
	halo, mpich := r, j.firstRank
	if r.PMI {
		halo, mpich = j.firstRank, r
	}
	if halo.PMI == mpich.PMI {
		return false
	}
	j.end(exit.CannotRun, "%s is a program of Halo, and %s one of another MPI, which has joined by PMI-1; the job was ended "+
		"(one library of MPI for all ranks of a job)", j.name(halo), j.name(mpich))
	return true
}
