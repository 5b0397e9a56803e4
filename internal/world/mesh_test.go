package world

import (
	"errors"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// A mesh carries frames between the processes of several jobs, by their identities.
type mesh struct {
	mu      sync.Mutex
	all     map[proc.ID]*port
	victims []*port            // in the order in which they die
	died    func(victim *port) // called when a victim dies
}

// die makes the death of a process known to all others, after what it has sent. m.mu is held.
func (m *mesh) die(p *port) {
	p.dead = true
	for _, q := range m.all {
		if !q.dead {
			q.in = append(q.in, parcel{from: p.p.Identity(p.p.Job().Rank), death: true})
			q.Wake()
		}
	}
}

// A port is a process in a mesh. It implements fabric.Fabric: numbers are those of its process.
type port struct {
	m    *mesh
	p    *proc.Proc
	in   []parcel      // guarded by m.mu
	bell chan struct{} // capacity 1

	dead  bool // guarded by m.mu
	limit int  // of the next victim: how many frames it sends before it dies
}

type parcel struct {
	from    proc.ID
	h       wire.Header
	payload []byte
	death   bool // of the sender
}

func (p *port) Name() string  { return "mesh" }
func (p *port) EagerMax() int { return 4096 }
func (p *port) ChunkMax() int { return 8192 }

func (p *port) Send(to int, h *wire.Header, payload []byte) bool {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if v := p.m.victims; len(v) > 0 && v[0] == p {
		if p.limit == 0 {
			p.m.victims = v[1:]
			p.m.die(p)
			p.m.died(p)
		}
		p.limit--
	}
	q := p.m.all[p.p.Identity(to)]
	if p.dead || q.dead {
		return true
	}
	q.in = append(q.in, parcel{p.p.Identity(p.p.Job().Rank), *h, slices.Clone(payload), false})
	q.Wake()
	return true
}

func (p *port) Poll(s fabric.Sink, _ int) int {
	p.m.mu.Lock()
	in := p.in
	p.in = nil
	p.m.mu.Unlock()
	for i := range in {
		from := p.p.Number(in[i].from)
		switch {
		case !in[i].death:
			s.Frame(from, &in[i].h, in[i].payload)
		case p.p.DownCause(from) == nil:
			s.Down(from, errDied)
		}
	}
	return len(in)
}

var errDied = errors.New("the process has died")

func (p *port) Arm()         {}
func (p *port) Disarm()      {}
func (p *port) Sleep()       { <-p.bell }
func (p *port) Close() error { p.Wake(); return nil }
func (p *port) Wake() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// jobsInMesh returns the processes of jobs of those sizes. Those of a job reach each other through
// memory and those of other ones through a mesh. Each process has met the processes of the other
// jobs in an order of its own, and has a communicator of all, job after job.
func jobsInMesh(sizes ...int) (m *mesh, worlds []*World, comms []*comm.Comm, err error) {
	m = &mesh{all: map[proc.ID]*port{}}
	var ids []proc.ID
	for _, n := range sizes {
		local := make([]int, n)
		for i := range local {
			local[i] = i
		}
		node, err := inproc.NewNode(local, n)
		if err != nil {
			return nil, nil, nil, err
		}
		for i, b := range boot.Memory(n) {
			near, err := node.Open(i)
			if err != nil {
				return nil, nil, nil, err
			}
			far := &port{m: m, bell: make(chan struct{}, 1)}
			w, err := startOver(b, ways{near: near}, far, false, goroutinePolicy(), false, notes{})
			if err != nil {
				return nil, nil, nil, err
			}
			if err := w.attachWorld(); err != nil {
				return nil, nil, nil, err
			}
			m.mu.Lock()
			far.p = w.Proc
			ids = append(ids, w.Proc.Identity(i))
			m.all[ids[len(ids)-1]] = far
			m.mu.Unlock()
			worlds = append(worlds, w)
		}
	}
	ctx := ids[0].Context(1000)
	for rank, w := range worlds {
		w.Proc.Lock()
		for k := range ids { // in an order of its own
			if _, err := w.Proc.Meet(ids[(rank*3+k)%len(ids)], false); err != nil {
				return nil, nil, nil, err
			}
		}
		members := make([]int32, len(ids))
		for r, id := range ids {
			members[r] = int32(w.Proc.Number(id))
		}
		comms = append(comms, comm.New(w.Proc, ctx, rank, members))
		err := w.Coll.Attach(comms[rank], coll.NoSlot)
		w.Proc.Unlock()
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return m, worlds, comms, nil
}
