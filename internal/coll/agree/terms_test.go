package agree

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
)

// told returns the terms of a member that has named roots in turn and then gives n bytes of a code.
func told(code dtype.Code, n int, roots ...int) Terms {
	t := NewTerms(true)
	for _, r := range roots {
		t.Name(kind.Bcast, r)
	}
	t.Say(code, code, n)
	return t
}

// The first of two members that disagree has an error with the class and the text of what they disagree on.
func TestDisagreementsOfMembers(t *testing.T) {
	set := dtype.Predefined()
	double, integer := set.Type(dtype.Double).Code(), set.Type(dtype.Int).Code()
	for _, x := range []struct {
		members []Terms
		class   class.Class
		text    string
	}{
		{[]Terms{told(double, 8, 1, 2), told(double, 8, 1, 2)}, class.Success, ""},
		{[]Terms{told(double, 8), told(dtype.Mixed, 8)}, class.Success, ""},
		{[]Terms{told(double, 8, 1, 2), told(double, 8, 1, 0), told(double, 8, 1, 2)}, class.Root, "rank 0 names root 2, rank 1 names root 0 (Bcast)"},
		{[]Terms{told(double, 8, 1, 2), told(double, 8, 0, 2)}, class.Root, "rank 0 and rank 1 have named different roots in an earlier collective"},
		{[]Terms{told(double, 8, 1), told(integer, 8, 1)}, class.Type, "rank 0 sends " + double.String() + ", rank 1 receives " + integer.String()},
		{[]Terms{told(double, 8, 1), told(double, 16, 1)}, class.Count, "rank 0 gives 1 x " + double.String() + ", rank 1 gives 2 x " + double.String()},
		{[]Terms{told(dtype.Mixed, 8), told(double, 16)}, class.Count, "rank 0 gives 8 bytes, rank 1 gives 16 bytes"},
		{[]Terms{told(integer, 8, 1), told(double, 8, 1), told(double, 8, 0)}, class.Root, "rank 0 names root 1, rank 2 names root 0 (Bcast)"},
	} {
		state := func(r int) Statement { return Statement{Said: x.members[r].Said, Length: x.members[r].Length} }
		err, roots := x.members[0].Disagreement(0, len(x.members), state, func(r int) int { return r }, len(x.members))
		var e *class.Error
		errors.As(err, &e)
		switch {
		case x.class == class.Success && err != nil:
			t.Errorf("members that agree: %v", err)
		case x.class != class.Success && (e == nil || e.Class != x.class || !strings.Contains(e.Text, x.text)):
			t.Errorf("%v, want %q", err, x.text)
		case roots != (x.class == class.Root):
			t.Errorf("%v: roots differ: %v", err, roots)
		}
	}
}

// Members that have named different roots have different numbers from then on, and a member that has refused a
// collective with a root is not compared any more.
func TestRootsAreRemembered(t *testing.T) {
	a, b := told(dtype.Mixed, 0, 3), told(dtype.Mixed, 0, 4)
	for root := range 1000 {
		a.Name(kind.Reduce, root%7)
		b.Name(kind.Reduce, root%7)
		if a.Roots == b.Roots {
			t.Fatalf("equal after %d more roots", root+1)
		}
	}
	if sum, other := a.With(told(dtype.Mixed, 0, 1)), b.With(told(dtype.Mixed, 0, 1)); sum.Roots == other.Roots {
		t.Error("equal with those of another communicator")
	}
	b.Refuse(kind.Bcast)
	a.Say(dtype.Mixed, dtype.Mixed, 0)
	b.Say(dtype.Mixed, dtype.Mixed, 0)
	if Clash(a.Said, b.Said) {
		t.Error("a member that has refused is compared")
	}
}

// A Bcast tells its word in 24 bits, and lengths below 64 KiB have different digests.
func TestWordsInFewerBits(t *testing.T) {
	a := told(7, 100, 1, 2, 3)
	if FromTurn(a.Turn()) != a.Said {
		t.Errorf("%#x becomes %#x", a.Said, FromTurn(a.Turn()))
	}
	seen := make(map[uint32]int)
	for n := range 1 << 16 {
		d := Statement{Said: a.Said, Length: n}.Digest()
		if m, found := seen[d]; found {
			t.Fatalf("lengths %d and %d have the same digest", m, n)
		}
		seen[d] = n
	}
}
