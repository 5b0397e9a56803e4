//go:build unix

package launch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Run runs a job to its end and returns the launcher's exit status.
func Run(spec *Spec) int {
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
	var start *startError
	switch {
	case err == nil:
		return j.status
	case errors.As(err, &start):
		fmt.Fprintf(stderr, "halo: %v\n", err)
		return start.status
	}
	fmt.Fprintf(stderr, "halo: %v\n", err)
	return statusLauncher
}

func newJob(spec *Spec, stdout, stderr *os.File) (*job, error) {
	n := spec.Size()
	j := &job{spec: spec, id: fmt.Sprintf("%d-%s", os.Getpid(), strings.ToLower(rand.Text()[:10])),
		fabric: spec.Fabric, events: make(chan func(), 64), copied: make(chan struct{})}
	switch {
	case j.fabric == "" && runtime.GOOS == "linux":
		j.fabric = "shm"
	case j.fabric == "":
		j.fabric = "tcp"
	case j.fabric == "shm" && runtime.GOOS != "linux":
		return nil, fmt.Errorf("-fabric shm: not supported on %s, use -fabric tcp", runtime.GOOS)
	}
	for i := range spec.Blocks {
		b := &spec.Blocks[i]
		if b.Dir != "" {
			dir, err := filepath.Abs(b.Dir)
			if err != nil {
				return nil, err
			}
			if info, err := os.Stat(dir); err != nil {
				return nil, cannotRun("-wdir: %w", err)
			} else if !info.IsDir() {
				return nil, cannotRun("-wdir: %s is not a directory", b.Dir)
			}
			b.Dir = dir
		}
		j.environ = append(j.environ, rankEnviron(os.Environ(), b.Env))
		for range b.N {
			j.ranks = append(j.ranks, &rank{index: len(j.ranks), app: i})
			j.local = append(j.local, len(j.local))
		}
	}
	j.hosts = make([]int32, len(j.ranks))
	rand.Read(j.secret[:])
	if j.host, _ = os.Hostname(); j.host == "" {
		j.host = "this host"
	}
	notes := newNotes(&shmfmt.NotesHeader{Size: n, Started: time.Now(), Job: j.id, Fabric: j.fabric,
		Command: commandLine(spec.Blocks)}, j.local)
	j.memory = &memory{shared: j.fabric == "shm", ranks: n, notes: notes, made: map[int]*os.File{}}
	j.server = boot.NewServer(j.local, (*host)(j))
	j.stdout, j.stderr = newSinks(stdout, stderr, func(err error) { go j.post(func() { j.outputBroken(err) }) })
	j.messages = make(chan string, 2*n+1) // the job, and each rank's start and end
	j.said.Go(func() {
		for m := range j.messages {
			j.stderr.say(m)
		}
	})
	return j, nil
}

// run starts the ranks and stays until nothing of the job is left.
func (j *job) run(stdin *os.File) error {
	signals := notifySignals()
	var programs []*program
	for i := range j.spec.Blocks {
		p, err := find(&j.spec.Blocks[i])
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	sys.Subreaper() // where that is missing, the warden sees to orphans
	j.spawner = newSpawner()
	defer j.spawner.close()
	var err error
	if j.warden, err = startWarden(j.id); err != nil {
		return err
	}
	defer j.retire()
	if dir, err := j.build(programs, signals); err != nil {
		os.RemoveAll(dir)
		return err
	} else if dir != "" {
		defer os.RemoveAll(dir)
	}
	if j.ending { // interrupted while building
		return nil
	}
	if err := j.startAll(programs, stdin); err != nil {
		return err
	}
	j.loop(signals)
	j.sweep()
	j.report()
	j.memory.close()
	return nil
}

// build makes programs of packages, in a directory that the caller removes.
func (j *job) build(programs []*program, signals <-chan os.Signal) (dir string, err error) {
	needed := false
	for _, p := range programs {
		needed = needed || p.pkg != ""
	}
	if !needed {
		return "", nil
	}
	dir = filepath.Join(os.TempDir(), "halo-"+j.id)
	j.warden.directory(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	os.Setenv(envJob, j.id) // for what the go command starts; ranks get their own
	b := &builder{dir: dir, stderr: j.stderr.file, running: map[int]bool{}}
	done := make(chan error, 1)
	go func() { done <- b.build(programs) }()
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
				j.ending, j.status = true, statusSignalBase+int(s)
				b.stop()
			case syscall.SIGTSTP:
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		}
	}
}

// startAll starts all ranks, without waiting for any.
func (j *job) startAll(programs []*program, stdin *os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	input, startInput, err := inputFor(stdin)
	if err != nil {
		return err
	}
	cpus := j.spawner.cpus
	j.cores = max(1, len(cpus))
	if quota := runtime.GOMAXPROCS(0); os.Getenv("GOMAXPROCS") == "" && quota < j.cores {
		j.cores = quota // the runtime has read the cgroup's limit
	}
	where := placement(j.spec.Bind, len(j.ranks), cpus)
	j.verbosely("job %s: %d ranks on %s, %d cores, fabric %s", j.id, len(j.ranks), j.host, j.cores, j.fabric)
	j.spawner.do(func() {
		for i, r := range j.ranks {
			p, b := programs[r.app], &j.spec.Blocks[r.app]
			r.cpus = where[i]
			from := null
			if i == 0 {
				from = input
			}
			if err := j.start(r, b, p, from); err != nil {
				j.cannotStart(r, p, err)
				break
			}
			j.running++
			on := "any core"
			if r.cpus != nil {
				on = numbered("core", r.cpus)
			}
			j.verbosely("rank %d: pid %d on %s: %s", r.index, r.pid, on, p.file)
		}
	})
	startInput()
	return nil
}

// cannotStart ends the job because r's process cannot be made.
func (j *job) cannotStart(r *rank, p *program, err error) {
	hint := ""
	switch {
	case errors.Is(err, syscall.EAGAIN):
		hint = ": too many processes, see ulimit -u"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		hint = ": too many open files, see ulimit -Hn"
	case errors.Is(err, syscall.ENOEXEC):
		hint = ": neither a program for this machine nor a script that begins with #!"
	case errors.Is(err, syscall.ENOENT):
		hint = ": the file exists, but the interpreter it names does not"
	}
	j.end(statusCannotRun, "cannot start rank %d, %s: %v%s", r.index, p.file, err, hint)
}

// report says how the job ended, as the last thing.
func (j *job) report() {
	close(j.messages)
	if j.abandoned { // and perhaps nobody takes what we write, either
		return
	}
	j.said.Wait()
	if err := j.stdout.broken; err != nil {
		j.outputBroken(err)
	}
	if !j.ending {
		for _, r := range j.ranks {
			if j.status = r.exitStatus(); j.status != 0 {
				break
			}
		}
	}
	if j.reason != "" {
		j.stderr.say("halo: " + j.reason)
	}
}

// retire lets the warden go and waits for it, a moment.
func (j *job) retire() {
	j.warden.quit()
	for end := time.Now().Add(sweepPatience); time.Now().Before(end); time.Sleep(time.Millisecond / 4) {
		if _, _, err := sys.WaitChild(false); err != nil {
			return
		}
	}
}

// host is the job as its sessions see it; they run beside the loop.
type host job

// Hello is told that rank has called Init.
func (h *host) Hello(rank int) (*boot.Job, error) {
	j := (*job)(h)
	r := j.ranks[rank]
	j.post(func() { j.hello(r) })
	return &boot.Job{ID: j.id, Rank: rank, Size: len(j.ranks), Hosts: []string{j.host}, Host: j.hosts,
		Local: j.local, Fabric: j.fabric, Listen: boot.Loopback, Cores: j.cores, Secret: j.secret, AppNum: r.app}, nil
}

// Segment returns shared memory.
func (h *host) Segment(which int) (*os.File, error) { return h.memory.segment(which) }

// Exchanged is told the values of all ranks.
func (h *host) Exchanged(values [][]byte) { h.server.Deliver(boot.EncodeTable(values)) }

// Finalized is told that rank may end from now on.
func (h *host) Finalized(rank int) {
	j := (*job)(h)
	j.post(func() { j.ranks[rank].finalized = true })
}

// Aborted is told that rank wants the job to end.
func (h *host) Aborted(rank, code int, reason string) {
	j := (*job)(h)
	j.post(func() { j.aborted(j.ranks[rank], code, reason) })
}
