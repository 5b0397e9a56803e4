package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Ranks are whole numbers, parts of total, so that a sum is the same in whatever order
// others add to it: any number of ranks, and the serial run, compute the same bits.
const (
	total   = 1 << 50
	follow  = 85 // of 100 go along an edge, the rest anywhere
	percent = 100
	still   = total >> 36 // a vertex that changes by no more has converged
)

// part is the vertices of one rank, and what it sends to the others in each step.
type part struct {
	world *mpi.Comm
	n     int   // vertices of all ranks
	first []int // where the edges of each own vertex begin
	place []int // of each edge's vertex in shares

	// What arrives for the own vertices in a step: the window.
	arrives mpi.Win[int64]
	ranks   []int64

	// The shares that the own vertices give to others, grouped by owner. A vertex to which
	// several edges lead has one entry.
	shares []int64
	to     []target
}

// target is a rank that owns vertices to which edges lead, with a datatype of those vertices.
type target struct {
	rank     int
	from     int // in shares
	count    int
	vertices mpi.Datatype
}

// owner has the vertices from*n/size to (from+1)*n/size.
func begin(rank, size, n int) int { return rank * n / size }

func owner(v, size, n int) int {
	rank := v * size / n
	for begin(rank+1, size, n) <= v {
		rank++
	}
	return rank
}

// deal gives every rank its vertices with their edges from the graph on rank 0.
func deal(world *mpi.Comm, g graph, n int) (*part, error) {
	const tag = 1
	me, size := world.Rank(), world.Size()
	p := &part{world: world, n: n}
	var edges []int
	if me == 0 {
		for rank := size - 1; rank >= 0; rank-- {
			lo, hi := begin(rank, size, n), begin(rank+1, size, n)
			base := g.first[lo]
			p.first, edges = nil, g.to[base:g.first[hi]]
			for _, at := range g.first[lo : hi+1] {
				p.first = append(p.first, at-base)
			}
			if rank == 0 {
				break
			}
			if err := mpi.Send(world, p.first, rank, tag); err != nil {
				return nil, err
			}
			if err := mpi.Send(world, edges, rank, tag); err != nil {
				return nil, err
			}
		}
	} else {
		var err error
		p.first, _, err = mpi.RecvSlice[int](world, 0, tag)
		if err != nil {
			return nil, err
		}
		edges, _, err = mpi.RecvSlice[int](world, 0, tag)
		if err != nil {
			return nil, err
		}
	}
	p.ranks = make([]int64, len(p.first)-1)
	var err error
	p.arrives, err = mpi.WinAllocate[int64](world, len(p.ranks))
	if err != nil {
		return nil, err
	}
	return p, p.aim(edges)
}

// aim makes the shares and the targets of the edges.
func (p *part) aim(edges []int) error {
	size := p.world.Size()
	byOwner := make([][]int, size) // vertices that edges lead to, each once
	at := map[int]int{}            // where in it
	for _, v := range edges {
		if _, ok := at[v]; !ok {
			o := owner(v, size, p.n)
			at[v] = len(byOwner[o])
			byOwner[o] = append(byOwner[o], v-begin(o, size, p.n))
		}
	}
	element, err := mpi.TypeOf[int64]()
	if err != nil {
		return err
	}
	from := make([]int, size)
	sum := 0
	for rank, vertices := range byOwner {
		from[rank] = sum
		if len(vertices) == 0 {
			continue
		}
		d, err := mpi.TypeIndexedBlock(1, vertices, element)
		if err != nil {
			return err
		}
		if err := d.Commit(); err != nil {
			return err
		}
		p.to = append(p.to, target{rank, sum, len(vertices), d})
		sum += len(vertices)
	}
	p.shares = make([]int64, sum)
	for _, v := range edges {
		p.place = append(p.place, from[owner(v, size, p.n)]+at[v])
	}
	return nil
}

// iterate does steps until no rank changes much, and returns how many there were.
func (p *part) iterate(steps int) (int, error) {
	for v := range p.ranks {
		p.ranks[v] = total / int64(p.n)
	}
	mine := p.arrives.Local()
	for step := range steps {
		clear(mine)
		if err := p.arrives.Fence(mpi.ModeNoPrecede); err != nil {
			return step, err
		}
		idle, err := p.give()
		if err != nil {
			return step, err
		}
		if err := p.arrives.Fence(mpi.ModeNoSucceed); err != nil {
			return step, err
		}
		// What vertices without edges have goes to all.
		idle, err = mpi.AllreduceOne(p.world, idle, mpi.Sum)
		if err != nil {
			return step, err
		}
		changed := int64(0)
		for v, in := range mine {
			next := following(in, idle, p.n)
			changed = max(changed, next-p.ranks[v], p.ranks[v]-next)
			p.ranks[v] = next
		}
		changed, err = mpi.AllreduceOne(p.world, changed, mpi.Max)
		if err != nil {
			return step, err
		}
		if changed <= still {
			return step + 1, nil
		}
	}
	return steps, nil
}

// following is the rank of a vertex after a step.
func following(in, idle int64, n int) int64 {
	return (in+idle/int64(n))*follow/percent + (total-total/percent*follow)/int64(n)
}

// give adds the shares of the own vertices to those that they point to, and returns what
// belongs to vertices that point nowhere.
func (p *part) give() (idle int64, err error) {
	clear(p.shares)
	for v, rank := range p.ranks {
		to := p.place[p.first[v]:p.first[v+1]]
		if len(to) == 0 {
			idle += rank
		}
		for _, place := range to {
			p.shares[place] += rank / int64(len(to))
		}
	}
	for _, t := range p.to {
		shares := mpi.Buf(p.shares[t.from:][:t.count])
		if err := p.arrives.Untyped().Accumulate(shares, t.rank, 0, 1, t.vertices, mpi.Sum); err != nil {
			return idle, err
		}
	}
	return idle, nil
}

// collect returns the scores of all vertices at rank 0, and frees what deal has made.
func (p *part) collect() ([]int64, error) {
	size := p.world.Size()
	var all []int64
	counts := make([]int, size)
	if p.world.Rank() == 0 {
		all = make([]int64, p.n)
		for rank := range counts {
			counts[rank] = begin(rank+1, size, p.n) - begin(rank, size, p.n)
		}
	}
	if err := mpi.Gatherv(p.world, p.ranks, all, counts, nil, 0); err != nil {
		return nil, err
	}
	for _, t := range p.to {
		if err := t.vertices.Free(); err != nil {
			return nil, err
		}
	}
	return all, p.arrives.Free()
}

// same compares the scores with those of the serial computation.
func same(g graph, got, want []int64, steps, alone int) error {
	if steps != alone {
		return fmt.Errorf("pagerank: %d steps, the serial run took %d", steps, alone)
	}
	for v := range want {
		if got[v] != want[v] {
			return fmt.Errorf("pagerank: the rank of %s is %d, in the serial run %d", g.names[v], got[v], want[v])
		}
	}
	return nil
}
