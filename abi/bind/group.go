package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// freeGroup is MPI_Group_free. MPI_GROUP_EMPTY may be freed, because calls return it for each
// group without members.
func (l *Lib) freeGroup(a args) error {
	return free(l, a, call.GroupFree, groupNull, l.group, func(mpi.Group) error { return nil }, l.groups.remove)
}

// list returns the first n elements of an array, after checking its arguments.
func (l *Lib) list(by call.Number, name string, n int, ranks array) ([]int, error) {
	switch {
	case n < 0:
		return nil, l.fail(mpi.ErrArg, by, "%d %s", n, name)
	case n > 0 && ranks.null():
		return nil, l.fail(mpi.ErrArg, by, "%d %s at %#x, which is no address", n, name, ranks.given)
	}
	return ranks.ints(n), nil
}

// ofRanks makes a group of an array of ranks.
func (l *Lib) ofRanks(by call.Number, n int, ranks array, do func([]int) (mpi.Group, error)) (mpi.Group, error) {
	list, err := l.list(by, "ranks", n, ranks)
	if err != nil {
		return mpi.Group{}, err
	}
	return do(list)
}

// ofRanges makes a group of an array of triplets.
func (l *Lib) ofRanges(by call.Number, n int, ranges array, do func([]mpi.Range) (mpi.Group, error)) (mpi.Group, error) {
	list, err := l.list(by, "ranges", n, array{ranges.at, false, ranges.given})
	if err != nil {
		return mpi.Group{}, err
	}
	of := make([]mpi.Range, len(list))
	for i := range of {
		of[i] = mpi.Range{First: ranges.get(3 * i), Last: ranges.get(3*i + 1), Stride: ranges.get(3*i + 2)}
	}
	return do(of)
}

// translate is MPI_Group_translate_ranks.
func (l *Lib) translate(g mpi.Group, n int, ranks array, h mpi.Group, out array) error {
	list, err := l.list(call.GroupTranslateRanks, "ranks", n, ranks)
	if err != nil {
		return err
	}
	if n > 0 && out.null() {
		return l.fail(mpi.ErrArg, call.GroupTranslateRanks, "room for %d ranks at %#x, which is no address", n, out.given)
	}
	to, err := g.TranslateRanks(list, h)
	for i, r := range to {
		out.set(i, r)
	}
	return err
}
