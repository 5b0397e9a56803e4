package joined

import (
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/engine"
)

// A place is what a process knows of its job before it meets others.
type place struct {
	id    engine.Identity
	nodes []int // by rank: the number of its node
	node  int   // of this process
	count int   // of nodes
	local []int // ranks of this node, ascending
	key   *ecdh.PrivateKey
	sets  []engine.Pset // which the engine defines
}

// newPlace returns the place of a process with an identity. nodes is what the engine says, nil if it says
// nothing: then each process counts as a node of its own, and all communicate over sockets.
func newPlace(id engine.Identity, nodes []int) (*place, error) {
	if nodes == nil {
		for i := range id.Size {
			nodes = append(nodes, i)
		}
	}
	p := &place{id: id, nodes: nodes}
	if id.Size < 1 || id.Size > boot.MaxRanks || id.Rank < 0 || id.Rank >= id.Size || len(nodes) != id.Size {
		return nil, fmt.Errorf("%s says that this process is rank %d of %d, on %d nodes", id.Engine, id.Rank, id.Size, len(nodes))
	}
	for rank, n := range nodes {
		if n < 0 || n > p.count {
			return nil, fmt.Errorf("%s says that rank %d runs on node %d after %d nodes", id.Engine, rank, n, p.count)
		}
		p.count = max(p.count, n+1)
	}
	p.node = nodes[id.Rank]
	for rank, n := range nodes {
		if n == p.node {
			p.local = append(p.local, rank)
		}
	}
	var err error
	p.key, err = ecdh.X25519().GenerateKey(rand.Reader)
	return p, err
}

// first returns the first rank of a node, which puts the contact of its leader.
func (p *place) first(node int) int { return slices.Index(p.nodes, node) }

// job returns the description of the job, as the leader gives it to a process of its node.
func (p *place) job(rank int, fabric, listen, hostname string, cores int) *boot.Job {
	j := &boot.Job{ID: p.id.Job, Rank: rank, Size: p.id.Size, Local: p.local, Fabric: fabric, Listen: listen, Cores: cores}
	for n := range p.count {
		name := fmt.Sprintf("node%d", n)
		if n == p.node {
			name = hostname
		}
		j.Hosts = append(j.Hosts, name)
	}
	for _, n := range p.nodes {
		j.Host = append(j.Host, int32(n))
	}
	return j
}

const (
	// meetTimeout bounds the time in which a process finds the leader of its node, or becomes it.
	meetTimeout = 10 * time.Second
	// reachTimeout bounds the time in which a leader reaches another one.
	reachTimeout = 10 * time.Second
	// handshakeTimeout bounds the handshake of two leaders.
	handshakeTimeout = 5 * time.Second
	// returnTimeout bounds the time in which a new leader waits for processes that the leader before it
	// had served, before it makes memory of its own.
	returnTimeout = time.Second
	// passTime is the time for an engine to pass a line of output on that it has read, before it is told to end
	// the job: it drops the output of processes that it kills.
	passTime = 20 * time.Millisecond
	// readTimeout bounds the time in which an engine reads that line. On a machine that is busy it may need long.
	readTimeout = 5 * time.Second
	// newsTime is how much earlier the end of a connection of a node may be noticed elsewhere than the death
	// that is its cause on the node itself.
	newsTime = 200 * time.Millisecond
	// reportTime is the time for one process to report why all others end.
	reportTime = 200 * time.Millisecond
	// hintTime is how long a process waits for others of its node until the user is told.
	hintTime = 30 * time.Second
	// silence is how long another node may be out of reach.
	silence = 3 * time.Second
	// treeWidth is the number of leaders that each leader passes things on to.
	treeWidth = 16
)
