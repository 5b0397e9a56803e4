package file

import (
	"slices"
	"testing"
)

// advice records what the kernel is told.
type advice struct {
	flaky
	told []string
}

func (a *advice) Advise(sequential, random bool) {
	switch {
	case random:
		a.told = append(a.told, "random")
	case sequential:
		a.told = append(a.told, "sequential")
	default:
		a.told = append(a.told, "ordinary")
	}
}

// INF-04: the kernel is told how a file is accessed when that changes, and not again for other hints.
func TestINF04_TheKernelIsToldTheStyle(t *testing.T) {
	s := new(advice)
	f := &File{store: s}
	h := DefaultHints()
	f.hints.Store(&h)
	for _, style := range []Style{Ordinary, Randomly, Randomly, Sequentially, Ordinary} {
		h.Style = style
		h.CbNodes++
		f.SetHints(h)
	}
	if want := []string{"random", "sequential", "ordinary"}; !slices.Equal(s.told, want) {
		t.Errorf("told %v, want %v", s.told, want)
	}
}

// A copy of hints can keep other hints without a change of the original.
func TestKeptHintsAreImmutable(t *testing.T) {
	var a Hints
	a.Keep("striping_unit", "1")
	b := a
	b.Keep("striping_unit", "2")
	b.Keep("nb_proc", "3")
	if a.Kept["striping_unit"] != "1" || len(a.Kept) != 1 || b.Kept["striping_unit"] != "2" || b.Kept["nb_proc"] != "3" {
		t.Errorf("%v, %v", a.Kept, b.Kept)
	}
}
