package replay

import (
	"bufio"
	"fmt"
	"io"

	"github.com/halo-mpi/halo/internal/coll"
)

// Goal writes the rounds of n ranks in GOAL, the language of schedules that LogGOPSim and other simulators
// read (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, 2009). work is the time in
// nanoseconds that a byte of a copy or reduction takes.
//
// The operations of a round require the calculation at the end of the round before.
func Goal(w io.Writer, n int, work float64, rounds Rounds) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "num_ranks %d\n", n)
	for me := range n {
		fmt.Fprintf(b, "\nrank %d {\n", me)
		label, before := 0, 0 // the calculation at the end of the round before
		operation := func(format string, args ...any) {
			label++
			fmt.Fprintf(b, "l%d: "+format+"\n", append([]any{label}, args...)...)
			if before > 0 {
				fmt.Fprintf(b, "l%d requires l%d\n", label, before)
			}
		}
		for number, more := 0, true; more; number++ {
			var r *coll.Round
			r, more = rounds(me, number)
			first := label + 1
			for _, t := range r.Sends {
				operation("send %db to %d tag 0", t.Bytes, t.Rank)
			}
			for _, t := range r.Receives {
				operation("recv %db from %d tag 0", t.Bytes, t.Rank)
			}
			operation("calc %d", int(float64(r.Work)*work))
			for part := first; part < label; part++ {
				fmt.Fprintf(b, "l%d requires l%d\n", label, part)
			}
			before = label
		}
		fmt.Fprintln(b, "}")
	}
	return b.Flush()
}
