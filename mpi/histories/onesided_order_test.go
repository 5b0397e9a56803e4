package histories_test

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// access is the effect of one operation on one element.
type access struct {
	op       *rmaOp
	operand  string
	compare  string // of compare_and_swap
	result   string
	returned bool // result is known
}

// orderable reports whether some order of the accesses explains their results and the final
// value. Operations on an element are atomic. Those of one origin on one view are in order if
// the view or its window is ordered, or if a synchronisation was between them. The search goes
// over sets of completed accesses, with the values that are possible after each.
func (e *element) orderable(first, last string, all []access, loose bool) bool {
	before := make([]uint, len(all)) // which accesses must come before each
	for i, a := range all {
		for j, b := range all[:i] {
			sameView := b.op.origin == a.op.origin && b.op.view == a.op.view
			complete := b.op.agent == a.op.agent && b.op.doneAt > 0 && b.op.doneAt <= a.op.group
			if b.op.round < a.op.round || complete || sameView && (!loose || a.op.order) {
				before[i] |= 1 << j
			}
		}
	}
	type state struct {
		done  uint
		value string
	}
	seen := map[state]bool{}
	var search func(s state) bool
	search = func(s state) bool {
		if s.done == 1<<len(all)-1 {
			return s.value == last
		}
		if seen[s] {
			return false
		}
		seen[s] = true
		for i, a := range all {
			if s.done&(1<<i) != 0 || before[i]&^s.done != 0 || a.returned && a.result != s.value {
				continue
			}
			if search(state{s.done | 1<<i, e.after(a, s.value)}) {
				return true
			}
		}
		return false
	}
	return search(state{0, first})
}

// after is the value after an access.
func (e *element) after(a access, value string) string {
	if a.op.kind == isCompareAndSwap {
		if value == a.compare {
			return a.operand
		}
		return value
	}
	if a.op.op == mpi.NoOp {
		return value
	}
	return e.combined(a.op.op, value, a.operand)
}

func describeAccesses(all []access) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "\n  round %d #%d origin %d %v %v operand %x", a.op.round, a.op.id, a.op.origin, a.op.kind, a.op.op, a.operand)
		if a.compare != "" {
			fmt.Fprintf(&b, " compare %x", a.compare)
		}
		if a.returned {
			fmt.Fprintf(&b, " returned %x", a.result)
		}
	}
	return b.String()
}
