package joined

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
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
	joinLimit  time.Duration // for others of the node to join; 0: no limit, because the engine starts all
	job        *boot.Job
	lost       chan struct{}
	once       sync.Once // closes lost

	exchanging sync.Mutex
	fenced     bool // guarded by exchanging

	mu      sync.Mutex
	guest   *boot.Guest // nil while it connects again, and when that has failed
	pid     int         // of the leader
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
	engine     string // its name, if the environment tells more than the client knows
	fabric     string
	iface      string
	engineHost string
	cores      int
	joinLimit  time.Duration
	local      int // ranks of each node, in blocks, whatever the engine says; 0: as it says
}

// open connects the process of an engine to its job. It takes over the client.
func open(e engine.Client, set settings) (*Process, error) {
	var nodes []int
	var err error
	if set.local > 0 {
		for r := range e.Identity().Size {
			nodes = append(nodes, r/set.local)
		}
	} else {
		nodes, err = e.Nodes()
		if err != nil {
			return nil, err
		}
	}
	id := e.Identity()
	if set.engine != "" {
		id.Engine = set.engine + " (" + id.Engine + ")"
	}
	at, err := newPlace(id, nodes)
	if err != nil {
		return nil, err
	}
	if c, ok := e.(engine.PsetClient); ok {
		// They are asked for now, because a process that has left its engine cannot ask.
		at.sets, err = c.Psets()
		if err != nil {
			return nil, err
		}
	}
	p := &Process{place: at, engine: e, inC: set.inC, fabric: set.fabric, iface: set.iface, engineHost: set.engineHost, cores: set.cores, joinLimit: set.joinLimit,
		lost: make(chan struct{}), changed: make(chan struct{}), kept: map[int]*os.File{}, used: true}
	if err := p.meet(set.world, nil); err != nil {
		return nil, err
	}
	go p.watchEngine()
	return p, nil
}

// end closes Lost: the job has ended.
func (p *Process) end() { p.once.Do(func() { close(p.lost) }) }

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
		if err := p.fence(); err != nil {
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

// fence makes the contacts of all leaders visible, and checks that all processes of the node have the same
// leader. If the engine is wrong about nodes, each would wait for others that it cannot meet.
func (p *Process) fence() error {
	first := p.first(p.node)
	if first == p.id.Rank {
		if err := p.engine.Put(contactKey, p.job.Leader); err != nil {
			return err
		}
	}
	if err := p.engine.Fence(); err != nil || first == p.id.Rank {
		return err
	}
	for end := time.Now().Add(reachTimeout); ; time.Sleep(time.Millisecond) {
		theirs, ok, err := p.engine.Get(contactKey, first)
		switch {
		case err != nil:
			return err
		case ok && theirs != p.job.Leader:
			_, bad := parseContact(theirs, p.id.Size)
			if bad != nil {
				return p.failed("join rank "+strconv.Itoa(first), bad)
			}
			return p.failed("join the job", fmt.Errorf("%s says that rank %d runs on the same node, but the two processes do not meet: "+
				"they are on different hosts or in different containers: %s=1 makes each process a node of its own", p.id.Engine, first, envLocal))
		case ok:
			return nil
		case time.Now().After(end): // a process may leave the fence before another one enters it
			return p.failed("join the job", fmt.Errorf("rank %d has put no contact", first))
		}
	}
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

// Spawn implements boot.Boot. No engine starts jobs for Halo.
func (p *Process) Spawn(context.Context, *boot.Spawn) (*boot.Spawned, error) {
	return nil, fmt.Errorf("%s has started this job, and does not start others for it; start the program by halo run, which does, also inside an allocation (%w)",
		p.id.Engine, errors.ErrUnsupported)
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
	text := boot.AbortText(fmt.Sprintf("rank %d (pid %d on %s)", p.id.Rank, os.Getpid(), p.job.Hosts[p.node]), call, code, reason)
	report(text)
	status := boot.ExitStatus(code)
	// From now on the end of the job does not end this process: its own status is that of the job under
	// Slurm's PMI-2, which does not keep the code.
	p.once.Do(func() {})
	passOn(int(os.Stderr.Fd()))
	p.engine.Abort(status, reason)
	if g, s, err := p.leader(); err == nil && s != nil {
		s.end(status, text, false)
	} else if err == nil {
		g.TellAbort(code, text)
	}
	os.Exit(status)
}
