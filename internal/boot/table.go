package boot

import (
	"errors"
	"fmt"
	"sync"
)

// A table collects the values of an Exchange: one table for all ranks that are goroutines,
// or one for the ranks of a host in a launcher or agent. Rounds follow each other. No process
// can be a round ahead, because a round ends only when all have entered it.
type table struct {
	mu   sync.Mutex
	n    int
	now  *round
	up   func(values [][]byte) // gets the values of a full round, which deliver ends; nil: enter ends it
	fail error                 // set once: why no round can complete any more
}

// round is one Exchange.
type round struct {
	values [][]byte
	in     []bool        // by rank: it has entered
	left   int           // number of ranks that have not entered
	last   int           // index of the rank that entered last, -1 if none has
	done   chan struct{} // closed when the round is complete or err is set
	err    error         // set before done is closed
	frame  []byte        // the Table frame of a round that deliver has ended

	decode   sync.Once // decodes frame, for all ranks
	table    [][]byte  // the values in frame; set by decode
	tableErr error     // why frame has none; set by decode
}

func newTable(n int) *table { return &table{n: n, now: newRound(n)} }

func newRound(n int) *round {
	return &round{values: make([][]byte, n), in: make([]bool, n), left: n, last: -1, done: make(chan struct{})}
}

// enter adds the value of the process with an index. The caller then waits for the end of the
// round.
func (t *table) enter(index int, value []byte, limit int) (*round, error) {
	if len(value) > limit {
		return nil, fmt.Errorf("boot: Exchange of %d bytes, the limit is %d", len(value), limit)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.now
	switch {
	case t.fail != nil:
		return nil, t.fail
	case r.in[index]:
		return nil, errors.New("boot: two calls of Exchange by one rank at once")
	}
	r.in[index] = true
	r.values[index] = append([]byte(nil), value...)
	r.left--
	if r.left == 0 {
		r.last = index
		if t.up == nil {
			t.now = newRound(t.n)
			close(r.done)
		}
	}
	return r, nil
}

// wait waits until r has ended, or until gone is closed. The process with this index has entered
// r; if it was the last one, wait passes the values on by up.
func (t *table) wait(r *round, index int, gone <-chan struct{}) error {
	t.mu.Lock()
	full := r.last == index
	t.mu.Unlock()
	if full && t.up != nil {
		t.up(r.values)
	}
	select {
	case <-r.done:
		return r.err
	case <-gone:
		return ErrOver
	}
}

// complete reports whether all have entered r, so that each process gets the values.
func (r *round) complete() bool {
	select {
	case <-r.done:
		return r.err == nil
	default:
		return false
	}
}

// deliver ends the round whose values up has got.
func (t *table) deliver(frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.now; t.fail == nil && r.left == 0 {
		r.frame = frame
		t.now = newRound(t.n)
		close(r.done)
	}
}

// stop makes the current round and all later ones fail with err.
func (t *table) stop(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail == nil {
		t.fail = err
		t.now.err = err
		close(t.now.done)
	}
}

// finalized is the error of an Exchange after rank has called Finalize.
func finalized(rank int) error {
	return fmt.Errorf("boot: no Exchange can complete: rank %d has called Finalize", rank)
}
