//go:build unix

package agent

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// sweepDelay is the time between two searches for processes that are left.
	sweepDelay = 5 * time.Millisecond
	// SweepTimeout bounds the wait for killed processes, which may hang in the kernel.
	SweepTimeout = 2 * time.Second
)

// An Agent runs the ranks of one host: it starts them, connects them, forwards signals,
// reaps them, and leaves nothing behind. It makes no decisions about the job; it reports
// events to the launcher.
//
// One agent is inside the launcher. On each other host a separate process contains one
// (agentProcess), and the launcher exchanges frames with it (package talk).
//
// One goroutine, the loop of the process that contains the agent, owns it. The loop
// starts and reaps all processes and sends all signals, so that it never signals a
// process id that the system has reused. Sessions of ranks post functions to the loop.
type Agent struct {
	up        Reporter
	post      func(func())
	*children // from Open on

	// From Take on.
	share   *plan.Share
	ranks   []int // of this host
	procs   []*process
	server  *boot.Server
	memory  *segment.Memory
	pmi     *pmi1.Server // for programs of other MPIs; made with the first
	pmiOnce sync.Once
	running int
	linked  map[int]string // by app: the library of another MPI, see linkedWith
	door    door

	unlinked func() // see afterLinks; nil before
}

// A Reporter receives the events of an agent. The agent's loop calls all methods, which
// do not block.
type Reporter interface {
	Started(rank, pid int, cpus []int, pipes [2]*os.File) // pipes: its stdout and stderr, to be read and closed
	Failed(rank int, why string)                          // the agent starts no rank after this one
	Joined(rank int, how talk.Joining)                    // has called Init, or opened a session
	Init(rank int)                                        // has called Init after it had opened a session
	InUse(rank int, used bool)                            // uses MPI again, or may end from now on
	Published(rank int, value []byte)
	Lookup(rank, of int)       // wants what another rank has published
	Exchanged(values [][]byte) // all ranks of this host are in an Exchange
	Finalized(rank int)
	Aborted(rank, code int, reason string)
	Service(rank int, r pmi1.NameRequest)      // wants something of the name of a service; Named answers
	LinkEnded(rank int, err error)             // all frames of the rank have been reported
	Other(rank int, library string, runs bool) // is a program of another MPI, linked or mapped; before Ended
	Ended(rank int, status syscall.WaitStatus, note string)
	Spawn(rank int, number uint32, body []byte) // asks for a job: see boot.DecodeSpawn
	GiveUp(rank int, number uint32)             // no longer waits for that
}

// A process is a rank as its agent sees it.
type process struct {
	rank    int
	app     int
	pid     int // 0 if it was never started
	session *boot.Session
	joined  bool
	ended   bool
	asking  chan<- NameAnswer // takes the answer to a request about a name
	links   int               // sessions that have not ended

	answered chan struct{} // closed when all answers to its requests for jobs are written; nil if there was none
}

// alive reports whether the process can be sent signals: the system does not reuse its id,
// and that of its group, before it is reaped.
func (p *process) alive() bool { return p.pid != 0 && !p.ended }

// connected reports whether the process can be sent frames.
func (p *process) connected() bool { return p.session != nil && !p.ended }

// New makes an agent that reports to up. post has the loop of its process call a function.
func New(up Reporter, post func(func())) *Agent { return &Agent{up: up, post: post} }

// Cores is how many cores ranks of this host may use; 0 before Open.
func (a *Agent) Cores() int {
	if a.children == nil {
		return 0
	}
	return a.cores
}

// Notes are the wait notes of the ranks; nil before Take.
func (a *Agent) Notes() *segment.Notes {
	if a.memory == nil {
		return nil
	}
	return a.memory.Notes()
}

// ListenOn sets the address on which the ranks of this host listen.
func (a *Agent) ListenOn(addr string) { a.share.Listen = addr }

// Adopt serves a process that has started this one, as the only rank. It calls over when that has ended or has
// closed its link.
func (a *Agent) Adopt(pid int, link *sys.Link, over func()) {
	p := a.procs[0]
	a.memory.Notes().Started(0, pid)
	a.running, p.session = 1, a.server.Session(0, link)
	go func() {
		p.session.Serve()
		p.session.Close()
		a.post(func() {
			p.ended = true
			a.running--
			over()
		})
	}()
}

// Open prepares this process to start the ranks of job id on a host.
func (a *Agent) Open(mark string) (err error) {
	sys.Subreaper() // on systems without it, the warden ends orphans
	a.children = &children{others: map[int]func(syscall.WaitStatus){}, mark: mark, spawner: newSpawner(), agents: []*Agent{a}}
	a.warden, err = startWarden(mark)
	if err != nil {
		a.spawner.close()
		return err
	}
	a.cores = max(1, len(a.spawner.cpus))
	if quota := runtime.GOMAXPROCS(0); os.Getenv("GOMAXPROCS") == "" && quota < a.cores {
		a.cores = quota // the Go runtime has read the limit of the cgroup
	}
	return nil
}

// Take accepts the agent's share of the job.
func (a *Agent) Take(s *plan.Share) {
	a.share, a.ranks = s, s.Ranks()
	a.memory = segment.New(s.Fabric == "shm", a.ranks, segment.NewNotes(&shmfmt.NotesHeader{Size: len(s.Where), Started: time.Now(),
		Job: s.ID, Fabric: s.Fabric, Command: s.Command()}, a.ranks))
	a.server = boot.NewServer(a.ranks, (*asHost)(a))
	a.server.Plain = a.servePMI
	for _, r := range a.ranks {
		a.procs = append(a.procs, &process{rank: r, app: s.AppOf(r)})
	}
}

// Start starts the ranks, without waiting for any. The rank that reads the standard input, if it is
// one of them, reads input.
func (a *Agent) Start(input *os.File) error {
	null, err := NoInput()
	if err != nil {
		return err
	}
	defer null.Close()
	a.openDoor()
	where := plan.Binding(a.share.Bind, len(a.procs), a.spawner.cpus)
	own := os.Environ()
	environ := make([][]string, len(a.share.Apps))
	for i := range a.share.Apps {
		environ[i] = plan.RankEnviron(own, a.share.Apps[i].Env)
	}
	a.spawner.do(func() {
		for i, p := range a.procs {
			from := null
			if p.rank == a.share.Reader && input != nil {
				from = input
			}
			if err := a.startOne(p, environ[p.app], where[i], from); err != nil {
				a.up.Failed(p.rank, cannotStart(p.rank, a.share.Apps[p.app].File, err))
				break
			}
		}
	})
	a.watchOthers()
	return nil
}

// NoInput is an empty file, also on systems without /dev.
func NoInput() (*os.File, error) {
	if null, err := os.Open(os.DevNull); err == nil {
		return null, nil
	}
	r, w, err := os.Pipe()
	if err == nil {
		w.Close()
	}
	return r, err
}

// startOne starts a process, and the goroutines that serve it.
func (a *Agent) startOne(p *process, env []string, cpus []int, stdin *os.File) error {
	link, theirs, err := sys.LinkPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	var ends, theirEnds [2]*os.File
	for i := range ends {
		ends[i], theirEnds[i], err = os.Pipe()
		if err != nil {
			link.Close()
			if i > 0 {
				ends[0].Close()
				theirEnds[0].Close()
			}
			return err
		}
		defer theirEnds[i].Close()
	}
	app := &a.share.Apps[p.app]
	self, _ := os.Executable() // ranks do without it
	inode, err := sys.SocketInode(int(theirs.Fd()))
	if err != nil {
		inode = 0 // the program cannot tell whether it has the link
	}
	pid, err := a.spawner.start(&Child{
		File:  app.File,
		Argv:  app.Argv,
		dir:   app.Dir,
		cpus:  cpus,
		Files: []*os.File{stdin, theirEnds[0], theirEnds[1], theirs},
		apart: len(a.ranks) <= a.ownCores(), // else ranks yield to each other, and the kernel yields only within a session
		Env:   append(env[:len(env):len(env)], a.environ(p, self, inode)...),
	})
	if err != nil {
		link.Close()
		ends[0].Close()
		ends[1].Close()
		return err
	}
	p.pid = pid
	a.running++
	a.memory.Notes().Started(p.rank, pid)
	a.warden.started(pid)
	p.session = a.server.Session(p.rank, link)
	a.up.Started(p.rank, pid, cpus, ends)
	a.serve(p, p.session)
	return nil
}

// cannotStart describes why a process cannot be started.
func cannotStart(rank int, file string, err error) string {
	return fmt.Sprintf("cannot start rank %d, %s: %v%s", rank, file, err, cause(err))
}

// cause says in words, after a colon, what the error of a system call that starts a process means.
func cause(err error) string {
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return ": too many processes and threads, " + LimitsOfThreads()
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return ": too many open files, see ulimit -Hn"
	case errors.Is(err, syscall.ENOEXEC):
		return ": neither a program for this machine nor a script that begins with #!"
	case errors.Is(err, syscall.ENOENT):
		return ": the file exists, but the interpreter it names does not"
	}
	return ""
}

// Signal sends s to all ranks and the processes that they have started.
func (a *Agent) Signal(s syscall.Signal) {
	var groups []int
	for _, p := range a.procs {
		if p.alive() {
			groups = append(groups, p.pid)
		}
	}
	if s == syscall.SIGTSTP {
		sys.Suspend(groups)
		return
	}
	for _, g := range groups {
		syscall.Kill(-g, s)
	}
}

// Tell tells the ranks that the job has ended.
func (a *Agent) Tell(reason string) {
	a.server.Stop()
	for _, p := range a.procs {
		if p.joined && p.connected() {
			go p.session.Over(reason)
		}
	}
}

// Deliver ends an Exchange.
func (a *Agent) Deliver(table []byte) { a.server.Deliver(table) }

// Found tells a rank what another one has published.
func (a *Agent) Found(rank, of int, value []byte, why string) {
	for _, p := range a.procs {
		if p.rank == rank && p.connected() {
			go p.session.Found(of, value, why)
		}
	}
}

// NoExchange makes every Exchange fail: rank, on another host, has finalized.
func (a *Agent) NoExchange(rank int) { a.server.Finalized(rank) }

// Spawned answers the request of a rank for a job.
func (a *Agent) Spawned(rank int, number uint32, s *boot.Spawned) {
	for _, p := range a.procs {
		if p.rank == rank && p.connected() {
			p.tellSpawned(number, s)
		}
	}
}

// tellSpawned sends an answer to a request for a job, or tells of the end of the job: that comes after the
// answer, however soon it is.
func (p *process) tellSpawned(number uint32, s *boot.Spawned) {
	session, before, written := p.session, p.answered, make(chan struct{})
	p.answered = written
	go func() { // it takes as long as the process does not read
		defer close(written)
		switch {
		case planted.EndBeforeAnswer && s.Job != "":
			time.Sleep(20 * time.Millisecond)
		case before != nil && !planted.EndBeforeAnswer:
			<-before
		}
		session.Spawned(number, s)
	}()
}

// Finish cleans up when no rank is left. What ranks of this job have left is not told from what ranks of
// other jobs have left, so it is removed with the last of these jobs.
func (a *Agent) Finish() {
	for _, b := range a.agents {
		if b.running > 0 {
			return
		}
	}
	a.Sweep()
}

// Sweep kills the processes that ended ranks have left. It repeats this when this process
// becomes the parent of more of them. It does not kill wardens of launchers inside the
// job, which end by themselves.
func (a *Agent) Sweep() {
	for end := time.Now().Add(SweepTimeout); time.Now().Before(end); time.Sleep(sweepDelay) {
		left := 0
		for _, pid := range sys.Adopted() {
			if pid == a.warden.pid || a.others[pid] != nil {
				continue
			}
			left++
			if !isWarden(pid) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		a.Reap()
		if left == 0 {
			break
		}
	}
}

// Retire tells the warden to exit, and waits for it for a short time.
func (a *Agent) Retire() {
	a.warden.quit()
	a.closeDoor()
	for pid := range a.others { // ssh, and what it has started
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	for end := time.Now().Add(SweepTimeout); time.Now().Before(end); time.Sleep(time.Millisecond / 4) {
		if _, _, err := sys.WaitChild(false); err != nil {
			break
		}
	}
	a.spawner.close()
	if a.memory != nil {
		a.memory.Close()
	}
}

// hasJoined notes that a rank has joined, and reports it.
func (a *Agent) hasJoined(rank int, how talk.Joining) {
	if how.InC {
		a.memory.Notes().InC(rank)
	}
	p := a.process(rank)
	if !p.joined {
		a.door.awaited--
		if a.door.awaited == 0 {
			a.closeDoor()
		}
	}
	p.joined = true
	a.up.Joined(rank, how)
}

// ownCores is how many cores of this host the ranks of the job may use.
func (a *Agent) ownCores() int { return max(1, a.cores-a.share.Busy) }

// process is the process of a rank of this host.
func (a *Agent) process(rank int) *process {
	return a.procs[slices.Index(a.ranks, rank)]
}
