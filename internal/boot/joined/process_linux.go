package joined

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/sys"
)

// A Process is the boot.Boot of a process that a job engine started. It is connected to the leader of its
// node, which may be itself.
//
// A leader may have no use for MPI any more, and end, while others of its node go on: with sessions, or
// after Finalize. Before that it tells them (boot's Leave). When its connections then end, each of them
// connects again: one of them becomes the leader, and the others give it the segments that they have,
// so that memory that two processes share stays the same. A leader that ends without having told has
// died, and the job has ended.
//
// An Exchange cannot complete after a leader has left, since that process takes part in no more. Lookup
// and Publish do not use the leader.
//
// Rejected: a leader that hands its service over before it ends. Go has no way to run something when a
// program returns from main. Rejected: a process of its own that serves the node. A program in C cannot be
// started as something else, and engines count and kill what their processes start.
type Process struct {
	*place
	engine     engine.Client
	inC        bool
	fabric     string // "": the best
	iface      string
	engineHost string // an address of the engine's server, "" if it is not known
	cores      int
	job        *boot.Job
	lost       chan struct{}
	once       sync.Once // closes lost

	exchanging sync.Mutex
	fenced     bool // guarded by exchanging

	mu      sync.Mutex
	guest   *boot.Guest // nil while it connects again, and when that has failed
	server  *server     // nil unless this process is the leader
	changed chan struct{}
	broken  error // why there is no leader any more
	kept    map[int]*os.File
	used    bool // it uses MPI
	left    bool // the engine was told that the process may end
}

// contactKey is the key of a leader's contact, addressName the name of a process's address.
const (
	contactKey  = "halo"
	addressName = "halo-address"
)

// settings are what the environment says beside the place of the process.
type settings struct {
	inC, world bool
	fabric     string
	iface      string
	engineHost string
	cores      int
}

// open connects the process of an engine to its job. It takes over the client.
func open(e engine.Client, set settings) (*Process, error) {
	nodes, err := e.Nodes()
	if err != nil {
		return nil, err
	}
	at, err := newPlace(e.Identity(), nodes)
	if err != nil {
		return nil, err
	}
	p := &Process{place: at, engine: e, inC: set.inC, fabric: set.fabric, iface: set.iface, engineHost: set.engineHost, cores: set.cores,
		lost: make(chan struct{}), changed: make(chan struct{}), kept: map[int]*os.File{}, used: true}
	if err := p.meet(set.world, nil); err != nil {
		return nil, err
	}
	j := *p.guest.Job()
	j.Key, j.AppNum, j.Universe = at.key, max(0, at.id.AppNum), max(0, at.id.Universe)
	p.job = &j
	go p.watchEngine()
	return p, nil
}

// nodeName is the name of the socket of the node's leader.
func (p *Process) nodeName() string {
	return fmt.Sprintf("halo-%d-%s-%d", os.Getuid(), p.id.Job, p.node)
}

// meet becomes the leader of the node, or connects to it. awaited are ranks that the leader before had
// served, nil at first.
func (p *Process) meet(world bool, awaited []int) error {
	name := p.nodeName()
	for end := time.Now().Add(meetTimeout); ; time.Sleep(time.Millisecond) {
		l, err := sys.ListenNode(name)
		if err == nil {
			var s *server
			if s, err = newServer(p, l, p.given(), awaited); err != nil {
				l.Close()
				return p.failed("lead its node", err)
			}
			p.mu.Lock()
			p.server = s
			p.mu.Unlock()
		} else if !errors.Is(err, sys.ErrTaken) {
			return p.failed("meet the others of its node", err)
		}
		link, err := sys.DialNode(name)
		if err == nil {
			err = p.join(link, name, world)
		}
		switch {
		case err == nil:
			return nil
		case time.Now().Before(end) && (errors.Is(err, sys.ErrNobody) || errors.Is(err, io.EOF) || sys.LinkReset(err)): // the leader is just ending
		default:
			return p.failed("join the process that leads its node", err)
		}
	}
}

// join connects to the leader at the other end of a link.
func (p *Process) join(link *sys.Link, name string, world bool) error {
	pid, uid, err := link.Peer()
	if err == nil && uid != os.Getuid() {
		err = fmt.Errorf("process %d of user %d has the name @%s of the socket of this job", pid, uid, name)
	}
	var g *boot.Guest
	if err == nil {
		p.mu.Lock()
		used := p.used
		p.mu.Unlock()
		g, err = boot.Join(link, p.id.Rank, p.inC, world, used, p.given())
	}
	if err != nil {
		link.Close()
		return err
	}
	p.mu.Lock()
	p.guest = g
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	go p.watch(g)
	return nil
}

// failed describes an error of this process, with its place.
func (p *Process) failed(what string, err error) error {
	host, _ := os.Hostname()
	return fmt.Errorf("rank %d of %d (pid %d on %s, started by %s) cannot %s: %w", p.id.Rank, p.id.Size, os.Getpid(), host, p.id.Engine, what, err)
}

// given returns the segments that this process has, for a leader. It is called by one goroutine at a time.
func (p *Process) given() map[int]*os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := map[int]*os.File{}
	for which, f := range p.kept {
		list[which] = f
	}
	return list
}

// watch waits for the end of the connection with a leader, and finds out what follows from it.
func (p *Process) watch(g *boot.Guest) {
	<-g.Lost()
	over, may, ranks := g.Left()
	p.mu.Lock()
	p.guest = nil
	lead := p.server != nil
	p.mu.Unlock()
	switch {
	case over || lead:
		p.end()
	case !may:
		// The process that gets the name of the leader reports its death.
		if l, err := sys.ListenNode(p.nodeName()); err == nil {
			reason := fmt.Sprintf("the process that leads node %d is lost: it was killed, or ended without mpi.Finalize; the job was ended", p.node)
			report(p.failed("go on", errors.New(reason)).Error())
			time.Sleep(passTime)
			p.engine.Abort(1, reason)
			l.Close()
		} else {
			time.Sleep(reportTime) // the end of this process may make the engine kill the one that reports
		}
		p.end()
	default:
		if err := p.meet(false, ranks); err != nil {
			p.mu.Lock()
			p.broken = err
			close(p.changed)
			p.changed = make(chan struct{})
			p.mu.Unlock()
		}
	}
}

// watchEngine ends the process when its engine has ended.
func (p *Process) watchEngine() {
	<-p.engine.Lost()
	p.mu.Lock()
	left := p.left
	p.mu.Unlock()
	if !left {
		select {
		case <-p.lost: // the job has ended, and the engine with it
		default:
			report(p.failed("go on", fmt.Errorf("the connection with %s has ended: the job is over", p.id.Engine)).Error())
			p.end()
		}
	}
}

// end closes Lost: the job has ended.
func (p *Process) end() { p.once.Do(func() { close(p.lost) }) }

// leader returns the connection with the leader. It waits while this process connects to another one.
func (p *Process) leader() (*boot.Guest, *server, error) {
	for {
		p.mu.Lock()
		g, s, changed, broken := p.guest, p.server, p.changed, p.broken
		p.mu.Unlock()
		switch {
		case g != nil:
			return g, s, nil
		case broken != nil:
			return nil, nil, broken
		}
		select {
		case <-changed:
		case <-p.lost:
			return nil, nil, boot.ErrOver
		}
	}
}

// Job implements boot.Boot, as the other methods do.
func (p *Process) Job() *boot.Job { return p.job }

// Lost implements boot.Boot.
func (p *Process) Lost() <-chan struct{} { return p.lost }

// Exchange implements boot.Boot. Before the first one the engine shows the contact of each leader to the
// others.
func (p *Process) Exchange(mine []byte) ([][]byte, error) {
	p.exchanging.Lock()
	defer p.exchanging.Unlock()
	if !p.fenced && p.count > 1 {
		if p.first(p.node) == p.id.Rank {
			if err := p.engine.Put(contactKey, p.job.Leader); err != nil {
				return nil, p.afterLeaving(err)
			}
		}
		if err := p.engine.Fence(); err != nil {
			return nil, p.afterLeaving(err)
		}
	}
	p.fenced = true
	g, _, err := p.leader()
	if err != nil {
		return nil, err
	}
	return g.Exchange(mine)
}

// Init implements boot.Boot.
func (p *Process) Init() error { return nil }

// InUse implements boot.Boot.
func (p *Process) InUse(used bool) error {
	p.mu.Lock()
	p.used = used
	p.mu.Unlock()
	for {
		g, s, err := p.leader()
		if err == nil && s != nil {
			s.lead(used)
		} else if err == nil {
			err = g.InUse(used)
		}
		if !used { // an error means that the leader has left, and that the end of this process concerns nobody
			break
		}
		if err == nil || !errors.Is(err, boot.ErrOver) || !p.again(g) {
			return err
		}
	}
	p.mu.Lock()
	again := p.left
	p.left = true
	p.mu.Unlock()
	if again {
		return nil
	}
	return p.engine.Finalize()
}

// published returns the value for the engine's store of what a process publishes.
func published(mine []byte) string { return base64.RawURLEncoding.EncodeToString(mine) }

// Publish implements boot.Boot.
func (p *Process) Publish(mine []byte) error {
	if p.count == 1 {
		return nil // no process of the node looks it up: there is memory
	}
	return p.afterLeaving(p.engine.Publish(addressName, published(mine)))
}

// afterLeaving explains an error of a process that has left its engine. An engine takes the end of a
// process that has not left it for a failure, and a process is not told before the program ends. So it
// leaves when it has no use for MPI, and cannot return.
func (p *Process) afterLeaving(err error) error {
	p.mu.Lock()
	left := p.left
	p.mu.Unlock()
	if err != nil && left {
		return fmt.Errorf("rank %d has left its job engine (%s), because its sessions, and the world model if it was in use, had ended: "+
			"keep a session open as long as the process meets others of other nodes: %w", p.id.Rank, p.id.Engine, err)
	}
	return err
}

// Lookup implements boot.Boot.
func (p *Process) Lookup(ctx context.Context, rank int) ([]byte, error) {
	text, err := p.engine.Lookup(ctx, addressName, rank)
	if err != nil {
		return nil, p.afterLeaving(err)
	}
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the address of rank %d, by %s: %.60q: %w", rank, p.id.Engine, text, err)
	}
	return value, nil
}

// Segment implements boot.Boot. The process keeps a descriptor, for a leader after this one.
func (p *Process) Segment(which int) (*os.File, error) {
	for {
		g, _, err := p.leader()
		if err != nil {
			return nil, err
		}
		f, err := g.Segment(which)
		if errors.Is(err, boot.ErrOver) && p.again(g) {
			continue
		}
		if err == nil {
			p.keep(which, f)
		}
		return f, err
	}
}

// again waits until this process has another leader than g. It reports false if the job has ended.
func (p *Process) again(g *boot.Guest) bool {
	for {
		p.mu.Lock()
		now, changed, broken := p.guest, p.changed, p.broken
		p.mu.Unlock()
		switch {
		case broken != nil:
			return true // leader returns it
		case now != nil && now != g:
			return true
		}
		select {
		case <-changed:
		case <-p.lost:
			return false
		}
	}
}

// keep keeps a descriptor of a segment.
func (p *Process) keep(which int, f *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil || p.kept[which] != nil {
		return
	}
	if dup, err := sys.DupFile(f); err == nil {
		p.kept[which] = dup
	}
}

// Ring implements boot.Boot.
func (p *Process) Ring(rank int) error {
	g, _, err := p.leader()
	if err != nil {
		return err
	}
	return g.Ring(rank)
}

// Finalize implements boot.Boot. InUse follows.
func (p *Process) Finalize() error {
	g, s, err := p.leader()
	switch {
	case err != nil:
		return err
	case s != nil:
		s.boot.Finalized(p.id.Rank)
		s.Finalized(p.id.Rank)
		return nil
	}
	g.Finalize() // an error means that the leader has left, so that no Exchange can complete anyway
	return nil
}

// Abort implements boot.Boot.
func (p *Process) Abort(code int, reason string) {
	call := "Abort"
	if p.inC {
		call = cname.Text(call, false)
	}
	text := fmt.Sprintf("rank %d (pid %d on %s) called %s(%d); the job was ended", p.id.Rank, os.Getpid(), p.job.Hosts[p.node], call, code)
	if reason != "" {
		text += ": " + reason
	}
	report(text)
	status := boot.ExitStatus(code)
	time.Sleep(passTime)
	p.engine.Abort(status, reason)
	if g, s, err := p.leader(); err == nil && s != nil {
		s.end(status, text, false)
	} else if err == nil {
		g.TellAbort(code, text)
	}
	os.Exit(status)
}
