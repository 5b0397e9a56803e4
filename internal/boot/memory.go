package boot

import (
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
	r, err := m.world.table.enter(m.job.Rank, mine)
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

func (m *memory) Segment(int) (*os.File, error) {
	return nil, fmt.Errorf("boot: segment of ranks that are goroutines: %w", errors.ErrUnsupported)
}

func (m *memory) Ring(int) error {
	return fmt.Errorf("boot: bell of ranks that are goroutines: %w", errors.ErrUnsupported)
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
