//go:build unix

package launch

import (
	"fmt"
	"syscall"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/sys"
)

// A rank is one process of the job as the launcher sees it, on whichever host
// it runs. Only the job's loop touches it.
type rank struct {
	index   int
	host    *host
	pid     int // 0 if it was not started
	streams [2]*stream

	joined       bool // has called Init, or opened a session
	talk.Joining      // how
	finalized    bool // may end: has called Finalize, or finalized its sessions
	ended        bool // the process was reaped, or is lost with its host
	linkDone     bool // all its frames have been read
	waited       int  // how often the decision about the end was deferred: see deferDecision
	judged       bool // the decision about the end was made
	status       syscall.WaitStatus
	note         string // its last call, if it had published that
	other        string // the library of another MPI that it uses, if it has not called Init

	published bool
	value     []byte // what it has published
	asking    []int  // ranks that wait for that

	fault       string // why the launcher cannot communicate with it
	faultStatus int    // exit status of the launcher in that case
}

// exitStatus is the status that a shell would report.
func (r *rank) exitStatus() int {
	if r.status.Signaled() {
		return exit.SignalBase + int(r.status.Signal())
	}
	return r.status.ExitStatus()
}

// how describes how the process ended.
func (r *rank) how() string {
	if r.status.Signaled() {
		s := r.status.Signal()
		core := ""
		if r.status.CoreDump() {
			core = ", core dumped"
		}
		return fmt.Sprintf("was killed by signal %d (%s, %v%s)", int(s), sys.SignalName(s), s, core)
	}
	return fmt.Sprintf("exited with status %d", r.status.ExitStatus())
}
