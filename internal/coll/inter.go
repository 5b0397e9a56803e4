package coll

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
)

// The functions that make an intercommunicator from another one, or an intracommunicator from
// its two groups, are collective over both groups. They run on the union of the groups, like the
// functions that make communicators from one group.

// attachInter prepares collectives on an intercommunicator. The schedules of the
// intercommunicator, its local group and its union take their numbers from the union. The site
// describes the local group, for stages in that group.
func (e *Engine) attachInter(c *comm.Comm) {
	local := c.Inter.Local
	e.attach(c.Inter.Union, NoSlot)
	c.Coll = newState(choice.Site{Ranks: local.Size(), Near: e.node != nil && e.shared(local.Members), Runs: true, Part: true})
}

// likeInter returns an intercommunicator between the groups of c.
func (e *Engine) likeInter(c *comm.Comm, ctx uint64) *comm.Comm {
	return comm.NewInter(e.p, ctx, c.Rank, c.Inter.Local.Members, c.Members, c.Inter.First)
}

// dupInter is Dup of an intercommunicator.
func (e *Engine) dupInter(c *comm.Comm) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if stateOf(c.Inter.Union).checks {
		if err := e.wait(e.begin(c.Inter.Union, Barrier, &Args{Call: call.CommDup})); err != nil {
			return nil, err
		}
	}
	id, err := e.agree(c.Inter.Union, nextTag(c), true)
	if err != nil {
		return nil, err
	}
	d := e.likeInter(c, id.ctx)
	e.attachInter(d)
	return d, nil
}

// createInter makes an intercommunicator of some ranks of the union of both groups of c. It
// returns nil if one group has none of the ranks, and at a member that is not among them. The
// lock is held.
func (e *Engine) createInter(c *comm.Comm, ranks []int, tag int32) (*comm.Comm, error) {
	local, remote := c.Sides(ranks)
	rank := slices.Index(local, c.Rank)
	if rank < 0 || len(remote) == 0 {
		return nil, nil
	}
	ours, theirs := membersOf(c.Inter.Local, local), membersOf(c, remote)
	d := comm.NewInter(e.p, c.Ctx, rank, ours, theirs, c.Inter.First)
	group := d.Inter.Union // its members agree on the identity in messages of c
	group.Within = c
	group.Join(c)
	id, err := e.agree(group, tag, true)
	if err != nil {
		return nil, err
	}
	group.Within = d
	d.SetContext(id.ctx)
	e.attachInter(d)
	return d, nil
}

// membersOf returns the processes of some ranks of c.
func membersOf(c *comm.Comm, ranks []int) []int32 {
	members := make([]int32, len(ranks))
	for i, r := range ranks {
		members[i] = c.Members[r]
	}
	return members
}

// createBetween is Create of an intercommunicator: each member gives members of its own group.
// It takes the lock.
func (e *Engine) createBetween(c *comm.Comm, members []int32) (*comm.Comm, error) {
	place := int64(slices.Index(members, int32(e.p.Job().Rank)))
	mine := binary.LittleEndian.AppendUint64(nil, uint64(place))
	mine = binary.LittleEndian.AppendUint64(mine, uint64(len(members)))
	const width = 16
	return e.splitBy(c, mine, func(all []byte) (ranks []int, err error) {
		word := func(r, i int) int { return int(int64(binary.LittleEndian.Uint64(all[width*r+8*i:]))) }
		for r := range c.Inter.Union.Size() {
			if word(r, 0) >= 0 {
				ranks = append(ranks, r)
			}
		}
		slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(word(a, 0), word(b, 0)) })
		next := [2]int{} // place of the next member, by side
		side := func(r int) int {
			if r < c.FirstSize() {
				return 0
			}
			return 1
		}
		for _, r := range ranks {
			k := side(r)
			if word(r, 0) != next[k] {
				return nil, class.Errorf(class.Group, "members of one side of the intercommunicator give different groups")
			}
			next[k]++
		}
		for r := range c.Inter.Union.Size() {
			if word(r, 1) != next[side(r)] {
				return nil, class.Errorf(class.Group, "members of one side of the intercommunicator give different groups")
			}
		}
		return ranks, nil
	})
}

// Merge makes an intracommunicator of both groups of an intercommunicator. The group whose
// members give high false comes first; if both groups give the same value, the first group of
// the intercommunicator comes first. It is collective and takes the lock.
func (e *Engine) Merge(c *comm.Comm, high bool) (d *comm.Comm, err error) {
	err = occupied(c, call.IntercommMerge, func() error {
		d, err = e.merge(c, high)
		d, err = e.commit(c, d, err)
		return err
	})
	return d, err
}

func (e *Engine) merge(c *comm.Comm, high bool) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	u, mine := c.Inter.Union, []byte{0}
	if high {
		mine[0] = 1
	}
	all := make([]byte, u.Size())
	if err := e.allgather(u, mine, all, call.IntercommMerge); err != nil {
		return nil, err
	}
	tag := nextTag(c)
	n := c.FirstSize()
	for r, h := range all {
		if r < n && h != all[0] || r >= n && h != all[n] {
			return nil, class.Errorf(class.Arg, "members of one group give different values of high")
		}
	}
	members := u.Members
	if all[0] > all[n] {
		members = slices.Concat(u.Members[n:], u.Members[:n])
	}
	return e.create(c, members, tag, u)
}
