package fabrictest

import (
	"fmt"
	"runtime"
	"testing"
)

// testFloodStarvesNobody keeps frames of one peer waiting before every Poll. Poll must
// nevertheless deliver the frame of a peer that sends for the first time, that of one that has
// sent before, and the failure of another, whatever the hint.
func testFloodStarvesNobody(t *testing.T, open opener) {
	const flooder, newcomer, known, killed = 1, 2, 3, 4
	for _, hint := range []int{-1, flooder} {
		t.Run(fmt.Sprint("hint=", hint), func(t *testing.T) {
			j := newJob(t, open, 5, 15, smallSize)
			j.plan(flooder, 0, 1)
			j.plan(known, 0, 1)
			j.plan(killed, 0, 1)
			j.plan(0, killed, 1)
			j.run()
			j.mayFail[killed].Store(true)
			j.ranks[killed].kill()
			j.plan(flooder, 0, endless)
			j.plan(0, killed, endless) // a fabric may detect the failure only when it sends
			j.plan(newcomer, 0, 1)
			j.plan(known, 0, 1)
			to := j.ranks[0]
			j.watch(func() {
				for polls := 0; !j.failed(); polls++ {
					if polls%100 == 99 {
						runtime.Gosched() // for background goroutines
					}
					for i := 0; i < 64 && j.ranks[flooder].send(0); i++ {
					}
					j.ranks[flooder].f.Poll(j.ranks[flooder], -1)
					for _, r := range []*rank{j.ranks[newcomer], j.ranks[known]} {
						if l := &r.traffic[0]; l.sent < l.plan {
							r.send(0)
							r.f.Poll(r, -1)
						}
					}
					if l := &to.traffic[killed]; !l.down {
						to.send(killed)
					}
					to.f.Poll(to, hint)
					came := func(from int) bool { return to.traffic[from].got == to.traffic[from].expect }
					if came(newcomer) && came(known) && to.traffic[killed].down {
						return
					}
					if polls > 50_000 {
						j.failf("after %d Polls with frames from %d: first frame of %d: %t, frame of %d: %t, death of %d: %t",
							polls, flooder, newcomer, came(newcomer), known, came(known), killed, to.traffic[killed].down)
					}
				}
			})
		})
	}
}
