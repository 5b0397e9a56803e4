//go:build unix

package launch

import (
	"os"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// A host is one host of the job as the launcher's loop sees it.
type host struct {
	index  int32
	name   string
	ranks  []*rank // ascending
	node   node
	remote *remote  // nil: this host
	values [][]byte // of the ranks in an Exchange that the other hosts have not entered yet

	cores    int
	addr     string // address of its probe
	sshd     string // SSH_CONNECTION on that host
	ready    bool   // its agent has taken the plan
	reached  bool   // it has tried to reach the others
	failures []string
}

// A node carries out the launcher's requests on one host: the agent inside the launcher, or
// a remote one. No method blocks.
type node interface {
	Start(input *os.File) error // input: what a rank reads, nil if that is elsewhere
	Signal(s syscall.Signal)
	Tell(reason string) // ranks that the job has ended
	Deliver(table []byte)
	NoExchange(rank int)
	Found(rank, of int, value []byte, why string) // what another rank has published; why: it will not
	Named(rank int, a agent.NameAnswer)
	Spawned(rank int, number uint32, s *boot.Spawned) // an answer to spawn
	Finish()                                          // no rank is left: end the processes that ranks have left
}

// String names the host and its ranks.
func (h *host) String() string {
	var list []int
	for _, r := range h.ranks {
		list = append(list, r.index)
	}
	return h.name + " (" + wording.Numbered("rank", list) + ")"
}

// gone reports whether the host is out of reach.
func (h *host) gone() bool { return h.remote != nil && h.remote.over }

// over reports whether nothing more comes from the host.
func (h *host) over() bool { return h.remote == nil || h.remote.over }

// quiet reports whether the heartbeats of the host are overdue.
func (h *host) quiet() bool {
	return h.remote != nil && !h.remote.over && h.remote.greeted && h.remote.pulse.Age() > 3*talk.BeatInterval/2
}

// checkBeats marks hosts as lost whose heartbeats have been overdue for too long.
func (f *family) checkBeats() {
	for _, j := range f.jobs {
		for _, h := range j.hosts {
			r := h.remote
			if r == nil || r.over || r.out == nil {
				continue
			}
			if silent := r.pulse.Since(); r.greeted && silent > r.pulse.Limit() {
				r.lose(exit.Launcher, "%s has sent nothing for %v: it is down, or the connection is cut",
					h, silent.Round(100*time.Millisecond))
			}
		}
	}
}

// lost ends the job because a host, and with it its ranks, is lost.
func (j *job) lost(h *host, status int, why string) {
	for _, r := range h.ranks {
		if !r.ended {
			r.ended = true
			if j.begun {
				j.running--
			}
		}
		r.linkDone, r.judged = true, true
	}
	if j.begun {
		j.end(status, "%s; the job was ended", why)
	} else {
		j.end(status, "%s", why)
	}
	if j.begun && j.running == 0 {
		j.lastEnded()
	}
}
