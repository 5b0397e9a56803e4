package mpi

import (
	"slices"

	"github.com/halo-mpi/halo/internal/call"
)

// Group is an ordered set of processes of the job. It is an immutable value, and independent of
// the communicator that it came from, which may be freed. The zero Group is the empty group.
// Groups need not be freed.
//
// C: MPI_Group, MPI_GROUP_EMPTY and MPI_Group_free, section 7.2.1.
type Group struct {
	members []int32 // indexes in the job, by rank
	self    *Comm   // of the process that the group belongs to; may be nil in an empty group
}

// GroupEmpty is the group without members.
//
// C: MPI_GROUP_EMPTY, section 7.2.1.
var GroupEmpty Group

// Range is the set of ranks First, First+Stride, First+2*Stride and so on, up to Last, which
// need not be one of them. Stride may be negative.
//
// C: MPI_Group_range_incl, section 7.3.2.
type Range struct{ First, Last, Stride int }

// Group is the group of the communicator's members; of an intercommunicator, the local group.
//
// C: MPI_Comm_group, section 7.3.2.
func (c *Comm) Group() (Group, error) {
	if err := c.usable(call.CommGroup); err != nil {
		return Group{}, err
	}
	return c.group(c.core.Own().Members), nil
}

// group returns the group of some members of c. Their numbers stay those of the same processes, even
// when c is gone.
func (c *Comm) group(members []int32) Group {
	if p := c.w.Proc; p.Met() {
		p.Lock()
		p.Pin(members)
		p.Unlock()
	}
	return Group{members, c.self}
}

// Size is the number of members.
//
// C: MPI_Group_size, section 7.3.1.
func (g Group) Size() int { return len(g.members) }

// Rank is the rank of the calling process in the group, or Undefined if it is not a member.
//
// C: MPI_Group_rank, section 7.3.1.
func (g Group) Rank() int {
	if len(g.members) == 0 {
		return Undefined
	}
	if r := slices.Index(g.members, g.self.core.Members[0]); r >= 0 {
		return r
	}
	return Undefined
}

// ranks maps the index in the job of each member to its rank.
func (g Group) ranks() map[int32]int {
	m := make(map[int32]int, len(g.members))
	for r, p := range g.members {
		m[p] = r
	}
	return m
}

// same returns an error if g and h belong to different processes, which can happen if ranks are
// goroutines, or to different sessions.
func (g Group) same(by call.Number, h Group) *Error {
	switch {
	case g.self == h.self || g.self == nil || h.self == nil:
		return nil
	case g.self.w == h.self.w:
		return fail(ErrSession, by, g.self, "the groups are of %s and of %s", g.self.origin(), h.self.origin())
	}
	return fail(ErrGroup, by, g.self, "the groups belong to two processes, ranks %d and %d of the world", g.self.core.Members[0], h.self.core.Members[0])
}

// origin names the world model or the session of a self.
func (c *Comm) origin() string {
	if c.session == nil {
		return "the world model"
	}
	return c.Name()
}

// stranger returns the error of call k on c, or on the window that c stands for, if an object of
// that kind belongs to another process, or to another session, than c; self is the object's, nil
// if it belongs to none.
func (c *Comm) stranger(k call.Number, cl Class, kind string, self *Comm) *Error {
	switch {
	case self == nil || self == c.self:
		return nil
	case self.w == c.w:
		return fail(ErrSession, k, c, "the %s is of %s, and not of %s", kind, self.origin(), c.self.origin())
	}
	return fail(cl, k, c, "the %s belongs to another process", kind)
}

// with makes a group of these members that belongs to the process of g or h.
func (g Group) with(h Group, members []int32) Group {
	if g.self == nil {
		g.self = h.self
	}
	return Group{members, g.self}
}

// TranslateRanks returns the ranks in h of the members of g with the given ranks: Undefined for
// members that are not in h, and ProcNull for ProcNull. ErrRank if g has no such rank.
//
// C: MPI_Group_translate_ranks, section 7.3.1.
func (g Group) TranslateRanks(ranks []int, h Group) ([]int, error) {
	if err := g.same(call.GroupTranslateRanks, h); err != nil {
		return nil, err
	}
	in := h.ranks()
	out := make([]int, len(ranks))
	for i, r := range ranks {
		if r == ProcNull {
			out[i] = ProcNull
			continue
		}
		if r < 0 || r >= len(g.members) {
			return nil, g.noRank(call.GroupTranslateRanks, r)
		}
		if to, ok := in[g.members[r]]; ok {
			out[i] = to
		} else {
			out[i] = Undefined
		}
	}
	return out, nil
}

func (g Group) noRank(by call.Number, rank int) *Error {
	return fail(ErrRank, by, g.self, "rank %d in a group of %d", rank, len(g.members))
}

// Compare compares g and h: Ident if they have the same members in the same order, Similar if in
// another order, else Unequal.
//
// C: MPI_Group_compare, section 7.3.1.
func (g Group) Compare(h Group) (Comparison, error) {
	if err := g.same(call.GroupCompare, h); err != nil {
		return Unequal, err
	}
	switch {
	case len(g.members) != len(h.members):
		return Unequal, nil
	case slices.Equal(g.members, h.members):
		return Ident, nil
	}
	in := h.ranks()
	for _, p := range g.members {
		if _, ok := in[p]; !ok {
			return Unequal, nil
		}
	}
	return Similar, nil
}

// Union is the members of g, followed by those of h that are not in g, in the order of h.
//
// C: MPI_Group_union, section 7.3.2.
func (g Group) Union(h Group) (Group, error) {
	if err := g.same(call.GroupUnion, h); err != nil {
		return Group{}, err
	}
	return g.with(h, append(slices.Clone(g.members), h.minus(g)...)), nil
}

// Intersection is the members of g that are also in h, in the order of g.
//
// C: MPI_Group_intersection, section 7.3.2.
func (g Group) Intersection(h Group) (Group, error) {
	if err := g.same(call.GroupIntersection, h); err != nil {
		return Group{}, err
	}
	in := h.ranks()
	return g.with(h, slices.DeleteFunc(slices.Clone(g.members), func(p int32) bool {
		_, ok := in[p]
		return !ok
	})), nil
}

// Difference is the members of g that are not in h, in the order of g.
//
// C: MPI_Group_difference, section 7.3.2.
func (g Group) Difference(h Group) (Group, error) {
	if err := g.same(call.GroupDifference, h); err != nil {
		return Group{}, err
	}
	return g.with(h, g.minus(h)), nil
}

func (g Group) minus(h Group) []int32 {
	in := h.ranks()
	return slices.DeleteFunc(slices.Clone(g.members), func(p int32) bool {
		_, ok := in[p]
		return ok
	})
}

// Incl is the group of the members of g with the given ranks, in the order of the list. ErrRank
// if a rank does not exist or occurs twice.
//
// C: MPI_Group_incl, section 7.3.2.
func (g Group) Incl(ranks []int) (Group, error) { return g.incl(call.GroupIncl, ranks) }

// Excl is g without the members with the given ranks. Errors are those of Incl.
//
// C: MPI_Group_excl, section 7.3.2.
func (g Group) Excl(ranks []int) (Group, error) { return g.excl(call.GroupExcl, ranks) }

// RangeIncl is Incl of all ranks in the ranges. ErrArg if a stride is 0, or has the wrong sign
// to reach Last.
//
// C: MPI_Group_range_incl, section 7.3.2.
func (g Group) RangeIncl(ranges []Range) (Group, error) {
	ranks, err := g.expand(call.GroupRangeIncl, ranges)
	if err != nil {
		return Group{}, err
	}
	return g.incl(call.GroupRangeIncl, ranks)
}

// RangeExcl is Excl of all ranks in the ranges. Errors are those of RangeIncl.
//
// C: MPI_Group_range_excl, section 7.3.2.
func (g Group) RangeExcl(ranges []Range) (Group, error) {
	ranks, err := g.expand(call.GroupRangeExcl, ranges)
	if err != nil {
		return Group{}, err
	}
	return g.excl(call.GroupRangeExcl, ranks)
}

// distinct marks the given ranks of g. It returns an error unless all are different and exist.
func (g Group) distinct(by call.Number, ranks []int) ([]bool, *Error) {
	seen := make([]bool, len(g.members))
	for _, r := range ranks {
		if r < 0 || r >= len(g.members) {
			return nil, g.noRank(by, r)
		}
		if seen[r] {
			return nil, fail(ErrRank, by, g.self, "rank %d occurs twice", r)
		}
		seen[r] = true
	}
	return seen, nil
}

func (g Group) incl(by call.Number, ranks []int) (Group, error) {
	if _, err := g.distinct(by, ranks); err != nil {
		return Group{}, err
	}
	members := make([]int32, len(ranks))
	for i, r := range ranks {
		members[i] = g.members[r]
	}
	return Group{members, g.self}, nil
}

func (g Group) excl(by call.Number, ranks []int) (Group, error) {
	out, err := g.distinct(by, ranks)
	if err != nil {
		return Group{}, err
	}
	var members []int32
	for r, p := range g.members {
		if !out[r] {
			members = append(members, p)
		}
	}
	return Group{members, g.self}, nil
}

// expand lists the ranks of ranges, all of which must exist in g.
func (g Group) expand(by call.Number, ranges []Range) ([]int, *Error) {
	var ranks []int
	for i, a := range ranges {
		switch {
		case a.Stride == 0:
			return nil, fail(ErrArg, by, g.self, "range %d has stride 0", i)
		case a.Stride > 0 && a.First > a.Last, a.Stride < 0 && a.First < a.Last:
			return nil, fail(ErrArg, by, g.self, "range %d: stride %d does not lead from %d to %d", i, a.Stride, a.First, a.Last)
		}
		// The arithmetic is unsigned, so that the distance of two ints cannot overflow.
		left, step := uint(a.Last)-uint(a.First), uint(a.Stride)
		if a.Stride < 0 {
			left, step = -left, -step
		}
		for r := a.First; ; r += a.Stride {
			if r < 0 || r >= len(g.members) {
				return nil, g.noRank(by, r)
			}
			ranks = append(ranks, r)
			if left < step {
				break
			}
			left -= step
		}
	}
	return ranks, nil
}
