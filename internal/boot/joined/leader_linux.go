package joined

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/sys"
)

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
			s, err = newServer(p, l, p.given(), awaited)
			if err != nil {
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
	p.guest, p.pid = g, pid
	if p.job == nil {
		j := *g.Job()
		j.Key, j.AppNum, j.Universe = p.key, p.id.AppNum, p.id.Universe
		j.Sets = p.sets
		p.job = &j
	}
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
	select {
	case <-p.lost:
		p.mu.Unlock()
		return
	default:
	}
	p.guest = nil
	lead, leader := p.server != nil, p.pid
	p.mu.Unlock()
	switch {
	case over || lead:
		p.end()
	case !may:
		if l := p.inherit(leader); l != nil {
			reason := fmt.Sprintf("the process that leads node %d (pid %d) is lost: it was killed, or ended without mpi.Finalize; the job was ended", p.node, leader)
			report(p.failed("go on", errors.New(reason)).Error())
			passOn(int(os.Stderr.Fd()))
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

// inherit takes the name of a leader that has died, for the one process that reports the death; it returns
// nil if another process has the name. A process that dies loses its connections before its name.
func (p *Process) inherit(leader int) *os.File {
	for end := time.Now().Add(reportTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if l, err := sys.ListenNode(p.nodeName()); err == nil {
			return l
		}
		if link, err := sys.DialNode(p.nodeName()); err == nil {
			pid, _, _ := link.Peer()
			link.Close()
			if pid != leader {
				return nil
			}
		}
	}
	return nil
}

// watchEngine ends the process when its engine has ended.
func (p *Process) watchEngine() {
	<-p.engine.Lost()
	p.mu.Lock()
	left := p.left
	p.mu.Unlock()
	if !left {
		time.Sleep(2 * newsTime) // a leader may report why the job has ended
		select {
		case <-p.lost: // the job has ended, and the engine with it
		default:
			report(p.failed("go on", fmt.Errorf("the connection with %s has ended: the job is over", p.id.Engine)).Error())
			p.end()
		}
	}
}

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
