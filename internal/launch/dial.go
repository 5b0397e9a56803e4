//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/sys"
)

// The launcher starts the agents of many hosts at the same time, but not more than maxDialling at once:
// each costs a process here until its agent has answered. With Spec.Await it tries hosts again that do not
// exist yet, or do not accept connections yet, as when all containers of a job are started together.

const (
	// maxDialling is the default of -ssh-limit: with more than that the processes here only wait for cores.
	maxDialling = 32
	// firstPause and longestPause bound the time until a host is tried again.
	firstPause   = 250 * time.Millisecond
	longestPause = 2 * time.Second
	// awaitTimeout is reachTimeout for hosts that are awaited.
	awaitTimeout = 2 * time.Minute
)

// An attempt is one process, such as ssh, that is to start the agent of a host.
type attempt struct {
	link   io.ReadWriteCloser // to the agent; nil: there is none yet
	pid    int                // 0: not started
	step   *step              // instead of pid, of a process for several hosts
	said   *tail
	banner string
	status *syscall.WaitStatus // once it has ended
	closed bool                // nothing more comes from the agent
	silent bool                // nothing more comes from the process itself
}

// remote makes the launcher's side of the agent of another host, which dial starts.
func (j *job) remote(h *host, s *plan.Share) error {
	if j.starter == nil {
		if err := j.chooseStarter(); err != nil {
			return err
		}
	}
	r := &remote{job: j, host: h, share: s, path: j.spec.Agent, feeds: map[talk.Stream]*talk.Feed{}, pause: firstPause, attempt: &attempt{said: &tail{}}}
	if r.path == "" {
		var err error
		r.path, err = os.Executable()
		if err != nil {
			return fmt.Errorf("cannot find the path of this program: %w; name it by -halo", err)
		}
	}
	h.remote, h.node = r, r
	j.undialled = append(j.undialled, r)
	return nil
}

// dial starts agents until enough of them are being started.
func (j *job) dial() error {
	if len(j.undialled) > 0 && j.starter.all {
		list := j.undialled
		j.undialled = nil
		return j.dialAll(list)
	}
	for len(j.undialled) > 0 && j.dialling < cmp.Or(j.spec.Dialling, maxDialling) {
		r := j.undialled[0]
		j.undialled = j.undialled[1:]
		if r.over {
			continue
		}
		if err := r.dial(); err != nil {
			return err
		}
	}
	return nil
}

// dialled is called when the agent of r has answered, or its host was given up.
func (r *remote) dialled() {
	if !r.dialling {
		return
	}
	r.dialling = false
	r.job.dialling--
	if r.job.ends() {
		return
	}
	if err := r.job.dial(); err != nil {
		r.job.end(exit.Launcher, "%v", err)
	}
}

// dial starts ssh, and with it the agent on the host.
func (r *remote) dial() error {
	j := r.job
	link, theirs, err := sys.LinkPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	mine, errs, err := os.Pipe()
	if err != nil {
		link.Close()
		return err
	}
	defer errs.Close()
	c := &child{file: j.starter.file, argv: j.starter.line(r.host.name, r.path),
		env: append(j.starter.environ(os.Environ()), plan.EnvJob+"="+j.mark), files: []*os.File{theirs, theirs, errs}}
	a := &attempt{link: plainLink{link}, said: &tail{}}
	j.agent.spawner.do(func() { a.pid, err = j.agent.spawner.start(c) })
	if err != nil {
		link.Close()
		mine.Close()
		return fmt.Errorf("starting %s: %w", j.starter.file, err)
	}
	j.agent.warden.started(a.pid)
	j.agent.others[a.pid] = func(s syscall.WaitStatus) {
		j.agent.warden.ended(a.pid)
		a.status = &s
		r.ended(a)
	}
	r.attempt, r.out, r.dialling = a, talk.NewOutbox(a.link), true
	j.dialling++
	r.pulse.Beat()
	go r.out.Beat()
	go func() {
		io.Copy(a.said, mine)
		mine.Close()
		j.post(func() {
			a.silent = true
			r.ended(a)
		})
	}()
	go r.read(a)
	return nil
}

// again reports whether the host of an agent that could not be started is tried again.
func (r *remote) again() bool {
	j, said := r.job, r.said.String()
	if !j.spec.Await || r.greeted || j.ends() || !notYet(said) {
		return false
	}
	if r.last == "" {
		j.say(fmt.Sprintf("waiting for %s: %s", r.host.name, said))
	}
	r.last = said
	r.hangUp()
	r.attempt, r.out = &attempt{said: &tail{}}, nil
	time.AfterFunc(r.pause, func() {
		j.post(func() {
			if r.over || j.ends() {
				return
			}
			j.undialled = append(j.undialled, r)
			if err := j.dial(); err != nil {
				j.end(exit.Launcher, "%v", err)
			}
		})
	})
	r.pause = min(2*r.pause, longestPause)
	r.dialled()
	return true
}

// hangUp ends the attempt to start the agent, or the connection to it.
func (r *remote) hangUp() {
	if r.out != nil {
		r.out.Close()
		r.link.Close()
	}
	if r.step != nil {
		r.step.hangUp()
	}
	if r.pid != 0 && r.status == nil {
		syscall.Kill(-r.pid, syscall.SIGKILL)
	}
}

// notYet reports whether ssh has failed for a reason that may pass: the host has no address yet, or
// does not accept connections yet.
func notYet(said string) bool {
	said = strings.ToLower(said)
	for _, words := range []string{"could not resolve", "name or service not known", "temporary failure in name resolution", "connection refused",
		"timed out", "no route to host", "network is unreachable", "connection reset", "connection closed", "kex_exchange_identification"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
