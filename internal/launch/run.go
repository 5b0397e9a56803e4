//go:build unix

package launch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
)

// Run runs a job to its end and returns the launcher's exit status.
func Run(spec *plan.Spec) int {
	agent.KeepThreads(agent.ThreadsOfLauncher)
	stdin, stdout, stderr := spec.Stdin, spec.Stdout, spec.Stderr
	if stdin == nil {
		stdin = os.Stdin
	}
	if stdout == nil {
		stdout = os.Stdout
	}
	if stderr == nil {
		stderr = os.Stderr
	}
	j, err := newJob(spec, stdout, stderr)
	if err == nil {
		err = j.run(stdin)
	}
	var start *exit.Error
	switch {
	case err == nil:
		return j.status
	case errors.As(err, &start):
		fmt.Fprintf(stderr, "halo: %v\n", err)
		return start.Status
	}
	fmt.Fprintf(stderr, "halo: %v\n", err)
	return exit.Launcher
}

func newJob(spec *plan.Spec, stdout, stderr *os.File) (*job, error) {
	j := &job{family: &family{events: make(chan func(), 64)}, spec: spec, fabric: spec.Fabric,
		id: fmt.Sprintf("%d-%s", os.Getpid(), strings.ToLower(rand.Text()))}
	j.jobs = []*job{j}
	switch {
	case j.fabric == "":
		j.fabric, j.why = agent.DefaultFabric()
	case j.fabric == "shm" && runtime.GOOS != "linux":
		return nil, fmt.Errorf("-fabric shm: not supported on %s, use -fabric tcp", runtime.GOOS)
	case j.fabric == "shm":
		if err := agent.SharedMemory(); err != nil {
			return nil, err
		}
	}
	for i := range spec.Blocks {
		b := &spec.Blocks[i]
		if b.Dir != "" {
			dir, err := filepath.Abs(b.Dir)
			if err != nil {
				return nil, err
			}
			b.Dir = dir
		}
	}
	if err := j.place(); err != nil {
		return nil, err
	}
	rand.Read(j.secret[:])
	j.agent = agent.New(j, j.post)
	j.stdout, j.stderr = newSinks(spec, stdout, stderr, func(err error) { go j.post(func() { j.outputBroken(err) }) })
	for _, w := range spec.Warnings {
		fmt.Fprintf(stderr, "halo: %s\n", w)
	}
	j.messages = make(chan string, 2*len(j.ranks)+2*len(j.hosts)+4) // the job, the allocation, each host, its fabric, and each rank's start and end
	j.said.Go(func() {
		for m := range j.messages {
			j.stderr.say(m)
		}
	})
	return j, nil
}

// place makes the hosts of the job and places its ranks on them.
func (j *job) place() error {
	here := hostName()
	s := *j.spec
	lists := [][]plan.HostSlots{s.Hosts}
	for _, b := range s.Blocks {
		lists = append(lists, b.Hosts)
	}
	var names []string
	for _, list := range lists {
		for _, h := range list {
			names = append(names, h.Host)
		}
	}
	if len(names) > 0 {
		local := map[string]bool{}
		if s.Play == 0 {
			local = reach.AreLocal(names)
		}
		j.sameHost(names, local)
		if a := j.spec.Allocation; a != nil && a.Self != "" {
			local[a.Self] = true
		}
		s.Hosts = renamed(s.Hosts, local)
		if !s.ByRank {
			s.Hosts = plan.MergeHosts(s.Hosts)
		}
		s.Blocks = slices.Clone(s.Blocks)
		for i := range s.Blocks {
			s.Blocks[i].Hosts = plan.MergeHosts(renamed(s.Blocks[i].Hosts, local))
		}
	}
	if s.Hosts == nil {
		s.Hosts = []plan.HostSlots{{Host: here}}
	}
	hosts, where, err := plan.Place(&s)
	if err != nil {
		return &exit.Error{Status: exit.Usage, Err: err}
	}
	j.slots = s.Room()
	j.settle(hosts, where, here)
	j.mark = plan.MarkOf(j.id, j.here)
	return nil
}

// sameHost warns if several names that the user has given are those of this host, as when addresses of loopback are
// meant as hosts of a test.
func (j *job) sameHost(names []string, local map[string]bool) {
	var here []string
	for _, name := range names {
		if local[name] && !slices.Contains(here, name) {
			here = append(here, name)
		}
	}
	if len(here) > 1 && j.spec.Allocation == nil {
		j.spec.Warnings = append(j.spec.Warnings, fmt.Sprintf("%s are names of this host: their ranks run on one host", strings.Join(here, " and ")))
	}
}

// hostName is the name of this host.
func hostName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

// renamed returns hosts with the name of this host for all its names, which local has.
func renamed(list []plan.HostSlots, local map[string]bool) []plan.HostSlots {
	list = slices.Clone(list)
	for i := range list {
		if local[list[i].Host] {
			list[i].Host = hostName()
		}
	}
	return list
}

// settle makes the hosts and ranks of the job; where[rank] is an index into hosts.
func (j *job) settle(hosts []string, where []int32, here string) {
	j.here, j.where = -1, where
	for i, name := range hosts {
		h := &host{index: int32(i), name: name}
		if name == here {
			j.here = h.index
		}
		j.hosts = append(j.hosts, h)
	}
	for i, at := range where {
		r := &rank{index: i, host: j.hosts[at]}
		r.host.ranks = append(r.host.ranks, r)
		j.ranks = append(j.ranks, r)
	}
}

// run starts the ranks and returns when nothing of the job is left.
func (j *job) run(stdin *os.File) error {
	signals := notifySignals()
	var programs []*program.Program
	for i := range j.spec.Blocks {
		p, err := program.Find(&j.spec.Blocks[i])
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	if err := j.agent.Open(j.mark); err != nil {
		return err
	}
	defer j.agent.Retire()
	if dir, err := j.build(programs, signals); err != nil {
		os.RemoveAll(dir)
		return err
	} else if dir != "" {
		defer os.RemoveAll(dir)
	}
	if j.ending { // interrupted while building
		return nil
	}
	j.stdin = stdin
	if j.spec.NoStdin {
		var err error
		j.stdin, err = agent.NoInput()
		if err != nil {
			return err
		}
	}
	if err := j.prepare(programs); err != nil {
		return err
	}
	j.advance()
	j.loop(signals)
	j.agent.Sweep()
	j.report()
	return nil
}

// build makes programs of packages, in a directory that the caller removes.
func (j *job) build(programs []*program.Program, signals <-chan os.Signal) (dir string, err error) {
	needed := false
	for _, p := range programs {
		needed = needed || p.Pkg != ""
	}
	if !needed {
		return "", nil
	}
	dir = filepath.Join(os.TempDir(), "halo-"+j.id)
	j.agent.RemoveAtEnd(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make a directory to build in: %w (TMPDIR names another place)", err)
	}
	b := &program.Builder{Dir: dir, Stderr: j.stderr.file, Mark: j.mark}
	done := make(chan error, 1)
	go func() { done <- b.Build(programs) }()
	for {
		select {
		case err := <-done:
			if j.ending {
				err = nil
			}
			return dir, err
		case s := <-signals:
			switch s := s.(syscall.Signal); s {
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
				j.ending, j.status = true, exit.SignalBase+int(s)
				b.Stop()
			case syscall.SIGTSTP:
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		}
	}
}

// report writes how the job ended, as the last output.
func (j *job) report() {
	close(j.messages)
	j.showQuit()
	if j.abandoned || j.givenUp != nil {
		j.conclude()
		j.say(j.unfinished(), j.reason)
		said := make(chan struct{})
		go func() {
			j.said.Wait()
			close(said)
		}()
		select { // writing may block
		case <-said:
		case <-time.After(showTimeout):
			return // a write does not end, so that nothing can be asked about it
		}
		j.countLoss(j.stdout.brokenBy(), j.stderr.brokenBy())
		return
	}
	j.said.Wait()
	if err := j.stdout.brokenBy(); err != nil {
		j.outputBroken(err)
	}
	j.conclude()
	shortage := j.shortage() // before reason is read, to which it may add
	j.say(j.reason, shortage, j.exits())
	j.said.Wait()
	j.countLoss(j.stdout.brokenBy(), j.stderr.brokenBy(), j.closeLogs())
}

// conclude sets the status of a job that the launcher has not ended, from the status of its ranks.
func (j *job) conclude() {
	if j.ending {
		return
	}
	j.reason = j.otherMPI()
	for _, r := range j.ranks {
		j.status = r.exitStatus()
		if j.status != 0 {
			if text := loaderAdvice(j, r); text != "" {
				j.reason = text
			}
			return
		}
	}
}

// unfinished names the hosts whose ranks have ended but whose agents were given up.
func (j *job) unfinished() string {
	names := append(j.awaited(), j.givenUp...)
	if names == nil {
		return ""
	}
	return fmt.Sprintf("clean-up has not ended within %v: %s; processes or files of the job may be left there",
		finishTimeout, strings.Join(names, ", "))
}

// awaited returns the hosts from which more may come.
func (j *job) awaited() (names []string) {
	for _, h := range j.hosts {
		if !h.over() {
			names = append(names, h.name)
		}
	}
	return names
}

// say writes lines of the launcher without waiting for their reader.
func (j *job) say(lines ...string) {
	j.said.Go(func() {
		for _, text := range lines {
			if text != "" {
				j.stderr.say("halo: " + text)
			}
		}
	})
}
