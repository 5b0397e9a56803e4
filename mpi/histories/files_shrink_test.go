package histories_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// shrinkRuns is the maximum number of runs to shrink a failure: each leaves mappings, of which a process can
// have 65,530.
const shrinkRuns = 400

// shrinkFiles searches for a program with fewer steps that fails. A program that fails only sometimes is
// tried twice.
func shrinkFiles(fabric string, p *fileProgram, err error, run func(fabric string, p *fileProgram) error) (*fileProgram, error) {
	end, runs := time.Now().Add(shrinkTime), 0
	return dtypetest.Shrink(p, err, (*fileProgram).smaller, func(p *fileProgram) error {
		for range 2 {
			runs++
			if runs > shrinkRuns || time.Now().After(end) {
				return nil
			}
			if err := run(fabric, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// errNotAllowed says that a program is none.
var errNotAllowed = errors.New("the tracker does not allow the program")

// runAlone runs the program in a separate world. each is called by each rank first.
func (p *fileProgram) runAlone(fabric string, each func(world *mpi.Comm)) error {
	dir, err := os.MkdirTemp("", "halo-files")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, ok := p.execution(filepath.Join(dir, "file"))
	if !ok {
		return errNotAllowed
	}
	err = mpitest.RunOver(fabric, len(p.places), func(world *mpi.Comm) error {
		each(world)
		return x.run(world)
	})
	if err != nil {
		return err
	}
	return x.check()
}

// smaller are allowed programs with fewer rounds, steps, changes, or simpler accesses.
func (p *fileProgram) smaller() (out []*fileProgram) {
	add := func(rounds []*fileRound) {
		c := &fileProgram{seed: p.seed, places: p.places, handles: p.handles, rounds: rounds}
		c.closeAll()
		if _, ok := c.follow(); ok && len(rounds) > 0 {
			out = append(out, c)
		}
	}
	with := func(i int, changed fileRound) {
		rounds := slices.Clone(p.rounds)
		rounds[i] = &changed
		add(rounds)
	}
	if n := len(p.rounds); n > 1 {
		add(slices.Clone(p.rounds[:n-1]))
	}
	for _, h := range p.handles {
		var rounds []*fileRound
		for _, r := range p.rounds {
			rounds = append(rounds, &fileRound{
				changes: slices.DeleteFunc(slices.Clone(r.changes), func(c *fileChange) bool { return c.h == h }),
				steps:   slices.DeleteFunc(slices.Clone(r.steps), func(s *fileStep) bool { return s.h == h }),
				closes:  slices.DeleteFunc(slices.Clone(r.closes), func(c *fileChange) bool { return c.h == h }),
				sync:    r.sync,
			})
		}
		add(rounds)
	}
	for i, r := range p.rounds {
		if i > 0 || len(p.rounds) > 1 {
			add(slices.Delete(slices.Clone(p.rounds), i, i+1))
		}
		for k := range r.changes {
			c := *r
			c.changes = slices.Delete(slices.Clone(r.changes), k, k+1)
			with(i, c)
		}
		for k, s := range r.steps {
			if s.do == stepWait || s.do == stepEnd {
				continue
			}
			c := *r
			c.steps = slices.DeleteFunc(slices.Clone(r.steps), func(e *fileStep) bool { return e == s || e.begun == s })
			with(i, c)
			for _, small := range s.smaller() {
				c := *r
				c.steps = slices.Clone(r.steps)
				c.steps[k] = small
				for j, e := range c.steps {
					if e.begun == s {
						w := *e
						w.begun = small
						c.steps[j] = &w
					}
				}
				with(i, c)
			}
		}
	}
	return out
}

// smaller are accesses of which one part is simpler.
func (s *fileStep) smaller() (out []*fileStep) {
	for i, a := range s.parts {
		with := func(h half) {
			c, part := *s, *a
			part.memory = h
			c.parts = slices.Clone(s.parts)
			c.parts[i] = &part
			out = append(out, &c)
		}
		named := dtypetest.Named(a.basic)
		plain := half{spec: named, count: a.elements(), m: named.Typemap(types, 1)}
		if a.memory.spec.String() != named.String() {
			with(plain)
		}
		for _, n := range []int64{0, plain.count / 2, plain.count - 1} {
			if n >= 0 && n < plain.count {
				h := plain
				h.count = n
				with(h)
			}
		}
	}
	return out
}

// closeAll closes at the end what is left open.
func (p *fileProgram) closeAll() {
	var open []*fileHandle
	for _, r := range p.rounds {
		for _, c := range slices.Concat(r.changes, r.closes) {
			switch c.do {
			case changeOpen:
				open = append(open, c.h)
			case changeClose:
				open = slices.DeleteFunc(open, func(h *fileHandle) bool { return h == c.h })
			}
		}
	}
	if n := len(p.rounds); n > 0 && len(open) > 0 {
		last := *p.rounds[n-1]
		last.closes = slices.Clone(last.closes)
		for _, h := range open {
			last.closes = append(last.closes, &fileChange{do: changeClose, h: h})
		}
		p.rounds[n-1] = &last
	}
}
