package mpi

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/topology"
)

// Topology is the kind of a communicator's topology.
//
// C: MPI_CART and so on, section 8.5.5.
type Topology int

// The kinds of topologies.
//
// C: MPI_UNDEFINED, MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, section 8.5.5.
const (
	NoTopology        Topology = Undefined
	CartTopology      Topology = 211
	GraphTopology     Topology = 212
	DistGraphTopology Topology = 213
)

// structure is the topology of a communicator: a Cart, a Graph or a DistGraph.
type structure interface {
	kind() Topology
	// on is the same topology as that of another communicator of the same members.
	on(c *Comm) structure
	// neighbors are those of a rank, which is that of this process.
	neighbors(rank int) *comm.Neighbors
}

// setTopology gives a new communicator its topology.
func (c *Comm) setTopology(t structure) {
	c.topology, c.core.Neighbors = t, t.neighbors(c.Rank())
}

// Topology tells which kind of topology the communicator has. Dup and Idup copy topologies.
//
// C: MPI_Topo_test, section 8.5.5.
func (c *Comm) Topology() Topology {
	if c.topology == nil {
		return NoTopology
	}
	return c.topology.kind()
}

// copyTopology gives a duplicate of c its topology.
func (d *Comm) copyTopology(c *Comm) {
	if c.topology != nil {
		d.topology, d.core.Neighbors = c.topology.on(d), c.core.Neighbors
	}
}

// hosts returns the host of each of the first n members of c. In a job that knows no hosts, and on
// a communicator of several jobs, all are on one.
func (c *Comm) hosts(n int) []int32 {
	job := c.w.Proc.Job()
	hosts := make([]int32, n)
	if len(job.Host) == job.Size && c.w.Proc.Foreign(c.core.Members) < 0 {
		for r, process := range c.core.Members[:n] {
			hosts[r] = job.Host[process]
		}
	}
	return hosts
}

// envVerbose is set to 1 by the launcher with -v.
const envVerbose = "HALO_VERBOSE"

// verbosely says something to the user of a verbose job.
func verbosely(line string) { fmt.Fprintf(os.Stderr, "halo: %s\n", line) }

// logGain says at rank 0, if the job is verbose, what reordering has gained: edges between hosts, or
// their weight, before and after.
func (c *Comm) logGain(k call.Number, before, after int64) {
	if c.Rank() == 0 && os.Getenv(envVerbose) == "1" {
		fmt.Fprintf(os.Stderr, "halo: %s on %s: %s\n", k, c.Name(), topology.Gain(before, after))
	}
}

// arranged makes a communicator of the first n members of c, in the order of the positions that
// place gives them, or in their own order if place is nil. It returns nil to others. Collective
// over c.
func (c *Comm) arranged(k call.Number, n int, place []int32) (*Comm, error) {
	defer c.core.Begin(k)()
	if n == c.Size() && place == nil {
		core, err := c.w.Coll.Dup(c.core)
		return c.created(k, core, err)
	}
	members := make([]int32, n)
	for r, process := range c.core.Members[:n] {
		if place == nil {
			members[r] = process
		} else {
			members[place[r]] = process
		}
	}
	core, err := c.w.Coll.Create(c.core, members)
	return c.created(k, core, err)
}

// rankOf returns what place says of this process: its rank among the first n members of c,
// Undefined if it is none of them.
func (c *Comm) rankOf(n int, place []int32) int {
	switch r := c.Rank(); {
	case r >= n:
		return Undefined
	case place != nil:
		return int(place[r])
	default:
		return r
	}
}

// shape checks the dimensions of a grid on c, and returns it.
func (c *Comm) shape(k call.Number, dims []int, periods []bool) (*topology.Grid, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, err
	}
	if len(dims) != len(periods) {
		return nil, fail(ErrDims, k, c, "%d lengths of dimensions and %d periods", len(dims), len(periods))
	}
	g := &topology.Grid{Dims: append([]int(nil), dims...), Periods: append([]bool(nil), periods...)}
	n := 1
	for i, d := range dims {
		switch {
		case d < 1:
			return nil, fail(ErrDims, k, c, "dimension %d has length %d", i, d)
		case d > c.Size()/n:
			return nil, fail(ErrDims, k, c, "a grid of dimensions %d has more positions than the communicator has members, %d", dims, c.Size())
		}
		n *= d
	}
	return g, nil
}
