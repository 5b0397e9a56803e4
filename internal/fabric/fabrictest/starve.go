package fabrictest

import (
	"fmt"
	"runtime"
	"testing"
)

// testFloodStarvesNobody keeps frames of one peer waiting before every Poll. A
// peer that sends for the first time, one that has sent before, and the death of
// another must come through all the same, whatever peer is hinted at.
func testFloodStarvesNobody(t *testing.T, open opener) {
	const flooder, newcomer, known, mortal = 1, 2, 3, 4
	for _, hint := range []int{-1, flooder} {
		t.Run(fmt.Sprint("hint=", hint), func(t *testing.T) {
			j := newJob(t, open, 5, 15, smallSize)
			j.plan(flooder, 0, 1)
			j.plan(known, 0, 1)
			j.plan(mortal, 0, 1)
			j.plan(0, mortal, 1)
			j.run()
			j.mortal[mortal].Store(true)
			j.ranks[mortal].kill()
			j.plan(flooder, 0, endless)
			j.plan(0, mortal, endless) // a fabric may need to talk to the dead to know
			j.plan(newcomer, 0, 1)
			j.plan(known, 0, 1)
			to := j.ranks[0]
			j.watch(func() {
				for polls := 0; !j.failed(); polls++ {
					if polls%100 == 99 {
						runtime.Gosched() // for what works in the background
					}
					for i := 0; i < 64 && j.ranks[flooder].offer(0); i++ {
					}
					j.ranks[flooder].f.Poll(j.ranks[flooder], -1)
					for _, r := range []*rank{j.ranks[newcomer], j.ranks[known]} {
						if l := &r.lanes[0]; l.sent < l.plan {
							r.offer(0)
							r.f.Poll(r, -1)
						}
					}
					if l := &to.lanes[mortal]; !l.down {
						to.offer(mortal)
					}
					to.f.Poll(to, hint)
					came := func(from int) bool { return to.lanes[from].got == to.lanes[from].expect }
					if came(newcomer) && came(known) && to.lanes[mortal].down {
						return
					}
					if polls > 50_000 {
						j.failf("after %d Polls with frames from %d: first frame of %d: %t, frame of %d: %t, death of %d: %t",
							polls, flooder, newcomer, came(newcomer), known, came(known), mortal, to.lanes[mortal].down)
					}
				}
			})
		})
	}
}
