package histories_test

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// wantExtensions lists all features of the extensions: duplicates of all kinds, goroutines,
// notifications of all operations on all windows, with waits, signals, and memory handles.
func wantExtensions(want func(format string, args ...any)) {
	for _, thread := range []bool{false, true} {
		for _, ordered := range []bool{false, true} {
			for _, do := range []rmaDoing{doOp, doFlush, doFlushLocal} {
				want("do %d by %v", do, viewing{thread, ordered})
			}
		}
		for _, do := range []rmaDoing{doFlushAll, doFlushLocalAll} {
			want("do %d by thread scope %v", do, thread)
		}
	}
	for k := range isUpdate {
		want("%v notifies", k)
		if k <= isGetAccumulate {
			want("%v notifies by request", k)
		}
	}
	for f := range flavors {
		want("awaits on %v", f)
		want("signals on %v", f)
	}
	for k := range isAccumulate {
		for l := range isAccumulate {
			want("%v behind %v in order", l, k)
		}
	}
	for k := range isCompareAndSwap { // operations of one element seldom cross pieces
		want("%v across pieces", k)
	}
	wantHandles(want)
	want("goroutines")
	want("awaits by goroutines")
	want("looks")
	want("high counters")
}

// crosses reports whether an operation accesses several adjacent pieces of attached memory.
func (ph *phase) crosses(o *rmaOp) bool {
	if o.target < 0 || o.kind == isStorm || ph.handle(o.view) != nil {
		return false
	}
	lo, hi := o.there.bounds()
	return slices.ContainsFunc(ph.attach, func(a attaching) bool {
		return a.member == o.target && a.slot == o.slot && slices.ContainsFunc(a.ends, func(end int64) bool { return o.at+lo < end && end < o.at+hi })
	})
}

// countExtensions counts the features in a round.
func countExtensions(seen map[string]int, ph *phase, r *round) {
	if r.threads {
		seen["goroutines"]++
	}
	last := map[place]*rmaOp{} // puts and gets until a flush
	for _, s := range r.steps {
		view := ph.viewing(s.through())
		seen[fmt.Sprintf("do %d by %v", s.do, view)]++
		seen[fmt.Sprintf("do %d by thread scope %v", s.do, view.thread)]++
		switch s.do {
		case doAwait:
			seen[fmt.Sprintf("awaits on %v", ph.win.flavor)]++
			if r.threads {
				seen["awaits by goroutines"]++
			}
			if s.arg > mpi.NotifyMax/4 {
				seen["high counters"]++
			}
			seen["looks"] += len(s.looks)
		case doSignal:
			seen[fmt.Sprintf("signals on %v", ph.win.flavor)]++
		case doOp:
			countHandles(seen, ph, r, s.op)
			if ph.crosses(s.op) {
				seen[fmt.Sprintf("%v across pieces", s.op.kind)]++
			}
			if s.op.notify > 0 {
				seen[fmt.Sprintf("%v notifies", s.op.kind)]++
				if s.op.request {
					seen[fmt.Sprintf("%v notifies by request", s.op.kind)]++
				}
			}
			if o := s.op; o.order && o.kind < isAccumulate && o.target >= 0 {
				o.each(func(off, _ int64) bool {
					at := place{o.target, o.slot, off}
					if b := last[at]; b != nil && b.agent == o.agent && b.view == o.view {
						seen[fmt.Sprintf("%v behind %v in order", o.kind, b.kind)]++
					}
					last[at] = o
					return true
				})
			}
			continue
		}
		clear(last)
	}
}
