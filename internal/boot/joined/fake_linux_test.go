package joined

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// A fake is a job engine within a test. Its fence is no barrier: values are visible at once.
type fake struct {
	job   string
	size  int
	nodes []int

	mu     sync.Mutex
	values map[string]string
	put    chan struct{} // closed and replaced when a value is put
	aborts []string
}

func newFake(nodes ...int) *fake {
	return &fake{job: "fake-" + rand.Text(), size: len(nodes), nodes: nodes, values: map[string]string{}, put: make(chan struct{})}
}

// A fakeClient is a process's connection to it.
type fakeClient struct {
	*fake
	rank int
	job  string // "": that of the engine
	lost chan struct{}
}

func (c *fakeClient) Identity() engine.Identity {
	id := c.identity()
	id.Rank = c.rank
	if c.job != "" {
		id.Job = c.job
	}
	return id
}

// identity is that of rank 0.
func (f *fake) identity() engine.Identity {
	return engine.Identity{Job: f.job, Size: f.size, AppNum: -1, Universe: -1, Engine: "a fake"}
}

func (c *fakeClient) Nodes() ([]int, error) { return c.nodes, nil }
func (c *fakeClient) Fence() error          { return nil }
func (c *fakeClient) Finalize() error       { return nil }
func (c *fakeClient) Lost() <-chan struct{} { return c.lost }

func (c *fakeClient) Put(key, value string) error {
	if err := engine.CheckValue(value); err != nil {
		return err
	}
	c.set(key, c.rank, value)
	return nil
}

// set sets a value of any rank.
func (f *fake) set(key string, rank int, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values[fmt.Sprint(key, rank)] = value
	close(f.put)
	f.put = make(chan struct{})
}

func (c *fakeClient) Get(key string, rank int) (string, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[fmt.Sprint(key, rank)]
	return v, ok, nil
}

func (c *fakeClient) Publish(name, value string) error { return c.Put(name, value) }

func (c *fakeClient) Lookup(ctx context.Context, name string, rank int) (string, error) {
	for {
		c.mu.Lock()
		v, ok := c.values[fmt.Sprint(name, rank)]
		put := c.put
		c.mu.Unlock()
		if ok {
			return v, nil
		}
		select {
		case <-put:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func (c *fakeClient) Abort(code int, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborts = append(c.aborts, fmt.Sprint(code, " ", reason))
	return nil
}

// aborted returns the aborts so far.
func (f *fake) aborted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.aborts...)
}

// join opens the process of a rank, which ends with the test.
func (f *fake) join(t *testing.T, rank int) *Process {
	t.Helper()
	return f.joinAs(t, &fakeClient{fake: f, rank: rank})
}

func (f *fake) joinAs(t *testing.T, c *fakeClient) *Process {
	t.Helper()
	c.lost = make(chan struct{})
	p, err := open(c, settings{world: true, cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.InUse(false)
		p.exit()
		close(c.lost)
	})
	return p
}

// all opens the processes of all ranks, in their order.
func (f *fake) all(t *testing.T) (list []*Process) {
	t.Helper()
	for r := range f.size {
		list = append(list, f.join(t, r))
	}
	return list
}

// exit closes what the kernel closes when a process ends, however it does.
func (p *Process) exit() {
	p.mu.Lock()
	for p.guest == nil && p.broken == nil && !p.ended() { // it connects again, and ends after that
		p.mu.Unlock()
		p.leader()
		p.mu.Lock()
	}
	p.end() // it does not connect again
	g, s := p.guest, p.server
	p.guest, p.server = nil, nil
	for _, f := range p.kept {
		f.Close()
	}
	p.kept = nil
	p.mu.Unlock()
	if s != nil {
		s.listener.Close()
		s.mu.Lock()
		s.over = true // no process is left that could find that others have died
		for _, m := range s.members {
			m.session.Close()
		}
		s.mu.Unlock()
		s.tree.mu.Lock()
		branches := s.tree.children
		if s.tree.parent != nil {
			s.tree.parent.file.Close()
		}
		for _, b := range branches {
			b.file.Close()
		}
		s.tree.mu.Unlock()
		if s.tree.listener != nil {
			s.tree.listener.Close()
		}
		s.memory.Close()
	}
	if g != nil {
		g.Close()
	}
}

// ended reports whether end was called.
func (p *Process) ended() bool {
	select {
	case <-p.lost:
		return true
	default:
		return false
	}
}

// together calls a function for each process, all at the same time, and returns the errors by rank.
func together(list []*Process, do func(p *Process) error) []error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, p := range list {
		all.Go(func() { errs[i] = do(p) })
	}
	all.Wait()
	return errs
}
