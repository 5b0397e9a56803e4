//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// lingerDelay is the time after a signal that ends the job until the launcher reports which
	// ranks still run.
	lingerDelay = time.Second
	// defaultGrace is how long ranks have after a SIGTERM before they are killed, unless
	// -grace says otherwise: enough to save their data, and no longer than batch systems and
	// containers usually wait before they kill the launcher.
	defaultGrace = 10 * time.Second
)

// awaitEnd is called after a signal that ends the job was forwarded to the ranks, which may
// ignore it. After lingerDelay the launcher reports for which ranks it waits. Ranks that SIGTERM
// has not ended within the grace time are killed. For SIGINT there is no such limit: the user
// at the terminal can send another one.
func (j *job) awaitEnd(s syscall.Signal) {
	if !j.begun {
		return
	}
	grace := cmp.Or(j.spec.Grace, defaultGrace)
	time.AfterFunc(lingerDelay, func() { j.post(func() { j.linger(s, grace) }) })
	if s == syscall.SIGTERM {
		time.AfterFunc(grace, func() { j.post(func() { j.escalate(s, grace) }) })
	}
}

// linger reports which ranks have not ended, and how to force them.
func (j *job) linger(s syscall.Signal, grace time.Duration) {
	if j.ending || j.family.alive() == 0 {
		return
	}
	again := "send it again"
	switch s {
	case syscall.SIGINT:
		again = "again (Ctrl-C in a terminal)"
	case syscall.SIGHUP, syscall.SIGQUIT:
		again = "SIGINT or SIGTERM"
	}
	force := again + " to force their end"
	if left := (grace - lingerDelay).Round(100 * time.Millisecond); s == syscall.SIGTERM && left > 0 {
		force = fmt.Sprintf("they are killed in %v, or send it again to force their end now", left)
	}
	j.say(fmt.Sprintf("%s was passed on, waiting for %s to end; %s", sys.SignalName(s), j.living(), force))
}

// escalate kills the ranks that have not ended within the grace time after s.
func (j *job) escalate(s syscall.Signal, grace time.Duration) {
	if j.ending || j.family.alive() == 0 {
		return
	}
	j.end(exit.SignalBase+int(s), "the job was killed: %s did not end within %v of %s (-grace)", j.living(), grace, sys.SignalName(s))
	j.forwardAll(syscall.SIGKILL)
}

// alive returns a text with the ranks that have not ended, with their hosts if there are
// several, and with the call in which a rank on this host waits: the first one whose call is known.
func (j *job) alive() string {
	var parts []string
	call := ""
	for _, h := range j.hosts {
		var list []int
		for _, r := range h.ranks {
			if r.ended {
				continue
			}
			list = append(list, r.index)
			if h.remote == nil && call == "" && j.agent.Notes() != nil {
				call = j.agent.Notes().Last(r.index)
				if call != "" {
					call = fmt.Sprintf(" (rank %d in %s)", r.index, call)
				}
			}
		}
		if list == nil {
			continue
		}
		text := wording.Numbered("rank", list) + j.of()
		if j.several() {
			text += " on " + h.name
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ") + call
}
