package coll_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/world"
)

// collectivesProgram is the program of ranks that a launcher has started: every collective on
// communicators of each number of members, by every algorithm and form on some of them, with every
// root, compared with a serial computation. Each algorithm on each number of members is the matter of
// TestCollectivesEqualSerial and TestCollectivesOverHosts. Rank 0 prints the number of collectives in
// which it has taken part.
func collectivesProgram() error {
	b, err := boot.Connect(false, true)
	if err != nil {
		return err
	}
	w, err := world.Open(b, world.Callers{})
	if err == nil {
		err = w.Join()
	}
	if err != nil {
		return err
	}
	n, me, done := w.Comm.Size(), w.Comm.Rank, 0
	var comms []*comm.Comm
	for k := 1; k <= n; k++ {
		for _, member := range []bool{me < k, me >= n-k} { // the first k ranks, and the last k
			color := coll.Undefined
			if member {
				color = 0
			}
			c, err := w.Coll.Split(w.Comm, color, 0)
			if err != nil {
				return err
			}
			comms = append(comms, c)
		}
	}
	for j, f := range forms() {
		w.Coll.Choose(f.c)
		steps, part := 1, 6 // of the communicators
		switch {
		case f.name == "auto":
			steps, part = 8, 1
		case len(f.kinds) > 1:
			steps = 8
		case strings.HasSuffix(f.name, "leaders"):
			steps, part = 2, 2
		}
		for i, c := range comms {
			if c == nil || (i+j)%part != 0 {
				continue
			}
			if err := everything(w, c, uint64(i+100*j), steps, f.kinds...); err != nil {
				return fmt.Errorf("%s on %d members: %w", f.name, c.Size(), err)
			}
			done += steps
		}
	}
	w.Coll.Choose(auto())
	for root := range n {
		for _, k := range []coll.Kind{coll.Bcast, coll.Reduce, coll.Gather, coll.Gatherv, coll.Scatter, coll.Scatterv} {
			g := rand.New(rand.NewPCG(uint64(root), uint64(k)))
			t := newTask(w.Comm, k, g, 50)
			for t.root != root {
				t = newTask(w.Comm, k, g, 50)
			}
			for form := range 3 {
				if err := t.do(w, uint64(root), form); err != nil {
					return err
				}
				done++
			}
		}
	}
	if me == 0 {
		fmt.Println("collectives:", done)
	}
	return w.Close()
}
