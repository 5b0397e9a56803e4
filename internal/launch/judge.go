//go:build unix

package launch

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// decideExit decides what the end of a rank means for the job, after all frames of the rank
// have been read. A job whose ranks never call Init is a set of ordinary commands: it ends
// when all have ended, unless one is killed.
func (j *job) decideExit(r *rank) {
	if !r.ended || !r.linkDone || r.judged {
		return
	}
	r.judged = true
	switch {
	case j.ends():
	case j.deferDecision(r):
	case j.asked != nil && r.fault == "":
		j.end(0, "%s %s before all had called %s", j.name(r), r.how(), j.nameOfInit(r))
	case j.interrupted != 0 && r.exitStatus() != 0: // perhaps it aborts because others were killed
		j.endInterrupted(r.exitStatus())
	case r.fault != "":
		j.end(r.faultStatus, "%s", r.fault)
	case r.status.Signaled():
		j.blame(r, r.exitStatus(), "%s", signalAdvice(r.status.Signal()))
	case !r.World && j.firstIn != nil:
		j.early(r)
	case !r.joined:
		// Decided when another rank joins, or at the end.
	case r.exitStatus() != 0:
		j.blame(r, r.exitStatus(), "its own messages should say why")
	case !r.finalized && !r.World:
		j.blame(r, 1, "it had opened a session and not finalized it: do so before the program returns")
	case !r.finalized:
		or := ", or use mpi.Main"
		if r.InC {
			or = ""
		}
		j.blame(r, 1, "%s%s", wording.Calls("it had called mpi.Init but not mpi.Finalize: call it before the program returns", r.InC), or)
	}
}

// deferDecision defers the decision about a failure that may be the consequence of another
// one. The launcher may not know of the other yet because it happened on another host,
// because a host cannot be reached, or because the kernel takes time to end a process.
func (j *job) deferDecision(r *rank) bool {
	if r.status.Signaled() && endsJobs(r.status.Signal()) && j.interrupted == 0 && r.waited == 0 {
		j.deferBy(r, toolNews) // systemd and batch systems signal all processes of a job, the launcher among them
		return true
	}
	failed := r.exitStatus() != 0 || r.joined && !r.finalized
	if !failed || r.status.Signaled() || r.waited > 0 && !j.failureDue(r) || r.waited == 0 && !j.several() && !j.failureDue(r) {
		return false
	}
	j.deferBy(r, j.news())
	return true
}

// deferBy has the loop decide later.
func (j *job) deferBy(r *rank, delay time.Duration) {
	r.judged = false
	r.waited++
	time.AfterFunc(delay, func() { j.post(func() { j.decideExit(r) }) })
}

// failureDue reports whether another failure may be about to be reported: the heartbeats of a
// host are overdue, or a process of this host is exiting but not reaped yet, which takes long
// on a busy machine.
func (j *job) failureDue(r *rank) bool {
	for _, h := range j.hosts {
		if h.quiet() {
			return true // until a heartbeat comes, or the host is lost
		}
	}
	return r.waited < maxDeferrals && j.agent.Dying()
}

// maxDeferrals bounds how often a decision is deferred for a process that does not finish
// exiting.
const maxDeferrals = 20

// news is how much later than other ranks the launcher may learn of a failure.
func (j *job) news() time.Duration {
	if j.several() {
		return remoteDeathNews
	}
	return deathNews
}

// early ends the job because r has ended and other ranks wait for it to join.
func (j *job) early(r *rank) {
	call := j.nameOfInit(r)
	why := "all ranks of a job must call " + call
	switch {
	case r.lost():
		why = program.NotLoaded(j.appOf(r.index).File)
	case r.other != "":
		why = "it uses " + r.other + program.Maker(r.other) + ", the library of another MPI"
	}
	j.blame(r, max(1, r.exitStatus()), "it had not called %s, and rank %d waits for it there: %s", call, j.firstIn.index, why)
}

// blame ends the job because of r, and explains it: host, rank, pid, how it ended, its last
// call if the wait note has it, and what to do.
func (j *job) blame(r *rank, status int, advice string, args ...any) {
	last := ""
	if r.note != "" {
		last = fmt.Sprintf(" in %s", r.note)
	}
	because := fmt.Sprintf(advice, args...)
	if !j.ends() && !j.apart {
		j.blamed, j.advice = r, because
	}
	j.end(status, "%s %s%s; the job was ended (%s)", j.name(r), r.how(), last, because)
}

// name describes the process of r in messages.
func (j *job) name(r *rank) string {
	return fmt.Sprintf("rank %d%s (pid %d on %s)", r.index, j.of(), r.pid, r.host.name)
}

// signalAdvice tells the user what to check after a signal has killed a process.
func signalAdvice(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "if nobody did that on purpose, memory ran out: see dmesg, use fewer ranks or less memory"
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT, syscall.SIGTRAP:
		return "a fault in the program: its own messages may say where, else run it under a debugger"
	case syscall.SIGXCPU, syscall.SIGXFSZ:
		return "a limit was reached: see ulimit -a"
	}
	return "somebody sent it that signal"
}

// hello is called when r has called Init.
func (j *job) hello(r *rank) {
	r.World = true
	if j.firstIn == nil {
		j.firstIn = r
	}
	for _, other := range j.ranks {
		if other.judged && !other.World {
			j.early(other)
			return
		}
	}
	if j.asked != nil {
		j.complete()
	}
}

// linkFailed is called when r has broken the protocol.
func (j *job) linkFailed(r *rank, err error) {
	var version *boot.VersionError
	var far refusal
	if errors.As(err, &version) || errors.As(err, &far) {
		r.fault, r.faultStatus = fmt.Sprintf("%s cannot join the job: %v", j.name(r), err), exit.CannotRun
	} else {
		r.fault, r.faultStatus = fmt.Sprintf("%s broke the protocol of the launcher; the job was ended (%v)", j.name(r), err), 1
	}
	// The program has received the reason of the refusal, and gets time to print it.
	time.AfterFunc(grace, func() { j.post(func() { j.end(r.faultStatus, "%s", r.fault) }) })
}

// Aborted is called when a rank aborts the job.
func (j *job) Aborted(rank, code int, reason string) {
	r := j.ranks[rank]
	r.fault, r.faultStatus = boot.AbortText(j.name(r), wording.Calls("Abort", r.InC), code, reason), boot.ExitStatus(code)
	// The rank may abort because it has found another failed rank before the launcher did:
	// then the launcher must report that failure.
	time.AfterFunc(j.news(), func() { j.post(func() { j.endFor(r) }) })
}

// endFor ends the job for the abort of r, when no other failure is due.
func (j *job) endFor(r *rank) {
	if j.failureDue(r) {
		r.waited++
		time.AfterFunc(j.news(), func() { j.post(func() { j.endFor(r) }) })
		return
	}
	if j.interrupted != 0 {
		j.endInterrupted(r.faultStatus)
	}
	j.end(r.faultStatus, "%s", r.fault)
}

const (
	// deathNews is how much later than other ranks the launcher may learn of the end of a
	// process: its connections end when it begins to exit, and its parent learns it at the end.
	deathNews = 50 * time.Millisecond
	// remoteDeathNews is the same for a process on another host.
	remoteDeathNews = 300 * time.Millisecond
	// toolNews is how much later than the ranks the launcher may get the signal that a tool sends to all processes
	// of a job.
	toolNews = 300 * time.Millisecond
)

func (j *job) timeout() {
	if !j.begun {
		j.end(exit.Timeout, "the hosts of the job were not ready within %s", j.spec.Limit())
	}
	if j.family.alive() == 0 {
		return
	}
	var parts []string
	for _, k := range j.jobs {
		var alive []int
		for _, r := range k.ranks {
			if !r.ended {
				alive = append(alive, r.index)
			}
		}
		if alive != nil {
			parts = append(parts, wording.Numbered("rank", alive)+k.of())
		}
	}
	j.show(func() {
		j.end(exit.Timeout, "the job did not end within %s, and was ended; still running: %s",
			j.spec.Limit(), strings.Join(parts, ", "))
	})
}

// outputBroken is called when stdout of the job cannot be written any more, and what is written to it is dropped
// from now on. The job goes on: what it computes may be in files.
//
// Rejected: to end the job, as the kernel ends a program that writes to a pipe without a reader. A line of progress
// would end a job of days because a terminal was closed.
func (j *job) outputBroken(err error) {
	if j.lossSaid {
		return
	}
	j.lossSaid = true
	if errors.Is(err, syscall.EPIPE) {
		err = errors.New("its reader has gone")
	}
	j.say(fmt.Sprintf("output of the ranks cannot be written, and is lost: %v; the job goes on", err))
}

// countLoss has the status tell that output is lost, if it tells no other failure.
func (j *job) countLoss(errs ...error) {
	for _, err := range errs {
		if err != nil && j.status == 0 {
			j.status = lossStatus(err)
		}
	}
}

// lossStatus is the status of a job whose ranks have succeeded and whose output is lost: that of any program that
// writes to a closed pipe, or that of a failure of the launcher.
func lossStatus(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return exit.SignalBase + int(syscall.SIGPIPE)
	}
	return exit.Launcher
}
