package histories_test

import (
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// shrinkTime is the maximum time to shrink a failure.
const shrinkTime = 60 * time.Second

// shrinkOneSided searches for a program with fewer steps that fails. A program that fails only
// sometimes is tried several times.
func shrinkOneSided(fabric string, p *oneSided, err error) (*oneSided, error) {
	end := time.Now().Add(shrinkTime)
	return dtypetest.Shrink(p, err, (*oneSided).smaller, func(p *oneSided) error {
		for range 4 {
			if time.Now().After(end) {
				return nil
			}
			if err := p.runAlone(fabric); err != nil {
				return err
			}
		}
		return nil
	})
}

// runAlone runs the program in a separate world.
func (p *oneSided) runAlone(fabric string) error {
	x := p.execution()
	err := mpitest.RunOver(fabric, len(p.places), x.run)
	if err == nil {
		err = x.check()
	}
	return err
}

// smaller are programs with fewer tracks, phases, rounds, or operations. Synchronisations
// remain, so that no new conflict arises.
func (p *oneSided) smaller() (out []*oneSided) {
	with := func(t int, changed *track) {
		c := *p
		c.tracks = slices.Clone(p.tracks)
		c.tracks[t] = changed
		out = append(out, &c)
	}
	for i := range p.tracks {
		if len(p.tracks) > 1 {
			c := *p
			c.tracks = slices.Delete(slices.Clone(p.tracks), i, i+1)
			out = append(out, &c)
		}
	}
	for i, t := range p.tracks {
		for k := range t.windows {
			if !slices.ContainsFunc(t.phases, func(ph *phase) bool { return ph.win == t.windows[k] }) {
				c := *t
				c.windows = slices.Delete(slices.Clone(t.windows), k, k+1)
				with(i, &c)
			}
		}
		for k, ph := range t.phases {
			if !slices.ContainsFunc(t.phases[k+1:], func(later *phase) bool { return later.win == ph.win }) || len(ph.attach) == 0 {
				c := *t
				c.phases = slices.Delete(slices.Clone(t.phases), k, k+1)
				with(i, &c)
			}
			for _, small := range ph.smaller() {
				c := *t
				c.phases = slices.Clone(t.phases)
				c.phases[k] = small
				with(i, &c)
			}
		}
	}
	return out
}

func (ph *phase) smaller() (out []*phase) {
	with := func(change func(*phase)) {
		c := *ph
		change(&c)
		out = append(out, &c)
	}
	if len(ph.stores) > 0 {
		with(func(c *phase) { c.stores = nil })
	}
	if ph.assert {
		with(func(c *phase) { c.assert = false })
	}
	for i, r := range ph.rounds {
		if len(ph.rounds) > 1 {
			with(func(c *phase) { c.rounds = slices.Delete(slices.Clone(ph.rounds), i, i+1) })
		}
		for _, small := range r.smaller() {
			with(func(c *phase) {
				c.rounds = slices.Clone(ph.rounds)
				c.rounds[i] = small
			})
		}
	}
	return out
}

func (r *round) smaller() (out []*round) {
	var ops []int
	for i, s := range r.steps {
		if s.do == doOp {
			ops = append(ops, i)
		}
	}
	without := func(gone []int) {
		c := *r
		c.steps = nil
		for i, s := range r.steps {
			if !slices.Contains(gone, i) {
				c.steps = append(c.steps, s)
			}
		}
		out = append(out, &c)
	}
	if n := len(ops); n > 3 {
		without(ops[:n/2])
		without(ops[n/2:])
	}
	for i := range ops {
		without(ops[i : i+1])
	}
	if len(r.stores) > 0 {
		c := *r
		c.stores = nil
		out = append(out, &c)
	}
	return out
}
