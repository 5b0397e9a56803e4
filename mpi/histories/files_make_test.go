package histories_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// fileMaker makes the program of a seed: it proposes steps, and keeps those that the tracker allows.
type fileMaker struct {
	*fileProgram
	r       *rand.Rand
	n       int
	t       *fileTracker
	open    []*fileHandle
	pending []*fileStep // accesses that do not block, and split ones, of the round
	waits   map[*fileStep][]int
	number  int
}

// newFileProgram makes the program of a seed.
func newFileProgram(seed uint64, places string) *fileProgram {
	g := &fileMaker{fileProgram: &fileProgram{seed: seed, places: places}, r: rand.New(rand.NewPCG(seed, uint64(len(places)))), n: len(places)}
	g.t = newFileTracker(g.n)
	rounds := 2 + g.r.IntN(5)
	for i := range rounds {
		g.round(i == rounds-1)
	}
	return g.fileProgram
}

// chance is true once in n times.
func (g *fileMaker) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *fileMaker) round(last bool) {
	r := &fileRound{sync: g.chance(4)}
	g.rounds = append(g.rounds, r)
	change := func(c *fileChange) {
		if g.t.change(c) {
			r.changes = append(r.changes, c)
		}
	}
	if len(g.open) == 0 || len(g.open) < 3 && g.chance(3) {
		h := g.handle()
		g.handles, g.open = append(g.handles, h), append(g.open, h)
		change(&fileChange{do: changeOpen, h: h})
	}
	for _, h := range g.open {
		if h.sequential() || g.chance(2) {
			views := makeFileViews(g.r, g.n, h.mode&mpi.ModeReadOnly == 0)
			if h.sequential() {
				v := views[0]
				views = slices.Repeat([]*fileView{newFileView(v.basic, g.t.handles[h].current(), v.etype, v.filetype, v.rep)}, g.n)
			}
			change(&fileChange{do: changeView, h: h, views: views})
		}
		if g.chance(3) {
			change(&fileChange{do: changeAtomic, h: h, on: g.chance(2)})
		}
		if g.chance(8) {
			change(&fileChange{do: changeSeekShared, h: h, n: int64(g.r.IntN(200))})
		}
		if g.chance(10) {
			change(&fileChange{do: changeSize + changeKind(g.r.IntN(2)), h: h, n: int64(g.r.IntN(1 + g.r.IntN(30000)))})
		}
	}
	g.t.steps()
	g.pending, g.waits = nil, map[*fileStep][]int{}
	for range 3 + g.r.IntN(12) {
		g.step(r)
	}
	for len(g.pending) > 0 {
		g.wait(r)
	}
	if !g.t.close() {
		panic("an access has not been completed")
	}
	for i := len(g.open) - 1; i >= 0; i-- {
		if last || g.chance(6) {
			c := &fileChange{do: changeClose, h: g.open[i]}
			g.t.change(c)
			r.closes = append(r.closes, c)
			g.open = append(g.open[:i:i], g.open[i+1:]...)
		}
	}
}

func (g *fileMaker) handle() *fileHandle {
	h := &fileHandle{number: len(g.handles), on: []int{onWorld, onWorld, onWorld, onHalves, onSelf}[g.r.IntN(5)]}
	h.mode = []mpi.FileMode{mpi.ModeReadWrite, mpi.ModeReadWrite, mpi.ModeReadWrite | mpi.ModeAppend, mpi.ModeReadOnly, mpi.ModeWriteOnly}[g.r.IntN(5)]
	if g.chance(4) {
		h.on, h.mode = onWorld, []mpi.FileMode{mpi.ModeReadOnly, mpi.ModeWriteOnly, mpi.ModeWriteOnly | mpi.ModeAppend}[g.r.IntN(3)]|mpi.ModeSequential
	}
	if len(g.handles) == 0 {
		h.on, h.mode = onWorld, mpi.ModeReadWrite|mpi.ModeCreate
	}
	set := func(key string, values ...string) {
		if g.chance(2) {
			h.hints = append(h.hints, key, values[g.r.IntN(len(values))])
		}
	}
	set("romio_cb_write", "enable", "enable", "disable")
	set("romio_cb_read", "enable", "enable", "disable")
	set("romio_ds_read", "disable")
	set("ind_rd_buffer_size", "100", "3000")
	set("cb_buffer_size", "1", "4096", "20000")
	set("cb_nodes", fmt.Sprint(1+g.r.IntN(g.n)))
	return h
}

func (g *fileMaker) keep(r *fileRound, s *fileStep) bool {
	if !g.t.add(s) {
		return false
	}
	r.steps = append(r.steps, s)
	return true
}

func (g *fileMaker) step(r *fileRound) {
	h := g.open[g.r.IntN(len(g.open))]
	rank := g.r.IntN(g.n)
	switch {
	case len(g.pending) > 0 && g.chance(4):
		g.wait(r)
		return
	case g.chance(12):
		g.keep(r, &fileStep{do: stepTell, h: h, rank: rank})
		return
	case g.chance(6):
		whence := []int{mpi.SeekSet, mpi.SeekCur, mpi.SeekEnd}[g.r.IntN(3)]
		n := g.r.IntN(100)
		if whence != mpi.SeekSet && g.chance(2) {
			n = -n
		}
		g.keep(r, &fileStep{do: stepSeek, h: h, rank: rank, n: int64(n), whence: whence})
		return
	}
	for range 6 { // most proposals that are refused overlap with others
		s := &fileStep{do: stepAccess, h: h, rank: rank, family: family(g.r.IntN(int(families))), write: g.chance(2)}
		if h.sequential() {
			s.family = []family{atShared, laterAtShared, allOrdered, splitOrdered}[g.r.IntN(4)]
		}
		ranks := []int{rank}
		if s.family.collective() {
			ranks = h.members(g.n, h.group(rank))
		}
		far := 1 + g.r.IntN(60)
		if g.chance(4) {
			far *= 30
		}
		together := int64(g.r.IntN(far))
		size := g.amount()
		for _, rank := range ranks {
			v := g.t.handles[h].views[rank]
			per := v.unit / v.one
			n := size
			if g.chance(3) {
				n = g.amount()
			}
			n = min((n+per-1)/per*per, 500<<10/v.unit*per)
			a := &fileAccess{number: g.number + len(s.parts), rank: rank, offset: together, basic: v.basic, memory: memoryOf(g.r, v.basic, n), seed: g.r.Uint64()}
			if g.chance(4) {
				a.offset = int64(g.r.IntN(far))
			}
			s.parts = append(s.parts, a)
		}
		if !g.keep(r, s) {
			continue
		}
		g.number += len(s.parts)
		if s.family.later() || s.family.split() {
			g.pending = append(g.pending, s)
			g.waits[s] = ranks
		}
		return
	}
}

// amount is a number of elements of an access.
func (g *fileMaker) amount() int64 {
	switch g.r.IntN(12) {
	case 0:
		return 0
	case 1, 2, 3:
		return int64(g.r.IntN(400))
	case 4:
		if g.chance(6) {
			return int64(1+g.r.IntN(100)) * 3000
		}
		return int64(g.r.IntN(3000))
	}
	return int64(1 + g.r.IntN(40))
}

// wait completes a random access, or the part of one rank in it.
func (g *fileMaker) wait(r *fileRound) {
	i := g.r.IntN(len(g.pending))
	begun := g.pending[i]
	done := true
	if begun.family.split() {
		g.keep(r, &fileStep{do: stepEnd, h: begun.h, rank: -1, begun: begun})
	} else {
		left := g.waits[begun]
		k := g.r.IntN(len(left))
		g.keep(r, &fileStep{do: stepWait, h: begun.h, rank: left[k], begun: begun})
		g.waits[begun] = append(left[:k:k], left[k+1:]...)
		done = len(left) == 1
	}
	if done {
		g.pending = append(g.pending[:i:i], g.pending[i+1:]...)
	}
}
