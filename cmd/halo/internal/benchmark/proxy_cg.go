package benchmark

import "github.com/halo-mpi/halo/mpi"

const (
	cgSide     = 192 // of the grid
	cgSteps    = 600
	cgDiagonal = 4.01
	cgOff      = 1e-6
)

// gradients is the method of conjugate gradients: see bench/proxy_cg.h.
type gradients struct {
	world, comm   *mpi.Comm
	rows, columns int
	width         int     // of p
	to            [4]int  // above, below, left, right
	missing       [4]bool // no neighbour there
	x, r, q       []float64
	p             []float64 // with a border around it
	edge          []float64 // columns of p: two that are sent, two that are received
	requests      []mpi.Request
	part, sum     []float64
}

func newGradients(world *mpi.Comm) (*gradients, error) {
	dims := make([]int, 2)
	if err := mpi.DimsCreate(world.Size(), dims); err != nil {
		return nil, err
	}
	c, err := world.CartCreate(dims, []bool{false, false}, false)
	if err != nil {
		return nil, err
	}
	at, err := c.Cart().Coords(c.Rank())
	if err != nil {
		return nil, err
	}
	g := &gradients{world: world, comm: c, requests: make([]mpi.Request, 8), part: make([]float64, 1), sum: make([]float64, 1)}
	for d := range dims {
		g.to[2*d], g.to[2*d+1], err = c.Cart().Shift(d, 1)
		if err != nil {
			return nil, err
		}
	}
	for k, to := range g.to {
		g.missing[k] = to == mpi.ProcNull
	}
	g.rows = firstOf(cgSide, at[0]+1, dims[0]) - firstOf(cgSide, at[0], dims[0])
	g.columns = firstOf(cgSide, at[1]+1, dims[1]) - firstOf(cgSide, at[1], dims[1])
	g.width = g.columns + 2
	n := g.rows * g.columns
	g.x, g.r, g.q = written[float64](n), written[float64](n), written[float64](n)
	g.p, g.edge = written[float64]((g.rows+2)*g.width), written[float64](4*g.rows)
	return g, nil
}

func (g *gradients) close() error { return g.comm.Free() }

// exchange fills the border of p with what the neighbours have there. A message has the number of its direction.
func (g *gradients) exchange() error {
	n, m, w, q := g.rows, g.columns, g.width, g.requests
	for i := range n {
		g.edge[i] = g.p[(i+1)*w+1]
		g.edge[n+i] = g.p[(i+1)*w+m]
	}
	q[0] = mpi.Irecv(g.comm, g.p[1:1+m], g.to[0], 1)
	q[1] = mpi.Irecv(g.comm, g.p[(n+1)*w+1:][:m], g.to[1], 0)
	q[2] = mpi.Irecv(g.comm, g.edge[2*n:3*n], g.to[2], 3)
	q[3] = mpi.Irecv(g.comm, g.edge[3*n:4*n], g.to[3], 2)
	q[4] = mpi.Isend(g.comm, g.p[w+1:][:m], g.to[0], 0)
	q[5] = mpi.Isend(g.comm, g.p[n*w+1:][:m], g.to[1], 1)
	q[6] = mpi.Isend(g.comm, g.edge[:n], g.to[2], 2)
	q[7] = mpi.Isend(g.comm, g.edge[n:2*n], g.to[3], 3)
	if err := mpi.Waitall(q, nil); err != nil {
		return err
	}
	for i := range n {
		g.p[(i+1)*w] = g.edge[2*n+i]
		g.p[(i+1)*w+m+1] = g.edge[3*n+i]
	}
	return nil
}

// row returns row i of p without its border, which has m elements.
func (g *gradients) row(i, m int) []float64 { return g.p[(i+1)*g.width+1:][:m] }

// multiply makes q the product of the matrix and p, and returns the dot product of both.
func (g *gradients) multiply() (dot float64) {
	m, w := g.columns, g.width
	for i := range g.rows {
		q, p := g.q[i*m:][:m], g.row(i, m)
		above, below := g.p[i*w+1:][:m], g.p[(i+2)*w+1:][:m]
		left, right := g.p[(i+1)*w:][:m], g.p[(i+1)*w+2:][:m]
		for j := range q {
			v := cgDiagonal*p[j] - above[j] - below[j] - left[j] - right[j]
			q[j] = v
			dot += v * p[j]
		}
	}
	return dot
}

// advance moves x by a p and r by -a q, and returns the dot product of r with itself.
func (g *gradients) advance(a float64) (dot float64) {
	m := g.columns
	for i := range g.rows {
		p, q, x, r := g.row(i, m), g.q[i*m:][:m], g.x[i*m:][:m], g.r[i*m:][:m]
		for j := range p {
			x[j] += a * p[j]
			v := r[j] - a*q[j]
			r[j] = v
			dot += v * v
		}
	}
	return dot
}

// turn makes p the sum of r and b p.
func (g *gradients) turn(b float64) {
	m := g.columns
	for i := range g.rows {
		p, r := g.row(i, m), g.r[i*m:][:m]
		for j := range p {
			p[j] = r[j] + b*p[j]
		}
	}
}

// begin sets x to 0 and r to the right side: the sums of the rows of the matrix. It returns r's dot product.
func (g *gradients) begin() (dot float64) {
	clear(g.x)
	clear(g.p)
	for i := range g.rows {
		for j := range g.columns {
			v := cgDiagonal - 4
			for k, edge := range [4]bool{i == 0, i == g.rows-1, j == 0, j == g.columns-1} {
				if edge && g.missing[k] {
					v++
				}
			}
			g.r[i*g.columns+j] = v
			dot += v * v
		}
	}
	return dot
}

func (g *gradients) summed(part float64) (float64, error) {
	g.part[0] = part
	err := mpi.Allreduce(g.world, g.part, g.sum, mpi.Sum)
	return g.sum[0], err
}

func (g *gradients) run() error {
	rr, err := g.summed(g.begin())
	if err != nil {
		return err
	}
	g.turn(0)
	for range cgSteps {
		rr, err = g.step(rr)
		if err != nil {
			return err
		}
	}
	off := uint64(0)
	for _, x := range g.x {
		if !(x > 1-cgOff && x < 1+cgOff) {
			off++
		}
	}
	return expectTotal(g.world, off, 0)
}

// step is one step of the method; rr is the dot product of r with itself, before and after it.
func (g *gradients) step(rr float64) (float64, error) {
	if err := g.exchange(); err != nil {
		return 0, err
	}
	pq, err := g.summed(g.multiply())
	if err != nil {
		return 0, err
	}
	after, err := g.summed(g.advance(rr / pq))
	g.turn(after / rr)
	return after, err
}
