//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// A family is the job that the launcher was asked for, which is its first one, and all jobs that processes
// of the family have spawned. They share the loop, the launcher's output, and their end: if one fails, all
// are ended. A job whose start fails ends alone, and the process that has asked for it learns why. The failure of a
// job that is apart ends that job alone; the end of any other one ends it, too.
type family struct {
	stdout, stderr *sink
	logs           map[string]*sink // files of outputs, by name
	events         chan func()
	messages       chan string    // of -v; has room for all of the first job
	said           sync.WaitGroup // goroutines that write them

	jobs  []*job           // that live; the first one stays
	slots []plan.HostSlots // where ranks may be placed
	names names            // of services, which programs of other MPIs publish
	beats *time.Ticker     // nil: all ranks are on this host

	interrupted   syscall.Signal // the first one that came to end the jobs
	interruptedAt time.Time      // when
	quitTables    []string       // what ranks waited for when SIGQUIT came, to be written after their stacks
	ending        bool           // the jobs are being ended
	lossSaid      bool           // the launcher has said that output is lost
	status        int
	reason        string         // one line; "" if there is nothing to explain
	blamed        *rank          // whom reason blames, nil if no rank
	advice        string         // the end of reason then, in parentheses: what its status suggests
	starter       *reach.Starter // of agents on other hosts; nil until one is needed

	listens string   // the result of listenFar
	givenUp []string // hosts of spawned jobs that were not awaited
}

// post has the loop call f.
func (f *family) post(what func()) { f.events <- what }

// first is the job that the launcher was asked for.
func (f *family) first() *job { return f.jobs[0] }

// over reports whether no further events can arrive.
func (f *family) over() bool {
	for _, j := range f.jobs {
		if !j.over() {
			return false
		}
	}
	return true
}

// alive is the number of ranks that have not ended.
func (f *family) alive() (n int) {
	for _, j := range f.jobs {
		n += j.running
	}
	return n
}

// forget releases spawned jobs that are over.
func (f *family) forget() {
	kept := f.jobs[:1]
	for _, j := range f.jobs[1:] {
		if !j.over() {
			kept = append(kept, j)
			continue
		}
		if j.abandoned {
			f.givenUp = append(f.givenUp, j.awaited()...)
		}
		j.release()
	}
	clear(f.jobs[len(kept):])
	f.jobs = kept
}

// startBeats starts to look after the heartbeats of other hosts.
func (f *family) startBeats() {
	if f.beats == nil {
		f.beats = time.NewTicker(talk.BeatInterval)
	}
}

// universe is the number of ranks for which the hosts have room: the slots that were stated, and on hosts
// without a number as many as it has cores, or ranks.
func (f *family) universe() (n int) {
	for _, h := range f.slots {
		n += f.room(h)
	}
	return max(n, len(f.first().ranks))
}

// freeSlots is the number of further ranks for which the hosts have room.
func (f *family) freeSlots() (n int) {
	for _, h := range f.slots {
		n += max(0, f.room(h)-f.busy(h.Host, nil))
	}
	return n
}

// room is the number of ranks for which a host has room.
func (f *family) room(h plan.HostSlots) int {
	if h.Slots > 0 {
		return h.Slots
	}
	n := f.busy(h.Host, nil)
	if h.Host == hostName() {
		n = max(n, f.first().agent.Cores())
	}
	return n
}

// far reports whether jobs of the family may have ranks on other hosts than this one.
func (f *family) far() bool {
	return slices.ContainsFunc(f.slots, func(h plan.HostSlots) bool { return h.Host != hostName() })
}

// listenFar returns the address on which ranks of this host listen whose job has no other hosts: other jobs of the
// family may have some. If it cannot be told, processes there do not reach these ranks.
func (f *family) listenFar() string {
	if f.listens == "" {
		var err error
		f.listens, err = f.listenFor(hostNames(f.slots))
		if err != nil {
			f.listens = boot.Loopback
		}
	}
	return f.listens
}

// listenFor returns the address on which ranks of this host listen for those of other hosts.
func (f *family) listenFor(hosts []string) (string, error) {
	var peers []string
	for _, h := range hosts {
		if h != hostName() && len(peers) < reach.MaxPeers {
			_, name, ok := strings.Cut(h, "@")
			if !ok {
				name = h
			}
			peers = append(peers, name)
		}
	}
	return reach.ListenAddress(f.first().spec.Iface, "", false, peers)
}

// busy is the number of ranks on a host that have not ended, but for those of one job.
func (f *family) busy(host string, but *job) (n int) {
	for _, j := range f.jobs {
		for _, h := range j.hosts {
			if j == but || h.name != host {
				continue
			}
			for _, r := range h.ranks {
				if !r.ended {
					n++
				}
			}
		}
	}
	return n
}

// end ends the family: ranks get Over, then SIGTERM, then SIGKILL. The first call sets status and reason. If
// the start of j is not complete, or j is apart, only j ends.
func (j *job) end(status int, format string, args ...any) {
	reason := ""
	if format != "" {
		reason = fmt.Sprintf(format, args...)
	}
	switch {
	case j.ends():
		return
	case j.asked != nil:
		j.refuse(reason)
		return
	case j.apart:
		j.refused = true
		j.depart(reason)
		j.stop(reason)
		return
	}
	j.ending, j.status, j.reason = true, status, reason
	for _, k := range j.jobs {
		k.stop(reason)
	}
}

// stop ends the processes of the job.
func (j *job) stop(reason string) {
	if !j.begun {
		j.finish()
		return
	}
	for _, h := range j.hosts {
		if !h.gone() {
			h.node.Tell(reason)
		}
	}
	j.forward(syscall.SIGTERM)
	j.forward(syscall.SIGCONT) // a stopped process does not receive SIGTERM
	time.AfterFunc(grace, func() { j.post(func() { j.forward(syscall.SIGKILL) }) })
}

// forwardAll sends s to all ranks of the family and the processes that they have started.
func (f *family) forwardAll(s syscall.Signal) {
	for _, j := range f.jobs {
		j.forward(s)
	}
}

// of describes which job a rank belongs to, after the rank in messages: "" for the first job.
func (j *job) of() string {
	if j.parent == nil {
		return ""
	}
	return " of spawned job " + j.number()
}

// number is the place of a spawned job in the tree of spawned jobs, such as 2.1: the first one that the second
// one has spawned.
func (j *job) number() string { return strings.TrimPrefix(j.id, j.first().id+".") }

// living returns a text with the ranks that have not ended.
func (f *family) living() string {
	var parts []string
	for _, j := range f.jobs {
		if text := j.alive(); text != "" {
			parts = append(parts, text)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
