package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// 7.4.2: Dup, Idup, Create, Split and SplitType of an intercommunicator, and of the
// communicators that these make.
func TestCOM01_MadeOfIntercommunicators(t *testing.T) {
	mpitest.Run(t, 6, func(t testing.TB, world *mpi.Comm) {
		s := between(t, world, 2)
		copied := mpi.CreateKeyval(func(_ *mpi.Comm, v int) (int, bool, error) { return v + 1, true, nil }, nil)
		ok(t, mpi.SetAttr(s.c, copied, world.Rank()))
		d, err := s.c.Dup()
		ok(t, err)
		wantSides(t, d, world, s.ours, s.theirs)
		i, q := d.Idup()
		_, err = q.Wait()
		ok(t, err)
		wantSides(t, i, world, s.ours, s.theirs)
		hasAttr(t, i, copied, world.Rank()+2)
		// Create: the first two of each side, in reverse order.
		g, err := i.Group()
		ok(t, err)
		g, err = g.Incl([]int{1, 0})
		ok(t, err)
		pair, err := i.Create(g)
		ok(t, err)
		cut := func(list []int) []int { return []int{list[1], list[0]} }
		if i.Rank() < 2 {
			wantSides(t, pair, world, cut(s.ours), cut(s.theirs))
			ok(t, pair.Free())
		} else if pair != nil {
			t.Error("who is in no group got a communicator")
		}
		// One side is empty: all members get nil.
		if len(s.ours) == 2 {
			g = mpi.GroupEmpty
		}
		pair, err = i.Create(g)
		ok(t, err)
		if pair != nil {
			t.Error("a communicator with an empty remote group")
		}
		// Members of a side disagree: ErrGroup at all members.
		g, err = i.Group()
		ok(t, err)
		if world.Rank() == 4 {
			g, err = g.Incl([]int{2})
			ok(t, err)
		}
		_, err = i.Create(g)
		wantClass(t, err, mpi.ErrGroup)
		// Members of the remote group are not members of the local one.
		far, err := i.RemoteGroup()
		ok(t, err)
		_, err = i.Create(far)
		wantClass(t, err, mpi.ErrGroup)
		// Split by parity, in descending order, of the sides 1 0 and 2 3 4 5.
		e, err := i.Split(world.Rank()%2, -world.Rank())
		ok(t, err)
		ours, theirs := []int{world.Rank() % 2}, []int{4 + world.Rank()%2, 2 + world.Rank()%2}
		if world.Rank() >= 2 {
			ours, theirs = theirs, ours
		}
		wantSides(t, e, world, ours, theirs)
		ok(t, e.Free())
		color := world.Rank()
		if color == 5 {
			color = mpi.Undefined
		}
		e, err = i.Split(color, 0) // no color occurs on both sides
		ok(t, err)
		if e != nil {
			t.Error("a communicator of one side")
		}
		e, err = i.SplitType(mpi.CommTypeShared, 0)
		ok(t, err)
		if e != nil || !strings.Contains(t.Name(), "/tcp-") { // over tcp each is alone, on one side
			wantSides(t, e, world, s.ours, s.theirs)
			ok(t, e.Disconnect())
		}
		m, err := i.Merge(world.Rank() < 2)
		ok(t, err)
		wantMembers(t, m, world, []int{2, 3, 4, 5, 1, 0})
		ok(t, m.Free())
		ok(t, i.Disconnect())
		ok(t, d.Free())
		s.free(t)
		if err := d.Barrier(); !errors.Is(err, mpi.ErrComm) {
			t.Errorf("Barrier after Free: %v", err)
		}
	})
}
