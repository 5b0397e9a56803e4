package match

import (
	"math/rand/v2"
	"testing"
)

// mix holds the parameters of a random history.
type mix struct {
	name             string
	ctxs             int
	srcs, tags       int32
	internalTags     bool    // also uses tags below zero
	wildSrc, wildTag float64 // share of receives and probes with a wildcard
	cancels, purges  float64 // share of steps
	depth            int     // the queues grow to this depth and shrink again, repeatedly
	steps            int
	checkEvery       int
}

func (m mix) envelope(r *rand.Rand) Key {
	// Contexts may agree in one half, and must still be distinguished.
	c := uint64(r.IntN(m.ctxs))
	k := Key{Ctx: c<<32 | c*c&3, Src: r.Int32N(m.srcs), Tag: r.Int32N(m.tags)}
	if m.internalTags && k.Tag&1 == 1 {
		k.Tag = -k.Tag
	}
	return k
}

// wild makes a pattern from an envelope: it replaces source and tag by wildcards at random.
func (m mix) wild(r *rand.Rand, k Key) Key {
	if r.Float64() < m.wildSrc {
		k.Src = AnySource
	}
	if r.Float64() < m.wildTag {
		k.Tag = AnyTag
	}
	return k
}

// certain makes a step that matches a queued entry.
func (m mix) certain(r *rand.Rand, h *history) {
	if n := len(h.oracle.unexp); n > len(h.oracle.posted) {
		h.post(m.wild(r, h.oracle.unexp[r.IntN(n)].node.Key))
	} else if n := len(h.oracle.posted); n > 0 {
		k := h.oracle.posted[r.IntN(n)].node.Key
		env := m.envelope(r)
		if k.Src != AnySource {
			env.Src = k.Src
		}
		if k.Tag != AnyTag {
			env.Tag = k.Tag
		}
		env.Ctx = k.Ctx
		h.arrive(env)
	}
}

func (m mix) run(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	h := newHistory(t, r.Uint64())
	steps := m.steps
	if testing.Short() {
		steps /= 10
	}
	goal := 0    // posted receives minus unexpected messages, towards which the history goes
	ebb := false // the queues shrink until both are nearly empty
	var deepest, switches [2]int
	var active [2]uint8
	for i := range steps {
		posted, unexp := len(h.oracle.posted), len(h.oracle.unexp)
		if d := posted - unexp - goal; d >= -1 && d <= 1 {
			goal = r.IntN(2*m.depth+1) - m.depth
			if r.IntN(2) == 0 {
				goal = r.IntN(4*scanMax) - 2*scanMax
			}
			ebb = r.IntN(4) == 0
		}
		ebb = ebb && posted+unexp > 2
		switch x := r.Float64(); {
		case x < m.purges:
			h.purge(m.envelope(r).Ctx)
		case x < m.purges+m.cancels && posted > 0:
			h.cancel(r.IntN(posted))
		case x < m.purges+2*m.cancels && unexp > 0:
			h.remove(r.IntN(unexp))
		case x < m.purges+2*m.cancels+0.05:
			h.probe(m.wild(r, m.envelope(r)))
		case x < m.purges+2*m.cancels+0.07:
			h.mprobe(m.wild(r, m.envelope(r)))
		case ebb || min(posted, unexp) > r.IntN(m.depth+1): // or both are filling up
			m.certain(r, h)
		case (posted-unexp < goal) == (r.IntN(8) > 0):
			h.post(m.wild(r, m.envelope(r)))
		default:
			h.arrive(m.envelope(r))
		}
		h.gone()
		if i%m.checkEvery == 0 {
			h.check()
		}
		deepest[0], deepest[1] = max(deepest[0], len(h.oracle.posted)), max(deepest[1], len(h.oracle.unexp))
		for q, now := range [2]uint8{h.table.posted.active, h.table.unexp.active} {
			if now&1 != active[q]&1 {
				switches[q]++
			}
			active[q] = now
		}
	}
	h.check()
	t.Logf("deepest %v, beginnings and ends of an index %v", deepest, switches)
	one := m.ctxs == 1 && m.srcs == 1 && m.tags == 1 // then the oldest entry always matches
	if min(deepest[0], deepest[1]) < m.depth/2 || !one && min(switches[0], switches[1]) < 2 {
		t.Errorf("posted and unexpected queues got %v deep, want %d, and began or ended an index %v times", deepest, m.depth, switches)
	}
}

// MPI-5, 3.5: messages between two processes match in order, and so do receives with
// wildcards, at any depth.
func TestOrderAgainstLists(t *testing.T) {
	for _, m := range []mix{
		{name: "around the threshold", ctxs: 2, srcs: 3, tags: 3, wildSrc: 0.2, wildTag: 0.2, cancels: 0.05, purges: 0.002, depth: 16, steps: 2_000_000, checkEvery: 101},
		{name: "exact only", ctxs: 3, srcs: 8, tags: 16, cancels: 0.02, purges: 0.0005, depth: 100, steps: 500_000, checkEvery: 97},
		{name: "any source", ctxs: 2, srcs: 20, tags: 4, wildSrc: 0.7, cancels: 0.03, depth: 60, steps: 500_000, checkEvery: 97},
		{name: "any tag", ctxs: 2, srcs: 4, tags: 20, wildTag: 0.7, cancels: 0.03, depth: 60, steps: 500_000, checkEvery: 97},
		{name: "mostly both", ctxs: 40, srcs: 4, tags: 4, wildSrc: 0.9, wildTag: 0.9, cancels: 0.03, depth: 80, steps: 500_000, checkEvery: 97},
		{name: "many contexts", ctxs: 300, srcs: 2, tags: 2, wildSrc: 0.3, wildTag: 0.3, cancels: 0.01, purges: 0.01, depth: 600, steps: 300_000, checkEvery: 499},
		{name: "deep", ctxs: 4, srcs: 30, tags: 50, wildSrc: 0.01, wildTag: 0.01, cancels: 0.01, depth: 3000, steps: 200_000, checkEvery: 2003},
		{name: "one key", ctxs: 1, srcs: 1, tags: 1, wildSrc: 0.3, wildTag: 0.3, cancels: 0.1, depth: 50, steps: 300_000, checkEvery: 97},
		{name: "internal tags", ctxs: 2, srcs: 3, tags: 30, wildSrc: 0.3, wildTag: 0.3, cancels: 0.03, depth: 40, steps: 300_000, checkEvery: 97, internalTags: true},
	} {
		t.Run(m.name, func(t *testing.T) { m.run(t, 8) })
	}
}

// FuzzHistory runs a history of table and oracle from bytes, two per step.
func FuzzHistory(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 60, 400} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(uint64(n), b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, b []byte) {
		h := newHistory(t, seed)
		// Every step is checked in full, so the cost of long inputs would be quadratic.
		for b = b[:min(len(b), 2000)]; len(b) >= 2; b = b[2:] {
			op, arg := b[0], b[1]
			k := Key{Ctx: uint64(arg & 1), Src: int32(arg >> 1 & 3), Tag: int32(arg >> 3 & 7)}
			p := k
			if arg&0x40 != 0 {
				p.Src = AnySource
			}
			if arg&0x80 != 0 {
				p.Tag = AnyTag
			}
			switch op % 16 {
			default:
				h.arrive(k)
			case 5, 6, 7, 8, 9, 10:
				h.post(p)
			case 11:
				h.probe(p)
			case 12:
				h.mprobe(p)
			case 13:
				if n := len(h.oracle.posted); n > 0 {
					h.cancel(int(arg) % n)
				}
			case 14:
				if n := len(h.oracle.unexp); n > 0 {
					h.remove(int(arg) % n)
				}
			case 15:
				if arg >= 0xf0 {
					h.purge(k.Ctx)
				}
			}
			h.gone()
			h.check()
		}
	})
}
