package check

import (
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
)

// RC-10: an origin keeps a bounded number of pending operations, however long a program continues
// without completing them. It removes them one by one, also if all are in one page of memory, and
// removed operations conflict with nothing.
func TestRC10_OriginsKeepSoMuch(t *testing.T) {
	c := newOrigin()
	all, b := make([]*Pending, pendingMax+10), make([]byte, 8)
	w := &Window{}
	for i := range all {
		p := &Pending{w: w, asked: true}
		p.hold([]mem.Mem{mem.Of(b)}, mem.Of(b)) // sends and fetches, so the page has it twice
		c.keep(p)
		all[i] = p
	}
	if n := len(c.pending); n != pendingMax {
		t.Errorf("%d are kept, want %d", n, pendingMax)
	}
	next := &Pending{w: w}
	next.hold(nil, mem.Of(b))
	for i, p := range all {
		c.remove(p)
		last := i >= pendingMax-1
		if i%1000 == 0 || last {
			if err := c.overlaps(next); (err == nil) != last {
				t.Fatalf("%d are complete: %v", i+1, err)
			}
		}
	}
	if len(c.pending) != 0 || len(c.pages) != 0 || len(c.wide.list) != 0 {
		t.Errorf("%d are left, in %d pages", len(c.pending), len(c.pages))
	}
}
