package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// sides is an intercommunicator between two groups of a world, and their members' ranks in it.
type sides struct {
	c, local     *mpi.Comm
	ours, theirs []int
}

// between makes an intercommunicator between the ranks of world below k, in reverse order, and
// the others. The leaders are the first and the last rank of their groups.
func between(t testing.TB, world *mpi.Comm, k int) *sides {
	t.Helper()
	n, me := world.Size(), world.Rank()
	low, high := []int{}, []int{}
	for r := range n {
		if r < k {
			low = append([]int{r}, low...)
		} else {
			high = append(high, r)
		}
	}
	s := &sides{ours: low, theirs: high}
	color, key, leader, remote := 0, -me, 0, n-1
	if me >= k {
		s.ours, s.theirs = high, low
		color, key, leader, remote = 1, me, n-k-1, k-1
	}
	var err error
	s.local, err = world.Split(color, key)
	ok(t, err)
	s.c, err = mpi.IntercommCreate(s.local, leader, world, remote, 7)
	ok(t, err)
	return s
}

// free frees the communicators that between has made.
func (s *sides) free(t testing.TB) {
	t.Helper()
	ok(t, s.c.Free())
	ok(t, s.local.Free())
}

// wantSides checks that c is an intercommunicator between these groups, by ranks in world, and
// that messages go both ways.
func wantSides(t testing.TB, c, world *mpi.Comm, ours, theirs []int) {
	t.Helper()
	if c == nil {
		t.Fatalf("rank %d of the world got no intercommunicator of %v and %v", world.Rank(), ours, theirs)
	}
	all, err := world.Group()
	ok(t, err)
	l, err := c.Group()
	ok(t, err)
	r, err := c.RemoteGroup()
	ok(t, err)
	mine := slices.Index(ours, world.Rank())
	if a, b := contents(t, l, all), contents(t, r, all); !slices.Equal(a, ours) || !slices.Equal(b, theirs) || !c.Inter() ||
		c.Rank() != mine || c.Size() != len(ours) || c.RemoteSize() != len(theirs) {
		t.Fatalf("rank %d of %d in %v, remote %d: %v; want %v and %v", c.Rank(), c.Size(), a, c.RemoteSize(), b, ours, theirs)
	}
	for i := range theirs {
		q := mpi.Isend(c, []int{world.Rank()}, i, 5)
		_, err := q.Wait()
		ok(t, err)
	}
	got := map[int]int{}
	for range theirs {
		var x [1]int
		st, err := mpi.Recv(c, x[:], mpi.AnySource, 5)
		ok(t, err)
		got[st.Source] = x[0]
	}
	for i, w := range theirs {
		if got[i] != w {
			t.Fatalf("messages are from %v, want %v", got, theirs)
		}
	}
	ok(t, c.Barrier())
}

// COM-01, 7.6.2: an intercommunicator is made while messages between the leaders are pending on
// the peer communicator, with the same tag and with others.
func TestCOM01_IntercommCreate(t *testing.T) {
	mpitest.Run(t, 5, func(t testing.TB, world *mpi.Comm) {
		peer, err := world.Dup()
		ok(t, err)
		for k := 1; k < 5; k++ {
			me := world.Rank()
			local, err := world.Split(min(me/k, 1), me)
			ok(t, err)
			leaders := [2]int{0, k} // by world rank
			mine, other := leaders[min(me/k, 1)], leaders[1-min(me/k, 1)]
			var pending []mpi.Request
			in := make([]int, 2)
			if me == mine {
				pending = append(pending, mpi.Isend(peer, []int{me + 1}, other, 3), mpi.Isend(peer, []int{me + 2}, other, 4),
					mpi.Irecv(peer, in[:1], mpi.AnySource, 3))
			}
			given, rank := peer, other
			if me != mine {
				given, rank = nil, -9 // only leaders need valid ones
			}
			c, err := mpi.IntercommCreate(local, 0, given, rank, 3)
			ok(t, err)
			ours, theirs := []int{}, []int{}
			for r := range 5 {
				if min(r/k, 1) == min(me/k, 1) {
					ours = append(ours, r)
				} else {
					theirs = append(theirs, r)
				}
			}
			wantSides(t, c, world, ours, theirs)
			if me == mine {
				pending = append(pending, mpi.Irecv(peer, in[1:], mpi.AnySource, mpi.AnyTag))
				ok(t, mpi.Waitall(pending, nil))
				if !slices.Equal(in, []int{other + 1, other + 2}) {
					t.Errorf("messages under way were %v", in)
				}
			}
			ok(t, c.Free())
			ok(t, local.Free())
		}
		ok(t, peer.Free())
	})
}

// 7.6.2: an invalid argument of a leader is the error of its whole group.
func TestCOM01_IntercommCreateErrors(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		me := world.Rank()
		local, err := world.Split(me/2, me)
		ok(t, err)
		freed, err := world.Dup()
		ok(t, err)
		ok(t, freed.Free())
		other := 2 - me/2*2
		for _, x := range []struct {
			local       *mpi.Comm
			leader      int
			peer        *mpi.Comm
			remote, tag int
			class       mpi.Class
			says        string
		}{
			{nil, 0, world, other, 1, mpi.ErrComm, "nil"},
			{freed, 0, world, other, 1, mpi.ErrComm, "freed"},
			{local, 2, world, other, 1, mpi.ErrRank, "local leader 2 in a communicator of 2"},
			{local, -1, world, other, 1, mpi.ErrRank, "local leader -1"},
			{local, 0, nil, other, 1, mpi.ErrComm, "peer communicator of the leader is nil"},
			{local, 1, freed, other, 1, mpi.ErrComm, "peer communicator of the leader has been freed"},
			{local, 0, world, 4, 1, mpi.ErrRank, "remote leader 4 in a peer communicator of 4"},
			{local, 0, world, mpi.ProcNull, 1, mpi.ErrRank, "remote leader"},
			{local, 0, world, 2 - other, 1, mpi.ErrRank, "is the local leader itself"},
			{local, 0, world, other, -1, mpi.ErrTag, "tag -1"},
			{world, 0, world, 0, 1, mpi.ErrRank, "itself"},
		} {
			_, err := mpi.IntercommCreate(x.local, x.leader, x.peer, x.remote, x.tag)
			if !errors.Is(err, x.class) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("error %v, want %v with %q", err, x.class, x.says)
			}
		}
		ok(t, local.Free())
		ok(t, world.Barrier())
	})
}

// 7.6.2: the groups must be disjoint. Rank 1 is in both, and gets the error in two goroutines.
func TestCOM01_GroupsOverlap(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		me := world.Rank()
		a, err := world.Create(subset(t, world, []int{0, 1}))
		ok(t, err)
		b, err := world.Create(subset(t, world, []int{1, 2}))
		ok(t, err)
		errs := make(chan error, 2)
		calls := 0
		for i, c := range []*mpi.Comm{a, b} {
			if c != nil {
				calls++
				go func() {
					_, err := mpi.IntercommCreate(c, i, world, 2-2*i, 1)
					errs <- err
				}()
			}
		}
		for range calls {
			if err := <-errs; !errors.Is(err, mpi.ErrComm) || !strings.Contains(err.Error(), "overlap") {
				t.Errorf("rank %d: error %v", me, err)
			}
		}
		ok(t, world.Barrier())
	})
}

// COM-02, 7.6.2: Merge puts the group that passes low first; with equal values any order is
// allowed, the same at all members. E2-15: the result is an intracommunicator, and has at each
// process the error handler of the intercommunicator there. COM-03.
func TestCOM02_E2_15_Merge(t *testing.T) {
	mpitest.Run(t, 5, func(t testing.TB, world *mpi.Comm) {
		s := between(t, world, 2)
		called := 0
		h := mpi.CreateCommErrhandler(func(*mpi.Comm, *mpi.Error) { called++ })
		if world.Rank() < 2 {
			ok(t, s.c.SetErrhandler(h))
		}
		low := world.Rank() < 2
		for _, high := range [][2]bool{{false, true}, {true, false}, {false, false}, {true, true}} {
			mine := high[1]
			if low {
				mine = high[0]
			}
			m, err := s.c.Merge(mine)
			ok(t, err)
			want := []int{1, 0, 2, 3, 4}
			first, err := mpi.BcastOne(m, world.Rank(), 0)
			ok(t, err)
			if high[0] && !high[1] || high[0] == high[1] && first > 1 {
				want = []int{2, 3, 4, 1, 0}
			}
			wantMembers(t, m, world, want)
			if m.Inter() {
				t.Error("what Merge makes is an intercommunicator")
			}
			before := called
			_ = mpi.Send(m, []int{1}, 99, 0)
			if got := called - before; (got == 1) != low {
				t.Errorf("rank %d: the handler is called %d times", world.Rank(), got)
			}
			ok(t, m.Free())
		}
		// If values differ within a group, all members get the error.
		_, err := s.c.Merge(world.Rank() == 3)
		wantClass(t, err, mpi.ErrArg)
		_, err = world.Merge(false)
		wantClass(t, err, mpi.ErrComm)
		s.free(t)
	})
}

// 7.6.1, 7.4: the accessors of intercommunicators, also on other communicators.
func TestCOM01_Accessors(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		if world.Inter() || world.RemoteSize() != 0 || (*mpi.Comm)(nil).Inter() {
			t.Error("world is an intercommunicator")
		}
		_, err := world.RemoteGroup()
		wantClass(t, err, mpi.ErrComm)
		s := between(t, world, 1)
		wantSides(t, s.c, world, s.ours, s.theirs)
		for _, x := range []struct {
			d    *mpi.Comm
			want mpi.Comparison
		}{{s.c, mpi.Ident}, {s.local, mpi.Unequal}, {world, mpi.Unequal}} {
			got, err := s.c.Compare(x.d)
			ok(t, err)
			back, err := x.d.Compare(s.c)
			ok(t, err)
			if got != x.want || back != x.want {
				t.Errorf("compared: %v and %v, want %v", got, back, x.want)
			}
		}
		d, err := s.c.Dup()
		ok(t, err)
		got, err := s.c.Compare(d)
		ok(t, err)
		if got != mpi.Congruent {
			t.Errorf("a duplicate is %v", got)
		}
		ok(t, d.Free())
		// The same groups, one of them in another order.
		turned, err := s.c.Split(0, -world.Rank())
		ok(t, err)
		got, err = s.c.Compare(turned)
		if err != nil || got != mpi.Similar {
			t.Errorf("turned round it is %v (%v)", got, err)
		}
		ok(t, turned.Free())
		ok(t, s.c.SetName("bridge"))
		if s.c.Name() != "bridge" {
			t.Errorf("the name is %q", s.c.Name())
		}
		_, err = mpi.WinAllocate[int](s.c, 1)
		wantClass(t, err, mpi.ErrComm)
		_, err = s.c.WinCreateDynamic()
		wantClass(t, err, mpi.ErrComm)
		own, err := s.c.Group()
		ok(t, err)
		_, err = s.c.CreateGroup(own, 1)
		wantClass(t, err, mpi.ErrComm)
		_, err = mpi.IntercommCreate(s.c, 0, world, 0, 1)
		wantClass(t, err, mpi.ErrComm)
		s.free(t)
	})
}

// 3.2, 7.6: ranks of messages are ranks of the remote group.
func TestCOM01_PointToPoint(t *testing.T) {
	mpitest.Run(t, 5, func(t testing.TB, world *mpi.Comm) {
		s := between(t, world, 2)
		c, me := s.c, s.c.Rank()
		n := c.RemoteSize()
		for _, size := range []int{0, 1, 1000, 1 << 18} {
			out := make([]byte, size)
			for i := range out {
				out[i] = byte(world.Rank() + i)
			}
			var sends []mpi.Request
			for r := range n {
				switch r % 3 {
				case 0:
					sends = append(sends, mpi.Isend(c, out, r, me))
				case 1:
					sends = append(sends, mpi.Issend(c, out, r, me))
				default:
					p := mpi.SendInit(c, out, r, me)
					ok(t, p.Start())
					sends = append(sends, p)
				}
			}
			seen := make([]bool, n)
			for range n {
				st, err := c.Probe(mpi.AnySource, mpi.AnyTag)
				ok(t, err)
				in := make([]byte, size)
				got, err := mpi.Recv(c, in, st.Source, st.Tag)
				ok(t, err)
				if st.Source != st.Tag || seen[st.Source] || got.Source != st.Source || size > 0 && in[size-1] != byte(s.theirs[st.Source]+size-1) {
					t.Errorf("%d bytes from %d with tag %d", size, got.Source, got.Tag)
				}
				seen[st.Source] = true
			}
			for _, q := range sends {
				_, err := q.Wait()
				ok(t, err)
			}
			ok(t, c.Barrier())
		}
		_, err := mpi.Sendrecv(c, []int{1}, mpi.ProcNull, 0, []int{0}, mpi.ProcNull, 0)
		ok(t, err)
		for _, rank := range []int{-7, n} {
			err := mpi.Send(c, []int{1}, rank, 0)
			wantClass(t, err, mpi.ErrRank)
			if want := fmt.Sprintf("of a remote group of size %d", n); !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			_, err = mpi.Recv(c, []int{1}, rank, 0)
			wantClass(t, err, mpi.ErrRank)
		}
		s.free(t)
	})
}
