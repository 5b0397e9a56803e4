package histories_test

import (
	"fmt"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// execution is the records of the ranks from one run of a program. Each rank records what it has
// seen itself; the oracle reads the records when all ranks have ended.
type execution struct {
	*oneSided
	ops  []*issued             // by id
	ends map[*phase][][][]byte // memory of each member and slot at the end of a phase
	seen map[*rmaStep][][]byte // of doAwait: the data that was put
	over sync.WaitGroup        // done when all ranks have ended; it also tells the race detector
}

func (p *oneSided) execution() *execution {
	x := &execution{oneSided: p, ends: map[*phase][][][]byte{}, seen: map[*rmaStep][][]byte{}}
	x.over.Add(len(p.places))
	for _, o := range p.ops() {
		for len(x.ops) <= o.id {
			x.ops = append(x.ops, nil)
		}
		x.ops[o.id] = &issued{rmaOp: o}
	}
	for _, t := range p.tracks {
		for _, ph := range t.phases {
			ends := make([][][]byte, len(ph.win.slots))
			for k, slots := range ph.win.slots {
				ends[k] = make([][]byte, len(slots))
			}
			x.ends[ph] = ends
			for _, r := range ph.rounds {
				for _, s := range r.steps {
					if s.do == doAwait {
						x.seen[s] = make([][]byte, len(s.looks))
					}
				}
			}
		}
	}
	return x
}

// run does one rank's part.
func (x *execution) run(world *mpi.Comm) error {
	defer x.over.Done()
	var tracks []*trackRun
	for i, t := range x.tracks {
		tr := &trackRun{x: x, track: t, number: i, live: map[*window]*live{}}
		for _, w := range t.windows {
			key := slices.Index(w.members, world.Rank())
			color := 0
			if key < 0 {
				color = mpi.Undefined
			}
			c, err := world.Split(color, key)
			if err != nil {
				return err
			}
			if c != nil {
				tr.live[w] = &live{window: w, comm: c, me: key}
			}
		}
		tracks = append(tracks, tr)
	}
	ended := make(chan error, len(tracks))
	for _, tr := range tracks {
		go func() {
			err := tr.run()
			if err != nil {
				err = fmt.Errorf("rank %d, track %d: %w", world.Rank(), tr.number, err)
			}
			ended <- err
		}()
	}
	for range tracks {
		if err := <-ended; err != nil {
			return err
		}
	}
	return world.Barrier()
}

// trackRun is the state of a rank that runs a track.
type trackRun struct {
	x *execution
	*track
	number int
	live   map[*window]*live
}

func (t *trackRun) run() error {
	for _, w := range t.windows {
		if l := t.live[w]; l != nil {
			if err := l.open(); err != nil {
				return fmt.Errorf("%v window of %v: %w", w.flavor, w.members, err)
			}
		}
	}
	for i, ph := range t.phases {
		l := t.live[ph.win]
		if l == nil {
			continue
		}
		pr := &phaseRun{live: l, phase: ph, x: t.x}
		if err := pr.run(); err != nil {
			return fmt.Errorf("phase %d, by %v on a %v window of %v, member %d: %w", i, ph.kind, ph.win.flavor, ph.win.members, l.me, err)
		}
	}
	for _, w := range t.windows {
		if l := t.live[w]; l != nil {
			if err := l.close(); err != nil {
				return fmt.Errorf("end of a %v window: %w", w.flavor, err)
			}
		}
	}
	return nil
}
