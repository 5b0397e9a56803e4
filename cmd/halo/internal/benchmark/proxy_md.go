package benchmark

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

const (
	mdCells     = 256
	mdWidth     = 4096 // of a cell
	mdRing      = mdCells * mdWidth
	mdParticles = 4096
	mdSteps     = 300
	mdSpeed     = mdWidth / 4 // the greatest
	mdWeak      = 9           // bits by which a force is less than a distance
	mdResult    = 8677922545167
)

// particles are particles in cells that move from rank to rank: see bench/proxy_md.h. A particle is two numbers, its
// place and its speed.
type particles struct {
	world         *mpi.Comm
	first, cells  int // of this rank
	left, right   int
	own, sorted   []int32          // this rank's particles; the same in the order of the cells
	begin         [mdCells + 1]int // in sorted: of the particles of each cell, and the end
	next          [mdCells]int
	before, after []int32    // particles in the cells before the first and after the last one
	leaving       [2][]int32 // to the left and to the right
	count         [2]int32
	requests      []mpi.Request
}

func newParticles(world *mpi.Comm) (*particles, error) {
	n, me := world.Size(), world.Rank()
	if n > mdCells {
		return nil, fmt.Errorf("%d cells are too few for %d ranks", mdCells, n)
	}
	room := func() []int32 { return written[int32](2 * mdParticles) }
	m := &particles{world: world, left: (me + n - 1) % n, right: (me + 1) % n, own: room(), sorted: room(), before: room(), after: room(),
		leaving: [2][]int32{room(), room()}, requests: make([]mpi.Request, 2)}
	m.first = firstOf(mdCells, me, n)
	m.cells = firstOf(mdCells, me+1, n) - m.first
	return m, nil
}

func (m *particles) close() error { return nil }

func (m *particles) reset() {
	m.own = m.own[:0]
	for i := range uint32(mdParticles) {
		h := mixed(i + 1)
		x := int32(h % mdRing)
		if cell := int(x / mdWidth); cell >= m.first && cell < m.first+m.cells {
			m.own = append(m.own, x, int32(h>>24)-128)
		}
	}
}

// sort puts the particles of each cell together.
func (m *particles) sort() {
	next := m.next[:m.cells]
	clear(next)
	for i := 0; i < len(m.own); i += 2 {
		next[int(m.own[i]/mdWidth)-m.first] += 2
	}
	at := 0
	for c, n := range next {
		m.begin[c], next[c] = at, at
		at += n
	}
	m.begin[m.cells] = at
	m.sorted = m.sorted[:at]
	for i := 0; i < len(m.own); i += 2 {
		c := int(m.own[i]/mdWidth) - m.first
		to := next[c]
		next[c] += 2
		m.sorted[to], m.sorted[to+1] = m.own[i], m.own[i+1]
	}
}

func (m *particles) receive(into []int32, from, tag int) ([]int32, error) {
	s, err := m.world.Probe(from, tag)
	if err != nil {
		return nil, err
	}
	into = into[:mpi.Count[int32](s)]
	_, err = mpi.Recv(m.world, into, from, tag)
	return into, err
}

// borders sends the first and the last cell to the neighbours, and receives theirs. Tag 1 is to the left.
func (m *particles) borders() (err error) {
	m.requests[0] = mpi.Isend(m.world, m.sorted[:m.begin[1]], m.left, 1)
	m.requests[1] = mpi.Isend(m.world, m.sorted[m.begin[m.cells-1]:], m.right, 2)
	m.before, err = m.receive(m.before, m.left, 2)
	if err != nil {
		return err
	}
	m.after, err = m.receive(m.after, m.right, 1)
	if err != nil {
		return err
	}
	return mpi.Waitall(m.requests, nil)
}

// force is that of others on a particle at x.
func force(x int32, others []int32) (sum int32) {
	for i := 0; i < len(others); i += 2 {
		d := (x-others[i]+mdRing/2)&(mdRing-1) - mdRing/2
		sign := d >> 31
		f := (2*mdWidth - (d ^ sign - sign)) >> mdWeak
		sum += f ^ sign - sign
	}
	return sum
}

// move moves one particle, and puts it to its new place: own, or those that leave.
func (m *particles) move(x, v int32) {
	v = max(min(v, mdSpeed), -mdSpeed)
	x = (x + v) & (mdRing - 1)
	switch cell := int(x / mdWidth); {
	case cell >= m.first && cell < m.first+m.cells:
		m.own = append(m.own, x, v)
	case cell == (m.first+mdCells-1)%mdCells:
		m.leaving[0] = append(m.leaving[0], x, v)
	default:
		m.leaving[1] = append(m.leaving[1], x, v)
	}
}

func (m *particles) advance() {
	m.own, m.leaving[0], m.leaving[1] = m.own[:0], m.leaving[0][:0], m.leaving[1][:0]
	for c := range m.cells {
		before, here, after := m.before, m.sorted[m.begin[c]:m.begin[c+1]], m.after
		if c > 0 {
			before = m.sorted[m.begin[c-1]:m.begin[c]]
		}
		if c < m.cells-1 {
			after = m.sorted[m.begin[c+1]:m.begin[c+2]]
		}
		for i := 0; i < len(here); i += 2 {
			x, f := here[i], int32(-(2 * mdWidth >> mdWeak)) // its force on itself, which the second sum contains
			f += force(x, before) + force(x, here) + force(x, after)
			m.move(x, here[i+1]+f)
		}
	}
}

// migrate sends the particles that leave, and receives those that come: first their number.
func (m *particles) migrate() error {
	to, from := [2]int{m.left, m.right}, [2]int{m.right, m.left}
	for k := range to {
		m.count[0] = int32(len(m.leaving[k]))
		if _, err := mpi.Sendrecv(m.world, m.count[:1], to[k], 3+k, m.count[1:], from[k], 3+k); err != nil {
			return err
		}
		n := len(m.own)
		m.own = m.own[:n+int(m.count[1])]
		if _, err := mpi.Sendrecv(m.world, m.leaving[k], to[k], 5+k, m.own[n:], from[k], 5+k); err != nil {
			return err
		}
	}
	return nil
}

func (m *particles) run() error {
	m.reset()
	for range mdSteps {
		m.sort()
		if err := m.borders(); err != nil {
			return err
		}
		m.advance()
		if err := m.migrate(); err != nil {
			return err
		}
	}
	sum := uint64(0)
	for i := 0; i < len(m.own); i += 2 {
		sum += uint64(mixed(uint32(m.own[i])*4096 + uint32(m.own[i+1])))
	}
	return expectTotal(m.world, sum, mdResult)
}
