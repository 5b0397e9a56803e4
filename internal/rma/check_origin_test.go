package rma

import (
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
)

// RC-10: an origin keeps so many operations that are under way, and not more, however long a
// program goes on without completing them; it loses them one by one, also from one page of
// memory, and what is over conflicts with nothing.
func TestRC10_OriginsKeepSoMuch(t *testing.T) {
	c := newCheckOrigin()
	all, b := make([]*Pending, pendingMax+10), make([]byte, 8)
	for i := range all {
		p := &Pending{asked: true}
		p.hold(&Op{Kind: Put, Origin: mem.Of(b)})
		p.hold(&Op{Kind: Get, Result: mem.Of(b)}) // both: it is in the page twice
		c.keep(p)
		all[i] = p
	}
	if n := len(c.pending); n != pendingMax {
		t.Errorf("%d are kept, want %d", n, pendingMax)
	}
	next := &Pending{t: &target{w: &Window{e: &Engine{}}}}
	next.hold(&Op{Kind: Get, Result: mem.Of(b)})
	for i, p := range all {
		c.lose(p)
		last := i >= pendingMax-1
		if i%1000 == 0 || last {
			for _, o := range all {
				o.t = next.t
			}
			if err := c.clash(next); (err == nil) != last {
				t.Fatalf("%d are over: %v", i+1, err)
			}
		}
	}
	if len(c.pending) != 0 || len(c.pages) != 0 || len(c.wide.list) != 0 {
		t.Errorf("%d are left, in %d pages", len(c.pending), len(c.pages))
	}
}
