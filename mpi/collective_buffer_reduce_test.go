package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A rule is the map x -> factor*x + summand with a name. The combination of rules is
// associative, does not commute, and keeps the name of the left one. A rule has gaps in Go's
// memory.
type rule struct {
	name    uint8
	factor  uint32
	summand uint16
}

func (f rule) after(g rule) rule {
	return rule{f.name, f.factor * g.factor, uint16(f.factor)*g.summand + f.summand}
}

func composeRules(in, inout []rule) {
	for i := range inout {
		inout[i] = in[i].after(inout[i])
	}
}

// composeAnywhere is composeRules for any type that consists of the parts of a rule. places has
// their displacements in an element, and the distance of elements.
func composeAnywhere(places map[mpi.Datatype][4]int) mpi.Op {
	return mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		at, ok := places[inout.Datatype()]
		if !ok || in.Datatype() != inout.Datatype() || in.Len() != inout.Len() {
			panic(fmt.Sprintf("%d elements of %v and %d of %v", in.Len(), in.Datatype(), inout.Len(), inout.Datatype()))
		}
		a, origin := mpi.MemoryOf[byte](in)
		b, _ := mpi.MemoryOf[byte](inout)
		for i := range inout.Len() {
			where := [3]int{origin + i*at[3] + at[0], origin + i*at[3] + at[1], origin + i*at[3] + at[2]}
			writeRule(b, where, readRule(a, where).after(readRule(b, where)))
		}
	}, false)
}

func readRule(b []byte, at [3]int) (r rule) {
	r.name = b[at[0]]
	for i := range 4 {
		r.factor |= uint32(b[at[1]+i]) << (8 * i)
	}
	return rule{r.name, r.factor, uint16(b[at[2]]) | uint16(b[at[2]+1])<<8}
}

func writeRule(b []byte, at [3]int, r rule) {
	b[at[0]] = r.name
	for i := range 4 {
		b[at[1]+i] = byte(r.factor >> (8 * i))
	}
	b[at[2]], b[at[2]+1] = byte(r.summand), byte(r.summand>>8)
}

// a field is rules in memory: count elements of a type, which places describes.
type field struct {
	mem    []byte
	origin int
	count  int
	typ    mpi.Datatype
	at     [4]int
}

func (f *field) where(i int) [3]int {
	o := f.origin + i*f.at[3]
	return [3]int{o + f.at[0], o + f.at[1], o + f.at[2]}
}

func (f *field) buffer() mpi.Buffer { return mpi.BufAt(f.mem, f.origin, f.count, f.typ) }

func (f *field) load(rules []rule) {
	for i, r := range rules {
		writeRule(f.mem, f.where(i), r)
	}
}

// ruleTypes are different layouts of a rule.
func ruleTypes() map[mpi.Datatype][4]int {
	parts := []mpi.Datatype{must(mpi.TypeOf[uint8]()), must(mpi.TypeOf[uint32]()), must(mpi.TypeOf[uint16]())}
	places := map[mpi.Datatype][4]int{must(mpi.TypeOf[rule]()): {0, 4, 8, 12}}
	for _, at := range [][4]int{
		{0, 1, 5, 7},        // as it is packed
		{0, 4, 8, 30},       // apart
		{9, 2, 0, 10},       // backwards
		{-3, -20, 5, -40},   // elements, too
		{0, 500, 1002, 8},   // interleaved
		{40, 44, 48, 12},    // displaced
		{0, 900, 100, 1000}, // far apart
	} {
		t := must(mpi.TypeStruct([]int{1, 1, 1}, []int{at[0], at[1], at[2]}, parts))
		t = must(mpi.TypeResized(t, 0, at[3]))
		if err := t.Commit(); err != nil {
			panic(err)
		}
		places[t] = at
	}
	return places
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newField is memory with random contents for count rules of a random type.
func newField(g *rand.Rand, places map[mpi.Datatype][4]int, order []mpi.Datatype, count int) *field {
	f := &field{count: count, typ: order[g.IntN(len(order))]}
	f.at = places[f.typ]
	lo, hi := 0, 0
	for _, i := range []int{0, max(count-1, 0)} {
		for _, x := range f.at[:3] {
			lo, hi = min(lo, i*f.at[3]+x), max(hi, i*f.at[3]+x+4)
		}
	}
	f.origin = g.IntN(9) - lo
	f.mem = make([]byte, f.origin+hi+g.IntN(9))
	for i := range f.mem {
		f.mem[i] = byte(g.Uint32())
	}
	return f
}

// COL-02, COL-03, COL-04, COL-05: a user-defined operation works in all reductions of Buffers in
// all forms, in place or not, with any types, which may differ between ranks. Operands are
// combined in the order of the ranks, and gaps between the results are not changed.
func TestCOL05_ReductionsOfLayouts(t *testing.T) {
	places := ruleTypes()
	var order []mpi.Datatype
	for typ := range places {
		order = append(order, typ)
	}
	slices.SortFunc(order, func(a, b mpi.Datatype) int { return slices.Compare(listOf(places[a]), listOf(places[b])) })
	ops := map[string]mpi.Op{"CreateOp": mpi.CreateOp(composeRules, false), "CreateOpFunc": composeAnywhere(places)}
	steps := 25
	if testrun.Race {
		steps = 8
	}
	for _, n := range []int{1, 2, 3, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			shared := rand.New(rand.NewPCG(uint64(n), 11))
			own := rand.New(rand.NewPCG(uint64(n), uint64(100+c.Rank())))
			for step := range steps {
				for _, name := range []string{"CreateOp", "CreateOpFunc"} {
					x := reductionStep{c: c, shared: shared, own: own, op: ops[name], places: places, order: order}
					if err := x.do(); err != nil {
						t.Fatalf("step %d, %s on rank %d of %d: %v", step, name, c.Rank(), n, err)
					}
				}
			}
		})
	}
}

func listOf(at [4]int) []int { return at[:] }

// reductionStep is one random reduction by one member.
type reductionStep struct {
	c           *mpi.Comm
	shared, own *rand.Rand
	op          mpi.Op
	places      map[mpi.Datatype][4]int
	order       []mpi.Datatype
}

func (x *reductionStep) do() error {
	c, g := x.c, x.shared
	n, me := c.Size(), c.Rank()
	what, form, root, seed := g.IntN(6), g.IntN(3), g.IntN(n), g.Uint64()
	each := []int{0, 1, 3, 40, 700}[g.IntN(5)]
	counts := make([]int, n)
	total, block, at := each, each, 0
	if what >= 4 {
		total = 0
		for r := range counts {
			counts[r] = each
			if what == 5 {
				counts[r] = (each + 7*r) % 50
			}
			if r < me {
				at += counts[r]
			}
			total += counts[r]
		}
		block = counts[me]
	}
	gives := func(r int) []rule {
		g := rand.New(rand.NewPCG(seed, uint64(r)))
		list := make([]rule, total)
		for i := range list {
			list[i] = rule{uint8(r), g.Uint32(), uint16(g.Uint32())}
		}
		return list
	}
	upTo := func(last int) []rule {
		all := gives(0)
		for r := 1; r <= last; r++ {
			for i, f := range gives(r) {
				all[i] = all[i].after(f)
			}
		}
		return all
	}
	recv := newField(x.own, x.places, x.order, block+x.own.IntN(3))
	send := newField(x.own, x.places, x.order, total)
	if x.own.IntN(3) == 0 { // in place
		if what >= 4 {
			recv = &field{mem: send.mem, origin: send.origin, count: block, typ: send.typ, at: send.at}
		} else {
			send = &field{mem: recv.mem, origin: recv.origin, count: total, typ: recv.typ, at: recv.at}
		}
	}
	send.load(gives(me))
	want := &field{mem: bytes.Clone(recv.mem), origin: recv.origin, count: recv.count, typ: recv.typ, at: recv.at}
	s, r, o := send.buffer(), recv.buffer(), x.op
	var calls []collectiveForm
	switch what {
	case 0:
		if me == root {
			want.load(upTo(n - 1))
		} else if x.own.IntN(2) == 0 {
			r = mpi.Buffer{} // ignored
		}
		calls = collectiveForms(func() error { return c.Reduce(s, r, o, root) },
			func() mpi.Request { return c.Ireduce(s, r, o, root) }, func() mpi.Request { return c.ReduceInit(s, r, o, root) })
	case 1:
		want.load(upTo(n - 1))
		calls = collectiveForms(func() error { return c.Allreduce(s, r, o) },
			func() mpi.Request { return c.Iallreduce(s, r, o) }, func() mpi.Request { return c.AllreduceInit(s, r, o) })
	case 2:
		want.load(upTo(me))
		calls = collectiveForms(func() error { return c.Scan(s, r, o) },
			func() mpi.Request { return c.Iscan(s, r, o) }, func() mpi.Request { return c.ScanInit(s, r, o) })
	case 3:
		if me > 0 {
			want.load(upTo(me - 1))
		}
		calls = collectiveForms(func() error { return c.Exscan(s, r, o) },
			func() mpi.Request { return c.Iexscan(s, r, o) }, func() mpi.Request { return c.ExscanInit(s, r, o) })
	case 4:
		want.load(upTo(n - 1)[at : at+block])
		calls = collectiveForms(func() error { return c.ReduceScatterBlock(s, r, o) },
			func() mpi.Request { return c.IreduceScatterBlock(s, r, o) }, func() mpi.Request { return c.ReduceScatterBlockInit(s, r, o) })
	case 5:
		want.load(upTo(n - 1)[at : at+block])
		calls = collectiveForms(func() error { return c.ReduceScatter(s, r, counts, o) },
			func() mpi.Request { return c.IreduceScatter(s, r, counts, o) }, func() mpi.Request { return c.ReduceScatterInit(s, r, counts, o) })
	}
	call := calls[form].call
	if form == 2 { // once: in place the second start would have other operands
		q := map[int]func() mpi.Request{
			0: func() mpi.Request { return c.ReduceInit(s, r, o, root) }, 1: func() mpi.Request { return c.AllreduceInit(s, r, o) },
			2: func() mpi.Request { return c.ScanInit(s, r, o) }, 3: func() mpi.Request { return c.ExscanInit(s, r, o) },
			4: func() mpi.Request { return c.ReduceScatterBlockInit(s, r, o) }, 5: func() mpi.Request { return c.ReduceScatterInit(s, r, counts, o) },
		}[what]()
		call = func() error {
			if err := q.Start(); err != nil {
				return err
			}
			if _, err := q.Wait(); err != nil {
				return err
			}
			return q.Free()
		}
	}
	if err := call(); err != nil {
		return fmt.Errorf("%s %d of %d x %v to %d x %v: %w", calls[form].form, what, send.count, send.typ, recv.count, recv.typ, err)
	}
	if !bytes.Equal(recv.mem, want.mem) {
		at := 0
		for recv.mem[at] == want.mem[at] {
			at++
		}
		return fmt.Errorf("%s %d of %d x %v to %d x %v: byte %d of %d is %d, want %d", calls[form].form, what, send.count, send.typ, recv.count, recv.typ,
			at, len(recv.mem), recv.mem[at], want.mem[at])
	}
	return nil
}
