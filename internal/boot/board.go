package boot

import "sync"

// A board has what processes have published, by rank. The zero board is empty.
type board struct {
	mu      sync.Mutex
	entries map[int]*published
}

// published is the value of a process, or why there will be none.
type published struct {
	done  chan struct{} // closed when value or err is set
	value []byte
	err   error
}

// entry returns the entry of a process; first tells who has made it.
func (b *board) entry(rank int) (e *published, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e = b.entries[rank]
	if e != nil {
		return e, false
	}
	if b.entries == nil {
		b.entries = map[int]*published{}
	}
	e = &published{done: make(chan struct{})}
	b.entries[rank] = e
	return e, true
}

// put sets the value of a process, or why there is none. Only the first call counts.
func (b *board) put(rank int, value []byte, err error) {
	e, _ := b.entry(rank)
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-e.done:
	default:
		e.value, e.err = append([]byte(nil), value...), err
		close(e.done)
	}
}
