package dtypetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
)

// A layout of Regroup has the given sequence. No byte occurs twice, not even in three
// consecutive elements. All constructors occur.
func TestRegroupKeepsTheSequence(t *testing.T) {
	set := dtype.Predefined()
	seen := map[dtype.Combiner]int{}
	filled, apart := 0, 0 // number of layouts, and of layouts with gaps
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := Generator{}.Spec(r, 1+int(seed%4)).Typemap(set, 600)
		if m == nil {
			continue
		}
		least := 1 + r.IntN(2)*r.IntN(10)
		s := Regroup(r, set, m.Elems(), least)
		count(s, seen)
		got := s.Typemap(set, 1<<20)
		if !slices.Equal(got.Elems(), m.Elems()) {
			t.Fatalf("seed %d: %v has another sequence", seed, s)
		}
		if got.Times(3).Overlaps() {
			t.Fatalf("seed %d: %v overlaps", seed, s)
		}
		if short := shortest(got); short < min(least, len(m.Entries)) {
			t.Fatalf("seed %d: %v has a block of %d elements, want %d at least", seed, s, short, least)
		}
		if lb, ub := got.TrueBounds(); ub-lb > m.Size() {
			apart++
		}
		if d := Regroup(nil, set, m.Elems(), 0); len(m.Entries) > 0 {
			filled++
			m := d.Typemap(set, 1<<20)
			if lb, ub := m.Bounds(); lb != 0 || ub != m.Size() || !slices.Equal(m.Elems(), got.Elems()) {
				t.Fatalf("seed %d: %v is not dense", seed, d)
			}
		}
	}
	for c := dtype.CombinerNamed; c <= dtype.CombinerResized; c++ {
		if f90 := c >= dtype.CombinerF90Real && c <= dtype.CombinerF90Integer; seen[c] < 20 && !f90 {
			t.Errorf("%d of %v", seen[c], c)
		}
	}
	if apart < filled/3 {
		t.Errorf("only %d of %d layouts have gaps", apart, filled)
	}
}

// shortest returns the length of the shortest block in memory.
func shortest(m *Typemap) int {
	short, n := len(m.Entries), 0
	for i, e := range m.Entries {
		n++
		if i == len(m.Entries)-1 || m.Entries[i+1].Off != e.Off+e.Elem.Size {
			short, n = min(short, n), 0
		}
	}
	return short
}

func count(s *Spec, seen map[dtype.Combiner]int) {
	seen[s.Combiner]++
	for _, k := range s.Kids {
		count(k, seen)
	}
}

func TestPeriod(t *testing.T) {
	set := dtype.Predefined()
	for _, c := range []struct {
		text string
		want int
	}{{"", 0}, {"a", 1}, {"aaaa", 1}, {"abab", 2}, {"ababa", 5}, {"aabaab", 3}, {"aabaaab", 7}} {
		var seq []*dtype.Elem
		for _, v := range c.text {
			seq = append(seq, set.Type(map[rune]dtype.ID{'a': dtype.Int, 'b': dtype.Float}[v]).Elem())
		}
		if got := period(seq); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

// Shrink finds the simplest case that still fails, with an error or with a panic.
func TestShrink(t *testing.T) {
	fails := func(s *Spec) error {
		if text := s.String(); strings.Contains(text, "resized") && strings.Contains(text, "hindexed(") {
			if strings.Contains(text, "vector") {
				panic("three")
			}
			return errors.New("two")
		}
		return nil
	}
	tried := 0
	for seed := uint64(0); tried < 20; seed++ {
		s := Generator{}.Spec(rand.New(rand.NewPCG(seed, 2)), 4)
		err := try(s, fails)
		if err == nil {
			continue
		}
		tried++
		s, err = Shrink(s, err, (*Spec).Smaller, fails)
		names := map[dtype.Combiner]int{}
		count(s, names)
		if err == nil || names[dtype.CombinerResized] != 1 || names[dtype.CombinerHindexed] != 1 || len(s.String()) > 100 {
			t.Errorf("seed %d: %v, %v", seed, s, err)
		}
	}
}
