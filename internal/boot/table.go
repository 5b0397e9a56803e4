package boot

import (
	"fmt"
	"sync"
)

// A table is where the values of an Exchange meet: one for all ranks as
// goroutines, one in a launcher. Rounds follow each other; nobody can be a
// round ahead, because a round ends only when all have entered it.
type table struct {
	mu   sync.Mutex
	n    int
	now  *round
	fail error // set once: no round can complete any more
}

// round is one Exchange.
type round struct {
	values [][]byte
	in     []bool
	left   int           // ranks not yet in
	done   chan struct{} // closed when left is 0, or err set
	err    error         // set before done is closed

	once    sync.Once
	encoded []byte // the Table frame, made once for all
}

func newTable(n int) *table { return &table{n: n, now: newRound(n)} }

func newRound(n int) *round {
	return &round{values: make([][]byte, n), in: make([]bool, n), left: n, done: make(chan struct{})}
}

// enter adds the value of rank and waits until all are in, or gone is closed.
func (t *table) enter(rank int, value []byte, gone <-chan struct{}) (*round, error) {
	if len(value) > MaxValue {
		return nil, fmt.Errorf("boot: Exchange of %d bytes by rank %d, the limit is %d", len(value), rank, MaxValue)
	}
	t.mu.Lock()
	r := t.now
	switch {
	case t.fail != nil:
		t.mu.Unlock()
		return nil, t.fail
	case r.in[rank]:
		t.mu.Unlock()
		return nil, fmt.Errorf("boot: two calls of Exchange by rank %d at once", rank)
	}
	r.in[rank] = true
	r.values[rank] = append([]byte(nil), value...)
	if r.left--; r.left == 0 {
		t.now = newRound(t.n)
		close(r.done)
	}
	t.mu.Unlock()
	select {
	case <-r.done:
		return r, r.err
	case <-gone:
		return nil, ErrOver
	}
}

// frame is the Table frame of a finished round.
func (r *round) frame() []byte {
	r.once.Do(func() { r.encoded = encodeTable(r.values) })
	return r.encoded
}

// stop makes the round under way and all later ones fail with err.
func (t *table) stop(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail == nil {
		t.fail = err
		t.now.err = err
		close(t.now.done)
	}
}

// finalized is why no Exchange can complete any more.
func finalized(rank int) error {
	return fmt.Errorf("boot: no Exchange can complete: rank %d has called Finalize", rank)
}
