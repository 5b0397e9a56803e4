// Package leftover lists what a program has not freed, or not waited for, when it ends: one line for
// each place in the source, up to a limit.
package leftover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// linesMax is how many places a process names at most.
const linesMax = 20

// line is what the objects of one line have in common: the arguments of Add.
type line struct{ failing, kind, call, place string }

// List is what one process has left.
type List struct{ counts map[line]int }

// Add notes one object: what was not done with it ("freed"), its kind in the singular, the call
// that has made it, empty if that is not known, and where in the source.
func (l *List) Add(failing, kind, call, place string) {
	if l.counts == nil {
		l.counts = make(map[line]int)
	}
	l.counts[line{failing, kind, call, place}]++
}

// Text returns the lines of the process with the given rank. Their order does not depend on that of Add.
func (l *List) Text(rank int) string {
	lines := make([]line, 0, len(l.counts))
	for x := range l.counts {
		lines = append(lines, x)
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(strings.Compare(a.failing, b.failing), strings.Compare(a.kind, b.kind), strings.Compare(a.place, b.place), strings.Compare(a.call, b.call))
	})
	var b strings.Builder
	more := 0
	for i, x := range lines {
		n := l.counts[x]
		if i >= linesMax {
			more += n
			continue
		}
		fmt.Fprintf(&b, "halo: rank %d: never %s: %d %s", rank, x.failing, n, x.kind)
		if n > 1 {
			b.WriteByte('s')
		}
		if x.call != "" {
			b.WriteString(" of " + x.call)
		}
		fmt.Fprintf(&b, ", made at %s\n", x.place)
	}
	if more > 0 {
		fmt.Fprintf(&b, "halo: rank %d: and %d more, made at %d other places\n", rank, more, len(lines)-linesMax)
	}
	return b.String()
}
