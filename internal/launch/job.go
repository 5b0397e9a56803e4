//go:build unix

package launch

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/planted"
)

const (
	// grace is how long ranks have between SIGTERM and SIGKILL when the job is
	// ended. Promise F4 allows 2 s in all.
	grace = 500 * time.Millisecond
	// leftoverTimeout is how long processes that ranks have started, such as a tee, may
	// continue to write output after the last rank has ended without error.
	leftoverTimeout = time.Second
	// finishTimeout bounds the wait for agents that clean up on other hosts.
	finishTimeout = agent.SweepTimeout + 2*time.Second
)

// A job is the launcher's state while its ranks live.
//
// One goroutine, the loop, owns it and the agent of this host. Sessions, timers, signals and
// agents of other hosts post functions to it. The loop never writes output and never waits
// for a rank.
type job struct {
	*family
	parent  *job             // that has asked for it; nil: the launcher was asked
	asked   *request         // that the job is started for, until it is answered
	lasts   *request         // the same from then on, until the parent is told of the end
	apart   bool             // once it is started, its end ends no other job
	refused bool             // it ends alone: its start has failed, or it is apart
	port    string           // of the parent: boot.Job.Parent
	spawned int              // number of jobs that its ranks have asked for
	builder *program.Builder // of a spawned job
	adopted bool             // its only process has started the launcher

	spec   *plan.Spec
	id     string
	mark   string // in the environment of its processes on this host
	secret [32]byte
	fabric string
	why    string // why fabric is not the default, for -v
	hosts  []*host
	here   int32   // index of this host, -1 if no rank runs here
	where  []int32 // by rank: index into hosts
	ranks  []*rank
	apps   []plan.App
	agent  *agent.Agent // of this host, even if no rank runs here
	probe  *reach.Probe // while hosts try to reach each other
	stdin  *os.File     // what rank 0 reads

	copying sync.WaitGroup // streams
	copied  bool           // all streams have ended
	drained bool           // and all ranks

	reaching  bool      // hosts try whether they reach each other
	begun     bool      // ranks were started
	running   int       // ranks that have not ended
	firstRank *rank     // that has joined
	firstIn   *rank     // that has called Init
	leaving   bool      // a rank may end: no Exchange completes any more
	otherSaid bool      // the launcher has reported that the program is one of another MPI
	finishing bool      // agents were told to clean up
	undialled []*remote // whose agents are still to be started
	dialling  int       // number of agents that are being started
	abandoned bool      // the loop no longer waits for the output or for other hosts
}

// ends reports whether the job is being ended.
func (j *job) ends() bool { return j.ending || j.refused }

// several reports whether the job has other hosts than this one.
func (j *job) several() bool {
	return len(j.hosts) > 1 || len(j.hosts) == 1 && j.hosts[0].remote != nil
}

// loop runs the family of the job until all ranks and their output have ended.
func (j *job) loop(signals <-chan os.Signal) {
	children := agent.ChildSignals(signal.Notify)
	if j.spec.Timeout > 0 {
		defer time.AfterFunc(j.spec.Timeout, func() { j.post(j.timeout) }).Stop()
	}
	if j.spec.Watch {
		defer j.startWatch()()
	}
	for !j.family.over() {
		var beats <-chan time.Time
		if j.beats != nil {
			beats = j.beats.C
		}
		select {
		case f := <-j.events:
			f()
		case <-children:
			j.agent.Reap()
		case s := <-signals:
			j.signal(s.(syscall.Signal))
		case <-beats:
			j.checkBeats()
		}
		j.forget()
	}
}

// drain is called when all streams or all ranks have ended. When both have, nothing more comes from the
// ranks.
func (j *job) drain() {
	if j.copied && j.running == 0 && !j.drained {
		j.drained = true
		j.finish()
	}
}

// over reports whether no further events of the job can arrive.
func (j *job) over() bool {
	switch {
	case j.running > 0:
		return false
	case j.abandoned:
		return true
	case !j.begun && !j.ends():
		return false // its programs are being built, or on the way to other hosts
	case j.begun && !(j.drained && j.allJudged()):
		return false
	}
	for _, h := range j.hosts {
		if !h.over() {
			return false
		}
	}
	return true
}

func (j *job) allJudged() bool {
	for _, r := range j.ranks {
		if !r.judged {
			return false
		}
	}
	return true
}

// The job is the reporter of its agents.

// Started is called by the agent of this host when it has started a rank.
func (j *job) Started(rank, pid int, cpus []int, pipes [2]*os.File) {
	r := j.ranks[rank]
	for i, p := range pipes {
		j.carry(r, i, p)
	}
	j.isRunning(r, pid, cpus)
}

// carry copies an output of r to the launcher's output.
func (j *job) carry(r *rank, which int, from source) {
	tag := ""
	if j.spec.Tag {
		tag = fmt.Sprintf("[%d] ", r.index)
		if j.parent != nil {
			tag = fmt.Sprintf("[%s:%d] ", j.number(), r.index)
		}
	}
	s := &stream{pipe: from, sink: j.sinkFor(r, which), tag: tag, stamp: j.spec.Stamp, errors: which == 1}
	r.streams[which] = s
	j.copying.Go(s.copy)
}

// isRunning is called when a rank has been started.
func (j *job) isRunning(r *rank, pid int, cpus []int) {
	r.pid = pid
	on := "any core"
	if len(cpus) > 0 {
		on = wording.Numbered("core", cpus)
	}
	if j.several() {
		on += " of " + r.host.name
	}
	j.verbosely("rank %d: pid %d on %s: %s", r.index, pid, on, j.appOf(r.index).File)
}

// Failed is called when a rank, and those of its host after it, could not be started.
func (j *job) Failed(rank int, why string) {
	h := j.ranks[rank].host
	if j.several() {
		why = h.name + ": " + why
	}
	for _, r := range h.ranks {
		if r.index >= rank && !r.ended {
			r.ended, r.judged = true, true
			j.running--
		}
	}
	j.end(exit.CannotRun, "%s", why)
	if j.running == 0 {
		j.lastEnded()
	}
}

// Joined is called when a rank has called Init, or opened a session.
func (j *job) Joined(rank int, how talk.Joining) {
	r := j.ranks[rank]
	r.joined, r.Joining = true, how
	if j.mixed(r) {
		return
	}
	if how.World {
		j.hello(r)
	}
}

// Init is called when a rank that has opened a session before calls Init.
func (j *job) Init(rank int) { j.hello(j.ranks[rank]) }

// InUse is called when a rank uses MPI again, or may end from now on.
func (j *job) InUse(rank int, used bool) { j.ranks[rank].finalized = !used }

// Exchanged is called by the agent of this host when all its ranks are in an Exchange.
func (j *job) Exchanged(values [][]byte) {
	for _, h := range j.hosts {
		if h.remote == nil {
			j.gather(h, values)
		}
	}
}

// gather is called when all ranks of a host are in an Exchange. When the ranks of all hosts
// are, it sends all values to all.
func (j *job) gather(h *host, values [][]byte) {
	h.values = values
	for _, h := range j.hosts {
		if h.values == nil {
			return
		}
	}
	all := make([][]byte, len(j.ranks))
	for _, h := range j.hosts {
		for i, r := range h.ranks {
			all[r.index] = h.values[i]
		}
	}
	table := boot.EncodeTable(all)
	for _, h := range j.hosts {
		h.values = nil
		h.node.Deliver(table)
	}
}

// Finalized is called when a rank may end from now on. Other hosts are told of the first one, with which
// Exchanges cease to complete.
func (j *job) Finalized(rank int) {
	r := j.ranks[rank]
	r.finalized = true
	if j.leaving && !planted.FinalizedAgain {
		return
	}
	j.leaving = true
	for _, h := range j.hosts {
		if h != r.host {
			h.node.NoExchange(rank)
		}
	}
}

// Ended is called when the process of a rank was reaped. The agent reports killed processes
// first, since others may exit because of them.
func (j *job) Ended(rank int, status syscall.WaitStatus, note string) {
	r := j.ranks[rank]
	if r.ended {
		return
	}
	r.ended, r.status, r.note = true, status, note
	j.answerAll(r)
	j.running--
	j.verbosely("rank %d%s (pid %d) %s", r.index, j.of(), r.pid, r.how())
	if r.status.Signaled() {
		r.linkDone = true // the frames of the rank do not matter
	}
	j.decideExit(r)
	if j.running == 0 {
		j.lastEnded()
	}
}

// LinkEnded is called when the link of a rank has ended, and perhaps again when its process has: a decision
// that is deferred then stays so.
func (j *job) LinkEnded(rank int, err error) {
	r := j.ranks[rank]
	if r.linkDone && err == nil {
		return
	}
	r.linkDone = true
	if err != nil {
		j.linkFailed(r, err)
	}
	j.decideExit(r)
}

// lastEnded cleans up when no rank is left.
func (j *job) lastEnded() {
	j.drain()
	if j.ends() {
		j.finish()
	} else {
		time.AfterFunc(leftoverTimeout, func() { j.post(j.finish) })
	}
}

// finish ends the processes that ranks have left, and waits for other hosts for a bounded
// time.
func (j *job) finish() {
	if j.finishing {
		return
	}
	j.finishing = true
	for _, h := range j.hosts {
		if h.node != nil && (!h.over() || h.remote == nil) {
			h.node.Finish()
		}
		for _, r := range h.ranks {
			for _, s := range r.streams {
				if s != nil && h.remote == nil {
					s.close()
				}
			}
		}
	}
	if j.several() {
		time.AfterFunc(finishTimeout, func() { j.post(func() { j.abandoned = true }) })
	}
}

// forward sends s to all ranks and the processes that they have started.
func (j *job) forward(s syscall.Signal) {
	if !j.begun {
		return
	}
	for _, h := range j.hosts {
		if !h.gone() {
			h.node.Signal(s)
		}
	}
}

func (j *job) verbosely(format string, args ...any) {
	if j.spec.Verbose {
		select {
		case j.messages <- "halo: " + fmt.Sprintf(format, args...):
		default: // a spawned job's, while nobody reads the output
		}
	}
}
