package mpi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// What a session leaves ends with it, unless strict_finalize asks for an error; pending operations
// are an error.
func TestXSES01_FinalizeWithLiveObjects(t *testing.T) {
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p, mpi.StrictFinalize(true))
		c := commOf(t, s, mpi.PsetWorld)
		w, err := mpi.WinAllocate[byte](c, 1)
		ok(t, err)
		err = s.Finalize()
		wantClass(t, err, mpi.ErrPending)
		if !strings.Contains(err.Error(), "1 communicators and 1 windows") {
			t.Errorf("%v", err)
		}
		ok(t, w.Free())
		ok(t, c.Disconnect())
		ok(t, s.Finalize())

		s = opened(t, p)
		c = commOf(t, s, mpi.PsetWorld)
		r := mpi.Irecv(c, make([]byte, 1), 1-p.Rank, 1)
		wantClass(t, s.Finalize(), mpi.ErrPending)
		ok(t, c.Barrier())
		ok(t, mpi.Send(c, []byte{1}, 1-p.Rank, 1))
		ok(t, waitFor(r))
		w, err = mpi.WinAllocate[byte](c, 1)
		ok(t, err)
		ok(t, s.Finalize())
		for name, err := range map[string]error{"communicator": c.Barrier(), "window": w.Fence(0)} {
			if err == nil || !strings.Contains(err.Error(), "session of the "+name) {
				t.Errorf("%s after Finalize: %v", name, err)
			}
		}
	})
}

// A session is not finalized while an epoch of one of its windows is open, of whatever kind.
func TestXSES01_FinalizeWithOpenEpochs(t *testing.T) {
	for _, check := range []string{"0", "1"} {
		t.Setenv("HALO_CHECK", check)
		everywhere(t, 2, []string{"inproc@01"}, func(t testing.TB, p *mpitest.Process) {
			s := opened(t, p)
			c := commOf(t, s, mpi.PsetWorld)
			w, err := mpi.WinAllocate[int64](c, 1)
			ok(t, err)
			ok(t, w.SetName("bread"))
			peer := 1 - p.Rank
			group, err := groupOf(t, s, mpi.PsetWorld).Incl([]int{peer})
			ok(t, err)
			epochs := []struct {
				begin, end func() error
				says       string
			}{
				{func() error { return w.LockAll(0) }, w.UnlockAll, "all targets are locked"},
				{func() error { return w.Lock(mpi.LockShared, peer, 0) }, func() error { return w.Unlock(peer) }, "targets are locked"},
				{func() error { return w.Fence(0) }, func() error { return w.Fence(mpi.ModeNoSucceed) }, "fence"},
				{func() error { return w.Start(group, 0) }, w.Complete, "Start"},
				{func() error { return w.Post(group, 0) }, w.Wait, "Post"},
			}
			for _, e := range epochs {
				access := e.says != "Post"
				if e.says == "Start" {
					ok(t, w.Post(group, 0))
				}
				ok(t, e.begin())
				if access {
					ok(t, w.Put([]int64{int64(p.Rank) + 1}, peer, 0))
				}
				err := s.Finalize()
				wantClass(t, err, mpi.ErrRMASync)
				if text := err.Error(); !strings.Contains(text, "Finalize on session 1: window bread: ") || !strings.Contains(text, e.says) ||
					check == "1" && !strings.Contains(text, "session_errors_test.go") {
					t.Errorf("%v", err)
				}
				if !access {
					ok(t, w.Start(group, 0))
					ok(t, w.Complete())
				}
				ok(t, e.end())
				if e.says == "Start" {
					ok(t, w.Wait())
				}
				ok(t, c.Barrier())
				if access && w.Local()[0] != int64(peer)+1 {
					t.Errorf("%s: the window has %d", e.says, w.Local()[0])
				}
				ok(t, c.Barrier()) // the peer's next Put waits until the value has been read
			}
			ok(t, w.Free())
			ok(t, c.Free())
			ok(t, s.Finalize())
		})
	}
}

// The world model can be finalized while an epoch of a session's window is open.
func TestXSES01_EpochsBesideTheWorldModel(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		w, err := mpi.WinAllocate[int64](commOf(t, s, mpi.PsetWorld), 1)
		ok(t, err)
		ok(t, w.LockAll(0))
		world, err := p.Init()
		ok(t, err)
		ok(t, world.Barrier())
		ok(t, p.Finalize())
		ok(t, w.Put([]int64{3}, 1-p.Rank, 0))
		ok(t, w.UnlockAll())
		ok(t, w.Free())
		ok(t, s.Finalize())
	})
}

// In checking mode requests of two sessions, or of a session and the world model, are not completed by
// one call; those of one of them and a generalized request are.
func TestXSES01_RequestsOfTwoSessions(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	everywhere(t, 1, nil, func(t testing.TB, p *mpitest.Process) {
		world, err := p.Init()
		ok(t, err)
		s, other := opened(t, p), opened(t, p)
		c, d := commOf(t, s, mpi.PsetSelf), commOf(t, other, mpi.PsetSelf)
		for _, x := range []struct {
			c    *mpi.Comm
			says string
		}{{world, "the world model"}, {d, "session 2"}} {
			rs := []mpi.Request{{}, mpi.Irecv(c, []byte{0}, 0, 1), mpi.Irecv(x.c, []byte{0}, 0, 1)}
			want := "request 1 is of session 1, and request 2 of " + x.says
			for name, err := range map[string]error{
				"Waitall":  mpi.Waitall(rs, nil),
				"Waitany":  third(mpi.Waitany(rs)),
				"Testany":  fourth(mpi.Testany(rs)),
				"Waitsome": second(mpi.Waitsome(rs, make([]int, 3), nil)),
				"Testsome": second(mpi.Testsome(rs, make([]int, 3), nil)),
			} {
				wantClass(t, err, mpi.ErrSession)
				if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", name, err, want)
				}
			}
			ok(t, mpi.Send(c, []byte{1}, 0, 1))
			ok(t, mpi.Send(x.c, []byte{1}, 0, 1))
			g := world.StartGrequest(mpi.Grequest{})
			ok(t, g.Complete())
			ok(t, mpi.Waitall([]mpi.Request{rs[1], g}, nil))
			ok(t, waitFor(rs[2]))
		}
		ok(t, c.Free())
		ok(t, d.Free())
		ok(t, s.Finalize())
		ok(t, other.Finalize())
		ok(t, p.Finalize())
	})
}

// Objects of two sessions, or of a session and the world model, in one call are ErrSession.
func TestXSES01_ObjectsOfTwoSessions(t *testing.T) {
	everywhere(t, 1, nil, func(t testing.TB, p *mpitest.Process) {
		world, err := p.Init()
		ok(t, err)
		s, other := opened(t, p), opened(t, p)
		c := commOf(t, s, mpi.PsetWorld)
		w, err := mpi.WinAllocate[byte](c, 1)
		ok(t, err)
		worldGroup, err := world.Group()
		ok(t, err)
		for _, x := range []struct {
			from string
			g    mpi.Group
			c    *mpi.Comm
		}{{"session 2", groupOf(t, other, mpi.PsetWorld), commOf(t, other, mpi.PsetWorld)}, {"the world model", worldGroup, world}} {
			mine := groupOf(t, s, mpi.PsetWorld)
			for call, do := range map[string]func() error{
				"Union":           func() error { _, err := mine.Union(x.g); return err },
				"Compare":         func() error { _, err := x.g.Compare(mine); return err },
				"TranslateRanks":  func() error { _, err := mine.TranslateRanks([]int{0}, x.g); return err },
				"Create":          func() error { _, err := c.Create(x.g); return err },
				"CreateGroup":     func() error { _, err := c.CreateGroup(x.g, 1); return err },
				"Compare ":        func() error { _, err := c.Compare(x.c); return err },
				"IntercommCreate": func() error { _, err := mpi.IntercommCreate(c, 0, x.c, 0, 1); return err },
				"Start":           func() error { return w.Start(x.g, 0) },
				"IntercommFromGroups": func() error {
					_, err := mpi.IntercommFromGroups(mine, 0, x.g, 0, "", mpi.ErrorsReturn)
					return err
				},
			} {
				err := do()
				wantClass(t, err, mpi.ErrSession)
				if !strings.Contains(err.Error(), strings.TrimSpace(call)) || !strings.Contains(err.Error(), "session 1") || !strings.Contains(err.Error(), x.from) {
					t.Errorf("%s: %v", call, err)
				}
			}
		}
		ok(t, w.Free())
		ok(t, s.Finalize())
		ok(t, other.Finalize())
		ok(t, p.Finalize())
	})
}

// Arguments that no call takes: class, message and error handler.
func TestXSES01_BadInput(t *testing.T) {
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		var told []string
		note := func(of string) func(e *mpi.Error) { return func(e *mpi.Error) { told = append(told, of+" "+e.Call) } }
		ofSession := mpi.CreateSessionErrhandler(func(s *mpi.Session, e *mpi.Error) { note("session")(e) })
		ofComm := mpi.CreateCommErrhandler(func(c *mpi.Comm, e *mpi.Error) {
			if c != nil {
				t.Error("the handler of a communicator that was not made gets one")
			}
			note("comm")(e)
		})
		s, err := p.OpenSession(ofSession)
		ok(t, err)
		if h, err := s.Errhandler(); err != nil || h != ofSession {
			t.Errorf("handler %v, %v", h, err)
		}
		world := groupOf(t, s, mpi.PsetWorld)
		other, err := world.Excl([]int{p.Rank})
		ok(t, err)
		from := func(g mpi.Group, tag string, h mpi.Errhandler) func() error {
			return func() error { _, err := mpi.CommFromGroup(g, tag, h); return err }
		}
		for _, x := range []struct {
			class mpi.Class
			text  string
			told  string
			call  func() error
		}{
			{mpi.ErrArg, `no process set is called "mpi://none"; there are "mpi://WORLD", "mpi://SELF"`, "session Group", func() error { _, err := s.Group("mpi://none"); return err }},
			{mpi.ErrArg, `"halo://app/0"`, "session PsetInfo", func() error { _, err := s.PsetInfo("halo://app/1"); return err }},
			{mpi.ErrGroup, "not in the group of 1", "comm CommFromGroup", from(other, "a", ofComm)},
			{mpi.ErrArg, "tag of 1024 bytes, the limit is 1023", "comm CommFromGroup", from(world, strings.Repeat("x", 1024), ofComm)},
			{mpi.ErrErrhandler, "made for a session, not for a communicator", "session CommFromGroup", from(world, "b", ofSession)},
			{mpi.ErrErrhandler, "null", "session CommFromGroup", from(world, "c", mpi.Errhandler{})},
			{mpi.ErrErrhandler, "made for a communicator, not for a session", "session SetErrhandler", func() error { return s.SetErrhandler(ofComm) }},
			{mpi.ErrInfoValue, `thread_level is "none", want MPI_THREAD_SINGLE`, "session OpenSession", func() error {
				i := mpi.NewInfo()
				ok(t, i.Set("thread_level", "none"))
				_, err := p.OpenSession(ofSession, i)
				return err
			}},
			{mpi.ErrErrhandler, "made for a communicator", "", func() error { _, err := p.OpenSession(ofComm); return err }},
			{mpi.ErrGroup, "overlap: rank 0 of the local group is rank 0 of the remote one", "comm IntercommFromGroups", func() error {
				_, err := mpi.IntercommFromGroups(groupOf(t, s, mpi.PsetSelf), 0, world, 0, "d", ofComm)
				if p.Rank == 1 { // there it is rank 1
					return nil
				}
				return err
			}},
			{mpi.ErrRank, "local leader 2 in a group of 2", "comm IntercommFromGroups", func() error { _, err := mpi.IntercommFromGroups(world, 2, other, 0, "e", ofComm); return err }},
			{mpi.ErrRank, "remote leader 1 in a group of 1", "comm IntercommFromGroups", func() error {
				_, err := mpi.IntercommFromGroups(groupOf(t, s, mpi.PsetSelf), 0, other, 1, "f", ofComm)
				return err
			}},
			{mpi.ErrArg, "of my own", "session CallErrhandler", func() error {
				return s.CallErrhandler(&mpi.Error{Class: mpi.ErrArg, Call: "CallErrhandler", Peer: mpi.Undefined, Tag: mpi.Undefined, Detail: "of my own"})
			}},
		} {
			told = nil
			err := x.call()
			if err == nil && strings.Contains(x.text, "overlap") {
				continue
			}
			wantClass(t, err, x.class)
			if !strings.Contains(err.Error(), x.text) {
				t.Errorf("%v: want %q", err, x.text)
			}
			if got := strings.Join(told, ", "); got != x.told {
				t.Errorf("%v: told %q, want %q", err, got, x.told)
			}
		}
		if c, err := mpi.CommFromGroup(mpi.GroupEmpty, "", mpi.ErrorsReturn); c != nil || err != nil {
			t.Errorf("no members: %v, %v", c, err)
		}
		ok(t, s.Finalize())
		told = nil
		wantClass(t, s.Finalize(), mpi.ErrSession)
		_, err = s.Psets()
		wantClass(t, err, mpi.ErrSession)
		wantClass(t, from(world, "g", mpi.ErrorsReturn)(), mpi.ErrSession)
		wantClass(t, (*mpi.Session)(nil).Finalize(), mpi.ErrSession)
		if !slices.Equal(told, []string{"session Finalize", "session Psets"}) {
			t.Errorf("told %q", told)
		}
	})
}

// A call whose arguments are wrong at one member fails at all, so that nobody waits, and the next
// one succeeds.
func TestXSES01_AllMembersFail(t *testing.T) {
	everywhere(t, 3, []string{"inproc@011"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		h := mpi.ErrorsReturn
		if p.Rank == 1 {
			h = mpi.Errhandler{}
		}
		_, err := mpi.CommFromGroup(groupOf(t, s, mpi.PsetWorld), "test", h)
		wantClass(t, err, mpi.ErrErrhandler)
		if p.Rank != 1 && !strings.Contains(err.Error(), "rank 1 of the group has failed") {
			t.Errorf("%v", err)
		}
		sums(t, commOf(t, s, mpi.PsetWorld), 3)
		ok(t, s.Finalize())
	})
}

// An intercommunicator whose call fails at a member of one group fails at all of both.
func TestXSES01_BothGroupsFail(t *testing.T) {
	everywhere(t, 3, []string{"inproc@011"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		world := groupOf(t, s, mpi.PsetWorld)
		local, err := world.Incl([]int{0, 1})
		ok(t, err)
		remote, err := world.Incl([]int{2})
		ok(t, err)
		h := mpi.ErrorsReturn
		switch p.Rank {
		case 1:
			h = mpi.Errhandler{}
		case 2:
			local, remote = remote, local
		}
		_, err = mpi.IntercommFromGroups(local, 0, remote, 0, "test", h)
		wantClass(t, err, mpi.ErrErrhandler)
		if p.Rank == 2 && !strings.Contains(err.Error(), "the other group has failed") {
			t.Errorf("%v", err)
		}
		ok(t, s.Finalize())
	})
}

// ErrorsAbort on a session ends the process; among goroutines it panics, which ends the rank.
func TestXSES01_ErrorsAbortOnASession(t *testing.T) {
	everywhere(t, 1, nil, func(t testing.TB, p *mpitest.Process) {
		s, err := p.OpenSession(mpi.ErrorsAbort)
		ok(t, err)
		defer func() {
			if e, is := recover().(*mpi.Error); !is || e.Class != mpi.ErrArg || e.Object != "session 1" {
				t.Errorf("ErrorsAbort: %v", e)
			}
			ok(t, s.Finalize())
		}()
		s.Group("none")
	})
}

// In checking mode sessions compare messages and collectives as the world model does, whether
// their processes have met before or not.
func TestXSES01_CheckingMode(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	everywhere(t, 2, []string{"inproc@01"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		c := commOf(t, s, mpi.PsetWorld)
		if p.Rank == 0 {
			ok(t, mpi.Send(c, []int32{1}, 1, 0))
		} else {
			_, err := mpi.Recv(c, make([]float32, 1), 0, 0)
			wantClass(t, err, mpi.ErrType)
		}
		wantClass(t, mpi.Bcast(c, []int{1}, p.Rank), mpi.ErrRoot)
		two := groupOf(t, s, mpi.PsetSelf)
		other, err := groupOf(t, s, mpi.PsetWorld).Difference(two)
		ok(t, err)
		i, err := mpi.IntercommFromGroups(two, 0, other, 0, "", mpi.ErrorsReturn)
		ok(t, err)
		ok(t, i.Barrier())
		ok(t, i.Free())
		ok(t, c.Free())
		ok(t, s.Finalize())
	})
}
