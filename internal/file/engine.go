package file

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma"
)

// Engine is what the files of a process share.
type Engine struct {
	p     *proc.Proc
	p2p   *p2p.Engine
	colls *coll.Engine
	rma   *rma.Engine

	workers workers
	buffers buffers
	open    atomic.Int64 // files; when the last one is closed, the buffers are dropped
	clock   func() time.Duration
	wrap    func(Store) Store
}

// New makes the engine of a process. It costs nothing until a file is opened.
func New(p *proc.Proc, messages *p2p.Engine, colls *coll.Engine, windows *rma.Engine) *Engine {
	start := time.Now()
	return &Engine{p: p, p2p: messages, colls: colls, rma: windows, clock: func() time.Duration { return time.Since(start) }}
}

// workersMax is how many accesses of a process that do not block are under way at a time: enough to
// keep a disk busy, few enough not to fill the machine with threads that wait for it.
const workersMax = 8

// workers carries out accesses that do not block. A worker is a goroutine that ends when nothing is
// left to do: a process without such accesses has none.
type workers struct {
	mu      sync.Mutex
	queue   []func()
	running int
}

// do has a worker call f.
func (w *workers) do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, f)
	if w.running < workersMax {
		w.running++
		go w.work()
	}
}

func (w *workers) work() {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 {
			w.queue = nil
			w.running--
			w.mu.Unlock()
			return
		}
		f := w.queue[0]
		w.queue[0] = nil
		w.queue = w.queue[1:]
		w.mu.Unlock()
		f()
	}
}

// closed is called when a file has been closed.
func (e *Engine) closed() {
	if e.open.Add(-1) == 0 {
		e.buffers.mu.Lock()
		e.buffers.free = nil
		e.buffers.mu.Unlock()
	}
}

// buffers keeps a few buffers for the next access.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
}

// buffersKept is the number of buffers that are kept, and bufferMax the length of the longest one.
const (
	buffersKept = 4
	bufferMax   = 8 << 20
)

// get returns a buffer of n bytes. Their contents are undefined.
func (b *buffers) get(n int) []byte {
	b.mu.Lock()
	for i := len(b.free) - 1; i >= 0; i-- {
		if buf := b.free[i]; cap(buf) >= n {
			last := len(b.free) - 1
			b.free[i], b.free[last] = b.free[last], nil
			b.free = b.free[:last]
			b.mu.Unlock()
			return buf[:n]
		}
	}
	b.mu.Unlock()
	return make([]byte, n)
}

// put takes a buffer back.
func (b *buffers) put(buf []byte) {
	if cap(buf) > bufferMax {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < buffersKept {
		b.free = append(b.free, buf)
	}
}
