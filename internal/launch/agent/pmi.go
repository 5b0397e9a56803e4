//go:build unix

package agent

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
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

// environ returns the variables of one process: its link, which has that inode, the place of its program in the job for
// Halo, and the same for programs of MPICH and Intel MPI: see servePMI.
func (a *Agent) environ(p *process, self string, link uint64) []string {
	rank, size := strconv.Itoa(p.rank), strconv.Itoa(len(a.share.Where))
	return []string{
		boot.EnvFD + "=" + plan.LinkFD, boot.EnvLink + "=" + boot.LinkNote(link, p.rank, a.door.name), boot.EnvHalo + "=" + self, plan.EnvJob + "=" + a.mark,
		plan.EnvRank + "=" + rank, plan.EnvSize + "=" + size,
		boot.EnvPMIFD + "=" + plan.LinkFD, boot.EnvPMIRank + "=" + rank, boot.EnvPMISize + "=" + size,
		envPeerRank + "=" + rank, envPeerLocal + "=" + strconv.Itoa(slices.Index(a.ranks, p.rank)),
		plan.EnvLocalRank + "=" + strconv.Itoa(slices.Index(a.ranks, p.rank)), plan.EnvLocalSize + "=" + strconv.Itoa(len(a.ranks)),
	}
}

// servePMI serves a program of another MPI.
func (a *Agent) servePMI(c *boot.Session, from io.Reader) error {
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
type asPMI Agent

// Joined is called when rank has connected.
func (h *asPMI) Joined(rank int) error {
	a := (*Agent)(h)
	a.post(func() { a.hasJoined(rank, talk.Joining{InC: true, World: true, PMI: true}) })
	return nil
}

// Fence is called when rank enters a barrier.
func (h *asPMI) Fence(rank int, puts []byte) ([][]byte, error) {
	all, err := (*Agent)(h).process(rank).session.Exchange(puts)
	if errors.Is(err, boot.ErrOver) {
		err = pmi1.ErrOver
	}
	return all, err
}

// A NameAnswer is the answer to a request about the name of a service; why says why it has failed.
type NameAnswer struct{ Port, Why string }

// Name waits for the launcher's answer to a request about a name.
func (h *asPMI) Name(rank int, r pmi1.NameRequest) (string, error) {
	a, p := (*Agent)(h), (*Agent)(h).process(rank)
	answer := make(chan NameAnswer, 1)
	a.post(func() {
		p.asking = answer
		a.up.Service(rank, r)
	})
	select {
	case n := <-answer:
		if n.Why != "" {
			return "", errors.New(n.Why)
		}
		return n.Port, nil
	case <-p.session.Gone():
		return "", pmi1.ErrOver
	}
}

// Named answers the request of a rank about a name.
func (a *Agent) Named(rank int, n NameAnswer) {
	for _, p := range a.procs {
		if p.rank == rank && p.asking != nil {
			p.asking <- n
			p.asking = nil
		}
	}
}

// Finalized is called when rank may end from now on.
func (h *asPMI) Finalized(rank int) {
	a := (*Agent)(h)
	a.server.Finalized(rank)
	a.post(func() { a.up.Finalized(rank) })
}

// Aborted is called when rank aborts the job. Its MPI has said why.
func (h *asPMI) Aborted(rank, code int) {
	a := (*Agent)(h)
	a.post(func() { a.up.Aborted(rank, code, "") })
}
