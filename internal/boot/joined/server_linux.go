package joined

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// A server serves the processes of a node, in the process that is its leader: the leader itself is one of
// them, and uses the same frames. It is the boot.Host of its boot.Server.
//
// A process that disconnects without having said that it has no use for MPI any more has died, and ends the
// job: the server tells all processes that it reaches, and the engine.
type server struct {
	*place
	owner    *Process // the process that this is in
	listener *os.File
	boot     *boot.Server
	memory   *segment.Memory
	tree     *tree
	fabric   string
	listen   string
	hostname string
	cores    int

	mu       sync.Mutex
	members  map[int]*member // by rank: those that are or were connected
	idle     bool            // the leader has no use for MPI: others may see it end
	over     bool            // the job has ended
	hinting  bool            // hint was asked for
	follows  bool            // there was a leader before; set once
	awaited  map[int]bool    // ranks that the leader before this one had served, and that may come back
	returned chan struct{}   // closed when nobody is awaited any more
}

// A member is a process of the node as its leader sees it.
type member struct {
	session *boot.Session
	pid     int
	inC     bool
	used    bool // it uses MPI: its end is a failure
	gone    bool // it has disconnected
}

// newServer makes the server of a node at a listener. given are segments that this process has from the
// leader before, which had served the ranks in awaited.
func newServer(p *Process, listener *os.File, given map[int]*os.File, awaited []int) (*server, error) {
	s := &server{place: p.place, owner: p, listener: listener, members: map[int]*member{}, awaited: map[int]bool{}, returned: make(chan struct{})}
	p.mu.Lock()
	s.idle = !p.used // a process without use for MPI may follow a leader that has ended
	p.mu.Unlock()
	s.fabric = p.fabric
	if s.fabric == "" {
		s.fabric = "shm"
		if f, err := sys.Memfd("halo-probe", 0); err != nil {
			s.fabric = "tcp"
		} else {
			f.Close()
		}
	}
	var err error
	s.hostname, err = os.Hostname()
	if err != nil || s.hostname == "" || len(s.hostname) > boot.MaxName {
		s.hostname = "localhost"
	}
	s.listen = boot.Loopback
	if s.count > 1 {
		s.listen, err = listenAddress(p.iface, p.engineHost)
		if err != nil {
			return nil, err
		}
	}
	s.cores = p.cores
	header := &shmfmt.NotesHeader{Size: s.id.Size, Started: time.Now(), Job: s.id.Job, Fabric: s.fabric, Command: strings.Join(os.Args, " ")}
	s.memory = segment.New(s.fabric == "shm", s.local, segment.NewNotes(header, s.local))
	s.boot = boot.NewServer(s.local, s)
	s.tree, err = newTree(s)
	if err != nil {
		return nil, err
	}
	for which, f := range given {
		if dup, err := sys.DupFile(f); err == nil {
			s.memory.Give(which, dup)
		}
	}
	for _, r := range awaited {
		s.awaited[r] = r != s.id.Rank
	}
	s.settle(s.id.Rank)
	s.follows = len(given) > 0 || len(awaited) > 0
	if s.follows {
		s.boot.Fail(errors.New("boot: no Exchange can complete: the process that served this node has ended"))
		time.AfterFunc(returnTimeout, func() { s.settle(s.local...) })
	}
	go s.accept()
	return s, nil
}

// settle stops waiting for ranks that the leader before had served.
func (s *server) settle(ranks ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range ranks {
		delete(s.awaited, r)
	}
	select {
	case <-s.returned:
	default:
		if len(s.awaited) == 0 {
			close(s.returned)
		}
	}
}

// accept accepts the processes of the node until the process ends.
func (s *server) accept() {
	sys.ServeNode(s.listener, func(link *sys.Link, pid int) { go s.serve(link, pid) })
}

// serve serves a process until it disconnects.
func (s *server) serve(link *sys.Link, pid int) {
	c := s.boot.Guest(link, pid)
	err := c.Serve()
	c.Close()
	s.mu.Lock()
	rank := c.Rank()
	if s.members[rank] == nil || s.members[rank].session != c {
		s.mu.Unlock()
		return
	}
	m := s.members[rank]
	m.gone = true
	died := m.used && !s.over
	s.mu.Unlock()
	if died {
		s.died(rank, m, err)
	} else {
		s.tell()
	}
}

// died ends the job because a process has ended that used MPI.
func (s *server) died(rank int, m *member, err error) {
	last := s.memory.Notes().Last(rank)
	if last != "" {
		last = " in " + last
	}
	why := "it was killed, or ended without mpi.Finalize"
	if m.inC {
		why = cname.Text(why, false)
	}
	if err != nil {
		why = fmt.Sprintf("it broke the protocol (%v)", err)
	}
	s.end(1, fmt.Sprintf("rank %d (pid %d on %s) is lost%s: %s; the job was ended", rank, m.pid, s.hostname, last, why), true)
}

// end ends the job: it tells all processes of the node, the other nodes, and the engine. loud says that this
// process is the one that reports the reason.
func (s *server) end(status int, reason string, loud bool) {
	s.mu.Lock()
	first := !s.over
	s.over = true
	others, _ := s.others()
	s.mu.Unlock()
	if !first {
		return
	}
	if loud {
		report(reason)
	}
	s.boot.Stop()
	var told sync.WaitGroup
	for _, c := range others {
		told.Go(func() { c.Over(reason) })
	}
	s.tree.end(status, reason)
	wait(&told, tellTimeout)
	if loud {
		passOn(int(os.Stderr.Fd()))
		s.owner.engine.Abort(status, reason)
	}
	s.owner.end()
}

// others are the processes of the node that have not disconnected, without the leader itself. mu is held.
func (s *server) others() (sessions []*boot.Session, ranks []int) {
	for rank, m := range s.members {
		if !m.gone && rank != s.id.Rank {
			sessions, ranks = append(sessions, m.session), append(ranks, rank)
		}
	}
	return sessions, ranks
}

// tellTimeout bounds the time to tell processes of the node that the job has ended: a stopped one does not
// read.
const tellTimeout = 100 * time.Millisecond

// wait waits for a group, for a bounded time.
func wait(g *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// report tells the user of the job why it has ended.
func report(reason string) { fmt.Fprintf(os.Stderr, "halo: %s\n", reason) }

// passOn returns when an engine has read what was written to a pipe, and had time to pass it on. An engine that is told to
// end the job before it has read a line may drop the line, however long ago it was written.
func passOn(fd int) {
	for end := time.Now().Add(readTimeout); sys.Unread(fd) > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	time.Sleep(passTime)
}

// tell tells the processes of the node whether the leader may end, if that is so. It returns when they can
// read it: the leader's process may end right after.
func (s *server) tell() {
	s.mu.Lock()
	idle := s.idle && !s.over
	sessions, ranks := s.others()
	s.mu.Unlock()
	if !idle || planted.LeaveUntold {
		return
	}
	slices.Sort(ranks)
	for _, c := range sessions {
		c.Leave(true, ranks)
	}
}

// use notes whether a process uses MPI.
func (s *server) use(rank int, used bool) {
	s.mu.Lock()
	if m := s.members[rank]; m != nil {
		m.used = used
	}
	s.mu.Unlock()
	if rank == s.id.Rank {
		s.lead(used)
	}
}

// lead notes whether the leader itself uses MPI. Its process calls it directly, and before it may end.
func (s *server) lead(used bool) {
	s.mu.Lock()
	changed := s.idle == used
	s.idle = !used
	if m := s.members[s.id.Rank]; m != nil {
		m.used = used
	}
	sessions, _ := s.others()
	s.mu.Unlock()
	if !changed {
		return
	}
	s.tree.leave(!used)
	if used {
		for _, c := range sessions {
			c.Leave(false, nil)
		}
	} else {
		s.tell()
	}
}

// Join implements boot.Guests.
func (s *server) Join(rank int, used bool, c *boot.Session) error {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return errors.New("the job has ended")
	}
	if old := s.members[rank]; old != nil && !planted.RankTwice {
		gone := old.gone
		s.mu.Unlock()
		if gone {
			return fmt.Errorf("an earlier program of rank %d (pid %d) has already been in this job and left it: one program with mpi.Init per rank", rank, old.pid)
		}
		return fmt.Errorf("process %d is rank %d already: the engine has given two processes the same rank, or the program has started another one that inherited its environment",
			old.pid, rank)
	}
	s.members[rank] = &member{session: c, pid: c.Pid(), used: used}
	s.mu.Unlock()
	s.memory.Notes().Started(rank, c.Pid())
	s.settle(rank)
	return nil
}

// Given implements boot.Guests. Only a leader that follows another one takes segments.
func (s *server) Given(which int, f *os.File) {
	if !s.follows {
		f.Close()
		return
	}
	s.memory.Give(which, f)
}

// Hello implements boot.Host.
func (s *server) Hello(rank int, inC, world bool) (*boot.Job, error) {
	if inC {
		s.memory.Notes().InC(rank)
	}
	s.mu.Lock()
	s.members[rank].inC = inC
	if world && !s.hinting && len(s.members) < len(s.local) {
		s.hinting = true
		time.AfterFunc(cmp.Or(s.owner.joinLimit, hintTime), s.hint)
	}
	s.mu.Unlock()
	j := s.job(rank, s.fabric, s.listen, s.hostname, s.cores)
	j.Leader = s.tree.contact
	s.tell()
	return j, nil
}

// hint tells the user that a process waits for others of its node. They may be late, or the engine may be
// wrong about nodes: then they never come. It ends the job if the owner has a joinLimit.
func (s *server) hint() {
	s.mu.Lock()
	var missing []string
	for _, r := range s.local {
		if s.members[r] == nil {
			missing = append(missing, fmt.Sprint(r))
		}
	}
	over := s.over || s.idle
	s.mu.Unlock()
	if missing != nil && !over && s.owner.joinLimit > 0 {
		s.end(1, fmt.Sprintf("ranks %s of %d have not joined within %v: start all ranks, with the same size and address", strings.Join(missing, ", "),
			s.id.Size, s.owner.joinLimit), true)
		return
	}
	if missing != nil && !over {
		report(fmt.Sprintf("rank %d (pid %d on %s) has waited for ranks %s of its node for %v: if they have started, they do not meet, "+
			"because they run on other hosts or in other containers than %s says: %s=1 makes each process a node of its own",
			s.id.Rank, os.Getpid(), s.hostname, strings.Join(missing, ", "), hintTime, s.id.Engine, envLocal))
	}
}

// Segment implements boot.Host.
func (s *server) Segment(which int) (*os.File, error) {
	<-s.returned
	return s.memory.Segment(which)
}

// Exchanged implements boot.Host.
func (s *server) Exchanged(values [][]byte) { s.tree.exchange(values) }

// Finalized implements boot.Host. The boot.Server has made the Exchanges of this node fail.
func (s *server) Finalized(rank int) {
	s.tree.noExchange(rank)
	s.use(rank, false)
}

// InUse implements boot.Host.
func (s *server) InUse(rank int, used bool) { s.use(rank, used) }

// Init implements boot.Host.
func (s *server) Init(int) {}

// Published implements boot.Host: processes publish through the engine.
func (s *server) Published(int, []byte) {}

// Lookup implements boot.Host, as Published does.
func (s *server) Lookup(int, int) {}

// Aborted implements boot.Host. The process that aborts has reported it, and tells the engine.
func (s *server) Aborted(rank, code int, reason string) { s.end(boot.ExitStatus(code), reason, false) }
