//go:build unix

package launch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// Programs of MPICH and Intel MPI are ranks under this launcher like Halo's own. They speak PMI-1 on
// the link of the rank: PMI_FD and HALO_BOOT_FD name the same descriptor, and the first bytes show
// which protocol a program has. So nothing is opened for programs of another MPI until one joins.
//
// What the ranks of a host put between two barriers is one value of an Exchange of package boot, and
// travels as such: a barrier is one frame to the launcher and one back for each host, and each host
// answers gets by itself. Names of services are few, and the launcher has them all.

// What wrapper scripts for Open MPI read.
const (
	envPeerRank  = "OMPI_COMM_WORLD_RANK"
	envPeerLocal = "OMPI_COMM_WORLD_LOCAL_RANK"
)

// linkFD is the descriptor of the link in a process, after stdin, stdout and stderr.
const linkFD = "3"

// environ returns the variables of one process: its link, which has that inode, the place of its program in the job for
// Halo, and the same for programs of MPICH and Intel MPI: see pmi.go.
func (a *agent) environ(p *process, self string, link uint64) []string {
	rank, size := strconv.Itoa(p.rank), strconv.Itoa(len(a.share.Where))
	return []string{
		boot.EnvFD + "=" + linkFD, boot.EnvLink + "=" + boot.LinkNote(link, p.rank, a.door.name), boot.EnvHalo + "=" + self, plan.EnvJob + "=" + a.mark,
		plan.EnvRank + "=" + rank, plan.EnvSize + "=" + size,
		boot.EnvPMIFD + "=" + linkFD, boot.EnvPMIRank + "=" + rank, boot.EnvPMISize + "=" + size,
		envPeerRank + "=" + rank, envPeerLocal + "=" + strconv.Itoa(slices.Index(a.ranks, p.rank)),
		plan.EnvLocalRank + "=" + strconv.Itoa(slices.Index(a.ranks, p.rank)), plan.EnvLocalSize + "=" + strconv.Itoa(len(a.ranks)),
	}
}

// servePMI serves a program of another MPI.
func (a *agent) servePMI(c *boot.Session, from io.Reader) error {
	a.pmiOnce.Do(func() {
		nodes := make([]int, len(a.share.Where))
		for i, h := range a.share.Where {
			nodes[i] = int(h)
		}
		a.pmi = pmi1.NewServer(pmi1.Job{Name: "halo-" + a.share.ID, Size: len(nodes), Nodes: nodes, AppNum: a.share.AppOf,
			Room: min(boot.MaxPlainValue, talk.MaxFrame/len(nodes)-2)}, (*asPMI)(a))
	})
	return a.pmi.Serve(c.Rank(), from, c)
}

// asPMI is the pmi1.Host of the agent. Sessions of ranks call it concurrently with the loop.
type asPMI agent

// Joined is called when rank has connected.
func (h *asPMI) Joined(rank int) error {
	a := (*agent)(h)
	a.post(func() { a.hasJoined(rank, talk.Joining{InC: true, World: true, PMI: true}) })
	return nil
}

// Fence is called when rank enters a barrier.
func (h *asPMI) Fence(rank int, puts []byte) ([][]byte, error) {
	all, err := (*agent)(h).process(rank).session.Exchange(puts)
	if errors.Is(err, boot.ErrOver) {
		err = pmi1.ErrOver
	}
	return all, err
}

// A nameAnswer is the answer to a request about the name of a service; why says why it has failed.
type nameAnswer struct{ port, why string }

// Name waits for the launcher's answer to a request about a name.
func (h *asPMI) Name(rank int, r pmi1.NameRequest) (string, error) {
	a, p := (*agent)(h), (*agent)(h).process(rank)
	answer := make(chan nameAnswer, 1)
	a.post(func() {
		p.asking = answer
		a.up.service(rank, r)
	})
	select {
	case n := <-answer:
		if n.why != "" {
			return "", errors.New(n.why)
		}
		return n.port, nil
	case <-p.session.Gone():
		return "", pmi1.ErrOver
	}
}

// named answers the request of a rank about a name.
func (a *agent) named(rank int, n nameAnswer) {
	for _, p := range a.procs {
		if p.rank == rank && p.asking != nil {
			p.asking <- n
			p.asking = nil
		}
	}
}

// Finalized is called when rank may end from now on.
func (h *asPMI) Finalized(rank int) {
	a := (*agent)(h)
	a.server.Finalized(rank)
	a.post(func() { a.up.finalized(rank) })
}

// Aborted is called when rank aborts the job. Its MPI has said why.
func (h *asPMI) Aborted(rank, code int) {
	a := (*agent)(h)
	a.post(func() { a.up.aborted(rank, code, "") })
}

// names are the services that ranks have published, by name.
type names map[string]string

// maxNames bounds the number of names in a job.
const maxNames = 1 << 12

// service is called when a rank wants something of the name of a service.
func (j *job) service(rank int, r pmi1.NameRequest) {
	port, known := j.names[r.Service]
	var n nameAnswer
	switch {
	case r.Verb == pmi1.Publish && known:
		n.why = "the service has been published"
	case r.Verb == pmi1.Publish && len(j.names) == maxNames:
		n.why = fmt.Sprintf("the job has published %d services, which is the limit", maxNames)
	case r.Verb == pmi1.Publish:
		if j.names == nil {
			j.names = names{}
		}
		j.names[r.Service] = r.Port
	case !known:
		n.why = "the service has not been published"
	case r.Verb == pmi1.Lookup:
		n.port = port
	default:
		delete(j.names, r.Service)
	}
	if h := j.ranks[rank].host; !h.gone() {
		h.node.named(rank, n)
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
