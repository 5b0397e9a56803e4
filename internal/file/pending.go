package file

import (
	"sync"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
)

// pending counts the accesses that workers make, so that the file is closed behind the last one: a system call on
// a descriptor that has been closed may access another file. The program may not close a file with such accesses, but
// no other file pays for it.
type pending struct {
	mu   sync.Mutex
	none sync.Cond // its L is mu
	n    int
	over bool // no other one begins
}

// begin counts an access, unless the file is being closed.
func (p *pending) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return class.Errorf(class.File, "file is closed")
	}
	p.n++
	return nil
}

func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n--
	if p.n == 0 {
		p.none.Broadcast()
	}
}

// wait returns when no access is left, and lets no other one begin.
func (p *pending) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for p.n > 0 && !planted.ClosedEarly {
		p.none.Wait()
	}
}
