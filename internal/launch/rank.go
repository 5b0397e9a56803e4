//go:build unix

package launch

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/sys"
)

// A rank is one process of the job as the launcher sees it. Only the job's loop
// touches it.
type rank struct {
	index   int
	app     int // its block
	pid     int // 0 if it was never started
	cpus    []int
	session *boot.Session
	streams [2]*stream

	joined    bool // has called Init
	finalized bool // has called Finalize
	ended     bool // the process was reaped
	linkDone  bool // everything it said has been heard
	judged    bool // the end was taken into account
	status    syscall.WaitStatus

	fault       string // why the launcher cannot talk with it
	faultStatus int    // what the launcher then exits with
}

// alive reports whether the process can be sent signals: its number, and that
// of its group, is its own until it is reaped.
func (r *rank) alive() bool { return r.pid != 0 && !r.ended }

// exitStatus is what a shell would show.
func (r *rank) exitStatus() int {
	if r.status.Signaled() {
		return statusSignalBase + int(r.status.Signal())
	}
	return r.status.ExitStatus()
}

// how says how the process ended.
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

// start starts the process and what serves it.
func (j *job) start(r *rank, b *Block, p *program, stdin *os.File) error {
	link, theirs, err := sys.LinkPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	var pipes [2][2]*os.File
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			link.Close()
			if i > 0 {
				pipes[0][0].Close()
				pipes[0][1].Close()
			}
			return err
		}
		defer pipes[i][1].Close()
	}
	c := &child{
		file:  p.file,
		argv:  append([]string{b.Program}, b.Args...),
		dir:   b.Dir,
		cpus:  r.cpus,
		files: []*os.File{stdin, pipes[0][1], pipes[1][1], theirs},
		env: append(j.environ[r.app][:len(j.environ[r.app]):len(j.environ[r.app])],
			boot.EnvFD+"=3", envJob+"="+j.id, envRank+"="+strconv.Itoa(r.index), envSize+"="+strconv.Itoa(len(j.ranks))),
	}
	pid, err := j.spawner.start(c)
	if err != nil {
		link.Close()
		pipes[0][0].Close()
		pipes[1][0].Close()
		return err
	}
	r.pid = pid
	j.memory.notes.started(r.index, pid)
	j.warden.started(pid)
	tag := ""
	if j.spec.Tag {
		tag = fmt.Sprintf("[%d] ", r.index)
	}
	for i, to := range []*sink{j.stdout, j.stderr} {
		s := &stream{pipe: pipes[i][0], sink: to, tag: tag}
		r.streams[i] = s
		j.copying.Go(s.copy)
	}
	r.session = j.server.Session(r.index, link)
	go func() {
		err := r.session.Serve()
		r.session.Close()
		j.post(func() { j.linkEnded(r, err) })
	}()
	return nil
}
