package boot

import (
	"errors"
	"fmt"
	"sync"
)

// A table is where the values of an Exchange meet: one for all ranks as
// goroutines, one for the ranks of a host in a launcher or agent. Rounds follow
// each other; nobody can be a round ahead, because a round ends only when all
// have entered it.
type table struct {
	mu   sync.Mutex
	n    int
	now  *round
	up   func(values [][]byte) // takes the values of a full round, which deliver then ends; nil: it ends itself
	fail error                 // set once: no round can complete any more
}

// round is one Exchange.
type round struct {
	values [][]byte
	in     []bool
	left   int           // ranks not yet in
	done   chan struct{} // closed when it is complete, or err set
	err    error         // set before done is closed
	frame  []byte        // the Table frame of a round that deliver has ended
}

func newTable(n int) *table { return &table{n: n, now: newRound(n)} }

func newRound(n int) *round {
	return &round{values: make([][]byte, n), in: make([]bool, n), left: n, done: make(chan struct{})}
}

// enter adds the value of the process with an index and waits until all are in, or gone is closed.
func (t *table) enter(index int, value []byte, gone <-chan struct{}) (*round, error) {
	if len(value) > MaxValue {
		return nil, fmt.Errorf("boot: Exchange of %d bytes, the limit is %d", len(value), MaxValue)
	}
	t.mu.Lock()
	r := t.now
	switch {
	case t.fail != nil:
		t.mu.Unlock()
		return nil, t.fail
	case r.in[index]:
		t.mu.Unlock()
		return nil, errors.New("boot: two calls of Exchange by one rank at once")
	}
	r.in[index] = true
	r.values[index] = append([]byte(nil), value...)
	full := false
	if r.left--; r.left == 0 && t.up == nil {
		t.now = newRound(t.n)
		close(r.done)
	} else if r.left == 0 {
		full = true
	}
	t.mu.Unlock()
	if full {
		t.up(r.values)
	}
	select {
	case <-r.done:
		return r, r.err
	case <-gone:
		return nil, ErrOver
	}
}

// deliver ends the round that up was told of.
func (t *table) deliver(frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.now; t.fail == nil && r.left == 0 {
		r.frame = frame
		t.now = newRound(t.n)
		close(r.done)
	}
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
