//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
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
	said   *reach.Tail
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
	r := &remote{job: j, host: h, share: s, path: j.spec.Agent, feeds: map[talk.Stream]*talk.Feed{}, pause: firstPause, attempt: &attempt{said: &reach.Tail{}}}
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
	if len(j.undialled) > 0 && j.starter.All {
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
	c := &agent.Child{File: j.starter.File, Argv: j.starter.Line(r.host.name, r.path),
		Env: append(j.starter.Environ(os.Environ()), plan.EnvJob+"="+j.mark), Files: []*os.File{theirs, theirs, errs}}
	a := &attempt{link: reach.PlainLink{Link: link}, said: &reach.Tail{}}
	a.pid, err = j.agent.StartOther(c, func(s syscall.WaitStatus) {
		a.status = &s
		r.ended(a)
	})
	if err != nil {
		link.Close()
		mine.Close()
		return fmt.Errorf("starting %s: %w", j.starter.File, err)
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
	if !j.spec.Await || r.greeted || j.ends() || !reach.NotYet(said) {
		return false
	}
	if r.last == "" {
		j.say(fmt.Sprintf("waiting for %s: %s", r.host.name, said))
	}
	r.last = said
	r.hangUp()
	r.attempt, r.out = &attempt{said: &reach.Tail{}}, nil
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

// chooseStarter chooses the command that starts agents, and tells it under -v.
func (j *job) chooseStarter() error {
	s, why, err := reach.NewStarter(j.spec)
	if err != nil {
		return err
	}
	j.starter = s
	if a := j.spec.Allocation; a != nil {
		j.verbosely("the hosts are those of the %s job (%s); agents are started by %s", a.System, plan.DescribeHosts(a.Hosts), s.Name)
	}
	if why != "" {
		j.verbosely("%s", why)
	}
	return nil
}

// why explains the end of an agent.
func (r *remote) why() string {
	said := r.said.String()
	ssh, name := "it ended its output", r.job.starter.Name
	code := -1
	if s := r.status; s != nil && s.Signaled() {
		ssh = fmt.Sprintf("%s was killed by %s", name, sys.SignalName(s.Signal()))
	} else if s != nil {
		code = s.ExitStatus()
		ssh = fmt.Sprintf("%s exited with status %d", name, code)
	}
	if said != "" {
		ssh += ": " + said
	}
	if r.greeted && r.mute > talk.Silence { // the warden was faster than the launcher to give it up
		return fmt.Sprintf("%s has sent nothing for %v, and its agent is gone (%s)", r.host, r.mute.Round(100*time.Millisecond), ssh)
	}
	if r.greeted {
		return fmt.Sprintf("the agent on %s is gone (%s)", r.host, ssh)
	}
	if banner := wording.OneLine(r.banner); banner != "" {
		ssh += fmt.Sprintf("; it printed %.200q", banner)
	}
	text := fmt.Sprintf("cannot start an agent on %s: %s", r.host.name, ssh)
	if hint := reach.Hint(r.host.name, r.path, code, said); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}
