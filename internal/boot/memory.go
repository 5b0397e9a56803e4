package boot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
)

// Memory returns the Boots of a job of n processes that are goroutines of this OS process.
func Memory(n int) []Boot { return MemoryWith(n, nil) }

// MemoryWith is Memory with a function that the first Abort calls; nil for none.
func MemoryWith(n int, aborted func(rank, code int, reason string)) []Boot {
	host, err := os.Hostname()
	if err != nil || host == "" || len(host) > MaxName {
		host = "localhost"
	}
	w := &memoryWorld{table: newTable(n), lost: make(chan struct{}), aborted: aborted}
	rand.Read(w.secret[:])
	w.id = "memory-" + rand.Text()
	all := make([]Boot, n)
	for i := range all {
		local := make([]int, n)
		for k := range local {
			local[k] = k
		}
		all[i] = &memory{world: w, job: Job{ID: w.id, Rank: i, Size: n, Hosts: []string{host}, Host: make([]int32, n), Local: local,
			Fabric: "inproc", Listen: Loopback, Cores: runtime.NumCPU(), Secret: w.secret}}
	}
	return all
}

// memoryWorld is the state that the goroutine ranks of one job share.
type memoryWorld struct {
	id      string
	secret  [32]byte
	table   *table
	once    sync.Once
	board   board
	lost    chan struct{}
	aborted func(rank, code int, reason string)
}

// memory is one goroutine rank.
type memory struct {
	world *memoryWorld
	job   Job
	mu    sync.Mutex // held during Exchange
}

func (m *memory) Job() *Job             { return &m.job }
func (m *memory) Lost() <-chan struct{} { return m.world.lost }

func (m *memory) Exchange(mine []byte) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.world.table.enter(m.job.Rank, mine, MaxValue)
	if err == nil {
		err = m.world.table.wait(r, m.job.Rank, nil)
	}
	if err != nil {
		return nil, err
	}
	values := make([][]byte, len(r.values))
	for i, v := range r.values {
		values[i] = append([]byte(nil), v...)
	}
	return values, nil
}

// Init implements Boot. The ranks of a table are not watched.
func (m *memory) Init() error { return nil }

// InUse implements Boot, like Init.
func (m *memory) InUse(bool) error { return nil }

// Publish implements Boot.
func (m *memory) Publish(mine []byte) error {
	if len(mine) > MaxValue {
		return fmt.Errorf("boot: %d bytes to publish, the limit is %d", len(mine), MaxValue)
	}
	m.world.board.put(m.job.Rank, mine, nil)
	return nil
}

// Lookup implements Boot.
func (m *memory) Lookup(ctx context.Context, rank int) ([]byte, error) {
	e, _ := m.world.board.entry(rank)
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.world.lost:
		return nil, ErrOver
	}
}

func (m *memory) Segment(int) (*os.File, error) {
	return nil, fmt.Errorf("boot: segment of ranks that are goroutines: %w", errors.ErrUnsupported)
}

func (m *memory) Ring(int) error {
	return fmt.Errorf("boot: bell of ranks that are goroutines: %w", errors.ErrUnsupported)
}

// Spawn implements Boot.
func (m *memory) Spawn(context.Context, *Spawn) (*Spawned, error) {
	return nil, fmt.Errorf("boot: a job beside ranks that are goroutines: %w", errors.ErrUnsupported)
}

func (m *memory) Finalize() error {
	m.world.table.stop(finalized(m.job.Rank))
	return nil
}

func (m *memory) Abort(code int, reason string) {
	m.world.once.Do(func() {
		m.world.table.stop(ErrOver)
		if m.world.aborted != nil {
			m.world.aborted(m.job.Rank, code, reason)
		}
		close(m.world.lost)
	})
}
