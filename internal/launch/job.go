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
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// grace is how long ranks have between SIGTERM and SIGKILL when the job is
	// ended. Promise F4 allows 2 s in all.
	grace = 500 * time.Millisecond
	// leftoverPatience is how long processes that ranks have left behind may
	// go on writing output after the last rank ended well: a tee, for instance.
	leftoverPatience = time.Second
	// sweepDelay is the time between two looks at what is left.
	sweepDelay = 5 * time.Millisecond
	// sweepPatience bounds the wait for what was killed: a process may hang in
	// the kernel.
	sweepPatience = 2 * time.Second
)

// A job is the launcher's state while its ranks live.
//
// One goroutine, the loop, owns it: it starts and reaps all processes and sends
// all signals, so that it never signals a number that has been given to a
// stranger. Sessions, timers and signals reach it as functions that are posted.
// The loop never writes output and never waits for a rank.
type job struct {
	spec    *Spec
	id      string
	host    string
	secret  [32]byte
	cores   int
	fabric  string
	local   []int   // 0 ... n-1
	hosts   []int32 // all 0
	environ [][]string
	ranks   []*rank
	server  *boot.Server
	memory  *memory
	spawner *spawner
	warden  *wardenPipe

	stdout, stderr *sink
	copying        sync.WaitGroup // streams
	copied         chan struct{}  // closed when all streams have ended
	events         chan func()
	messages       chan string    // of -v; has room for all of them
	said           sync.WaitGroup // whoever writes them

	running     int // ranks that are alive
	joined      *rank
	interrupted syscall.Signal // the first one that came to end the job
	ending      bool           // the job is being ended
	status      int
	reason      string // one line; "" if there is nothing to explain
	abandoned   bool   // nobody waits for the output any more
}

// post hands f to the loop.
func (j *job) post(f func()) { j.events <- f }

// loop runs the job until all ranks and their output have ended.
func (j *job) loop(signals <-chan os.Signal) {
	children := childSignals(signal.Notify)
	if j.spec.Timeout > 0 {
		defer time.AfterFunc(j.spec.Timeout, func() { j.post(j.timeout) }).Stop()
	}
	go func() {
		j.copying.Wait()
		close(j.copied)
	}()
	drained := false
	for j.running > 0 || (!drained || !j.allJudged()) && !j.abandoned {
		copied := j.copied
		if j.running > 0 || drained {
			copied = nil
		}
		select {
		case f := <-j.events:
			f()
		case <-children:
			j.reap()
		case s := <-signals:
			j.signal(s.(syscall.Signal))
		case <-copied:
			drained = true
		}
	}
}

// reap takes all processes that have ended, and judges the worst first: when
// one rank was killed, others exit because of it, and all may be found at once.
func (j *job) reap() {
	byPid := map[int]*rank{}
	for _, r := range j.ranks {
		if r.alive() {
			byPid[r.pid] = r
		}
	}
	var gone []*rank
	for {
		pid, status, err := sys.WaitChild(false)
		if err != nil || pid == 0 {
			break
		}
		r := byPid[pid]
		if r == nil {
			continue // an orphan that we adopted, or the warden
		}
		r.ended, r.status = true, status
		j.memory.notes.ended(r.index, status)
		j.warden.ended(pid)
		j.running--
		r.session.Ended()
		gone = append(gone, r)
		j.verbosely("rank %d (pid %d) %s", r.index, r.pid, r.how())
	}
	for _, r := range gone {
		if r.status.Signaled() {
			r.linkDone = true // nothing that it had said matters
			j.judge(r)
		}
	}
	for _, r := range gone {
		j.judge(r)
	}
	if j.running == 0 {
		j.lastEnded()
	}
}

// linkEnded is told that nothing more will come from a rank.
func (j *job) linkEnded(r *rank, err error) {
	r.linkDone = true
	if err != nil {
		j.linkFailed(r, err)
	}
	j.judge(r)
}

func (j *job) allJudged() bool {
	for _, r := range j.ranks {
		if r.pid != 0 && !r.judged {
			return false
		}
	}
	return true
}

// lastEnded clears up when no rank is left.
func (j *job) lastEnded() {
	wait := leftoverPatience
	if j.ending {
		wait = 0
	}
	closeAll := func() {
		j.sweep()
		for _, r := range j.ranks {
			for _, s := range r.streams {
				if s != nil {
					s.close()
				}
			}
		}
	}
	if wait == 0 {
		closeAll()
	} else {
		time.AfterFunc(wait, func() { j.post(closeAll) })
	}
}

// end ends the job: ranks are told, then asked, then killed. The first call
// decides about status and reason.
func (j *job) end(status int, format string, args ...any) {
	if j.ending {
		return
	}
	j.ending, j.status = true, status
	if format != "" {
		j.reason = fmt.Sprintf(format, args...)
	}
	j.server.Stop()
	for _, r := range j.ranks {
		if r.session != nil && r.joined && r.alive() {
			go r.session.Over(j.reason)
		}
	}
	j.forward(syscall.SIGTERM)
	j.forward(syscall.SIGCONT) // a stopped process does not hear the first
	time.AfterFunc(grace, func() { j.post(func() { j.forward(syscall.SIGKILL) }) })
}

// forward sends s to all ranks and what they have started.
func (j *job) forward(s syscall.Signal) {
	for _, r := range j.ranks {
		if r.alive() {
			syscall.Kill(-r.pid, s)
		}
	}
}

// sweep kills what ranks that have ended left behind, once now and again as
// more of it comes to us. Wardens of launchers inside the job are left to do
// their work, and end by themselves.
func (j *job) sweep() {
	for end := time.Now().Add(sweepPatience); time.Now().Before(end); time.Sleep(sweepDelay) {
		left := 0
		for _, pid := range sys.Children() {
			if pid == j.warden.pid {
				continue
			}
			left++
			if !isWarden(pid) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		for {
			if pid, _, err := sys.WaitChild(false); err != nil || pid == 0 {
				break
			}
		}
		if left == 0 {
			break
		}
	}
}

func (j *job) verbosely(format string, args ...any) {
	if j.spec.Verbose {
		j.messages <- "halo: " + fmt.Sprintf(format, args...)
	}
}
