package mpi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// everywhere runs fn over each fabric, and over pretended hosts. It panics if a process waits for
// ever.
func everywhere(t *testing.T, n int, hosts []string, fn func(t testing.TB, p *mpitest.Process)) {
	t.Helper()
	defer testrun.Watch(t.Name() + ": a process waits for ever")()
	mpitest.RunProcesses(t, n, fn)
	for _, fabric := range hosts {
		t.Run(fabric, func(t *testing.T) { mpitest.ProcessesOn(t, fabric, n, fn) })
	}
}

// opened is a session whose errors are returned.
func opened(t testing.TB, p *mpitest.Process, hints ...mpi.SessionHint) *mpi.Session {
	t.Helper()
	s, err := p.OpenSession(mpi.ErrorsReturn, hints...)
	ok(t, err)
	return s
}

// groupOf is the group of a process set.
func groupOf(t testing.TB, s *mpi.Session, name string) mpi.Group {
	t.Helper()
	g, err := s.Group(name)
	ok(t, err)
	return g
}

// commOf is the communicator of a process set.
func commOf(t testing.TB, s *mpi.Session, name string) *mpi.Comm {
	t.Helper()
	c, err := mpi.CommFromGroup(groupOf(t, s, name), "test", mpi.ErrorsReturn)
	ok(t, err)
	return c
}

// sums checks that collectives and messages work on c, which has n members.
func sums(t testing.TB, c *mpi.Comm, n int) {
	t.Helper()
	if c.Size() != n {
		t.Fatalf("a communicator of %d, want %d", c.Size(), n)
	}
	in, out := []int64{int64(c.Rank() + 1)}, []int64{0}
	ok(t, mpi.Allreduce(c, in, out, mpi.Sum))
	if out[0] != int64(n*(n+1)/2) {
		t.Fatalf("sum of %d ranks: %d", n, out[0])
	}
	next, last := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	got := []int64{-1}
	_, err := mpi.Sendrecv(c, in, next, 3, got, last, 3)
	ok(t, err)
	if got[0] != int64(last+1) {
		t.Fatalf("rank %d receives %d from rank %d", c.Rank(), got[0], last)
	}
}

// A session without Init: process sets, groups, communicators, and windows of them.
func TestXSES01_SessionsWithoutInit(t *testing.T) {
	everywhere(t, 3, []string{"inproc@001", "tcp@010"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		c := commOf(t, s, mpi.PsetWorld)
		if c.Rank() != p.Rank {
			t.Fatalf("process %d has rank %d", p.Rank, c.Rank())
		}
		sums(t, c, 3)
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		ok(t, w.Fence(0))
		ok(t, w.Accumulate([]int64{int64(p.Rank + 1)}, 0, 0, mpi.Sum))
		ok(t, w.Fence(0))
		if p.Rank == 0 && w.Local()[0] != 6 {
			t.Fatalf("the window has %d", w.Local()[0])
		}
		ok(t, w.Free())
		self := commOf(t, s, mpi.PsetSelf)
		sums(t, self, 1)
		ok(t, self.Free())
		ok(t, c.Free())
		ok(t, s.Finalize())
	})
}

// Communicators that some processes make do not need the others, which never call anything.
func TestXSES01_CommFromGroupOfSome(t *testing.T) {
	everywhere(t, 4, []string{"inproc@0101", "tcp@0011"}, func(t testing.TB, p *mpitest.Process) {
		if p.Rank%2 == 0 {
			return
		}
		s := opened(t, p)
		g, err := groupOf(t, s, mpi.PsetWorld).Incl([]int{3, 1})
		ok(t, err)
		c, err := mpi.CommFromGroup(g, "odd", mpi.ErrorsReturn)
		ok(t, err)
		if c.Rank() != 1-p.Rank/2 {
			t.Fatalf("process %d has rank %d", p.Rank, c.Rank())
		}
		sums(t, c, 2)
		ok(t, s.Finalize())
	})
}

// Calls with different tags at the same time do not mix, although the goroutines of each process
// make them in another order.
func TestXSES01_TagsTellCallsApart(t *testing.T) {
	const calls = 6
	everywhere(t, 3, []string{"inproc@011"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		g := groupOf(t, s, mpi.PsetWorld)
		comms, errs := make([]*mpi.Comm, calls), make([]error, calls)
		var all sync.WaitGroup
		for i := range calls {
			k := (i + 2*p.Rank) % calls
			all.Go(func() { comms[k], errs[k] = mpi.CommFromGroup(g, fmt.Sprint("call ", k), mpi.ErrorsReturn) })
		}
		all.Wait()
		for k, c := range comms {
			ok(t, errs[k])
			out := []int64{0}
			ok(t, mpi.Allreduce(c, []int64{int64(k)}, out, mpi.Sum))
			if out[0] != int64(3*k) {
				t.Fatalf("call %d of process %d has made a communicator with others: sum %d", k, p.Rank, out[0])
			}
		}
		ok(t, s.Finalize())
	})
}

// The same call again, one after the other, makes other communicators.
func TestXSES01_TheSameTagAgain(t *testing.T) {
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		c, d := commOf(t, s, mpi.PsetWorld), commOf(t, s, mpi.PsetWorld)
		if how, err := c.Compare(d); err != nil || how != mpi.Congruent {
			t.Fatalf("two communicators compare as %v, %v", how, err)
		}
		ok(t, mpi.Send(d, []byte{2}, 1-p.Rank, 0))
		ok(t, mpi.Send(c, []byte{1}, 1-p.Rank, 0))
		for i, x := range []*mpi.Comm{c, d} {
			b := []byte{0}
			_, err := mpi.Recv(x, b, mpi.AnySource, 0)
			ok(t, err)
			if int(b[0]) != i+1 {
				t.Fatalf("communicator %d has got the message of %d", i, b[0]-1)
			}
		}
		ok(t, s.Finalize())
	})
}

// Sessions beside each other and the world model, before and after it and again after Finalize.
func TestXSES01_SessionsAndTheWorldModel(t *testing.T) {
	everywhere(t, 2, []string{"inproc@01"}, func(t testing.TB, p *mpitest.Process) {
		first := opened(t, p)
		a := commOf(t, first, mpi.PsetWorld)
		sums(t, a, 2)
		world, err := p.Init()
		ok(t, err)
		second := opened(t, p)
		b := commOf(t, second, mpi.PsetWorld)
		for _, c := range []*mpi.Comm{a, b, world} {
			sums(t, c, 2)
		}
		ok(t, first.Finalize())
		for _, c := range []*mpi.Comm{b, world} {
			sums(t, c, 2)
		}
		wantClass(t, a.Free(), mpi.ErrComm)
		// Messages of the session that are sent before the world model ends stay.
		ok(t, mpi.Send(b, []byte{42}, 1-p.Rank, 5))
		sent := mpi.Isend(b, make([]byte, 1<<20), 1-p.Rank, 6)
		ok(t, p.Finalize())
		got := make([]byte, 1<<20)
		for _, tag := range []int{5, 6} {
			_, err := mpi.Recv(b, got, 1-p.Rank, tag)
			ok(t, err)
		}
		ok(t, waitFor(sent))
		wantClass(t, world.Barrier(), mpi.ErrOther)
		sums(t, b, 2)
		ok(t, second.Finalize())
		for range 2 {
			third := opened(t, p)
			sums(t, commOf(t, third, mpi.PsetWorld), 2)
			ok(t, third.Finalize())
		}
	})
}

// A process that ends its session does not disturb collectives of others that still need some of
// its members: Finalize and Disconnect wait for these.
func TestXSES01_FinalizeWaitsForTheOthers(t *testing.T) {
	for _, disconnect := range []bool{false, true} {
		var mu sync.Mutex
		in := map[string]int{} // how many have begun to end a session, by test
		everywhere(t, 3, []string{"inproc@011"}, func(t testing.TB, p *mpitest.Process) {
			s := opened(t, p)
			c := commOf(t, s, mpi.PsetWorld)
			d, err := c.Dup()
			ok(t, err)
			sums(t, d, 3)
			mu.Lock()
			in[t.Name()]++
			mu.Unlock()
			if disconnect {
				ok(t, d.Free())
				ok(t, c.Disconnect())
			} else {
				ok(t, c.Free())
				ok(t, s.Finalize())
			}
			mu.Lock()
			n := in[t.Name()]
			mu.Unlock()
			if n != 3 {
				t.Errorf("process %d has left when %d of 3 members had called", p.Rank, n)
			}
			if disconnect {
				ok(t, s.Finalize())
			}
		})
	}
}

// The process sets of a job: all, one, by host, by block.
func TestXSES01_ProcessSets(t *testing.T) {
	everywhere(t, 3, []string{"inproc@010"}, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		names, err := s.Psets()
		ok(t, err)
		if len(names) < 4 || names[0] != mpi.PsetWorld || names[1] != mpi.PsetSelf || !strings.HasPrefix(names[2], "halo://host/") || names[len(names)-1] != "halo://app/0" {
			t.Fatalf("process sets %q", names)
		}
		onHosts := 0
		for _, name := range names {
			g := groupOf(t, s, name)
			i, err := s.PsetInfo(name)
			ok(t, err)
			if size, _ := i.Get("mpi_size"); size != fmt.Sprint(g.Size()) {
				t.Errorf("%s has %s processes, its group %d", name, size, g.Size())
			}
			if strings.HasPrefix(name, "halo://host/") {
				onHosts += g.Size()
			}
		}
		if n := groupOf(t, s, "halo://app/0").Size(); onHosts != 3 || n != 3 || groupOf(t, s, mpi.PsetSelf).Rank() != 0 {
			t.Errorf("%d on hosts, %d in block 0", onHosts, n)
		}
		ok(t, s.Finalize())
	})
}

// Intercommunicators between groups, while processes in neither take no part.
func TestXSES01_IntercommFromGroups(t *testing.T) {
	everywhere(t, 4, []string{"inproc@0110", "tcp@0011"}, func(t testing.TB, p *mpitest.Process) {
		if p.Rank == 3 {
			return
		}
		s := opened(t, p)
		world := groupOf(t, s, mpi.PsetWorld)
		two, err := world.Incl([]int{2, 0})
		ok(t, err)
		one, err := world.Incl([]int{1})
		ok(t, err)
		local, remote, leader, other := two, one, 1, 0
		if p.Rank == 1 {
			local, remote, leader, other = one, two, 0, 1
		}
		c, err := mpi.IntercommFromGroups(local, leader, remote, other, "between", mpi.ErrorsReturn)
		ok(t, err)
		if !c.Inter() || c.Size() != local.Size() || c.RemoteSize() != remote.Size() {
			t.Fatalf("groups of %d and %d", c.Size(), c.RemoteSize())
		}
		m, err := c.Merge(p.Rank == 1)
		ok(t, err)
		sums(t, m, 3)
		ok(t, c.Free())
		ok(t, s.Finalize())
	})
}

// Buffers for messages in buffered mode: that of the communicator, then that of the session, then
// that of the process.
func TestXSES01_SessionBuffer(t *testing.T) {
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		s := opened(t, p)
		c := commOf(t, s, mpi.PsetWorld)
		wantClass(t, mpi.Bsend(c, []byte{1}, 1-p.Rank, 0), mpi.ErrBuffer)
		room := make([]byte, 1000+mpi.BsendOverhead)
		ok(t, s.AttachBuffer(room))
		wantClass(t, s.AttachBuffer(nil), mpi.ErrBuffer)
		ok(t, mpi.Bsend(c, make([]byte, 1000), 1-p.Rank, 0))
		_, err := mpi.Recv(c, make([]byte, 1000), 1-p.Rank, 0)
		ok(t, err)
		ok(t, s.FlushBuffer())
		wantClass(t, mpi.Bsend(c, make([]byte, 2000), 1-p.Rank, 0), mpi.ErrBuffer)
		ok(t, c.AttachBuffer(nil)) // takes precedence
		ok(t, mpi.Bsend(c, make([]byte, 2000), 1-p.Rank, 0))
		_, err = mpi.Recv(c, make([]byte, 2000), 1-p.Rank, 0)
		ok(t, err)
		q := s.IflushBuffer()
		ok(t, waitFor(q))
		b, err := s.DetachBuffer()
		ok(t, err)
		if len(b) != len(room) || &b[0] != &room[0] {
			t.Errorf("another buffer of %d bytes", len(b))
		}
		_, err = s.DetachBuffer()
		wantClass(t, err, mpi.ErrBuffer)
		ok(t, s.AttachBuffer(nil)) // Finalize detaches it
		ok(t, s.Finalize())
	})
}

// Info of a session, and the kinds of memory, which its communicators and windows tell, too.
func TestXMEM01_MemoryAllocKinds(t *testing.T) {
	everywhere(t, 1, nil, func(t testing.TB, p *mpitest.Process) {
		for requested, want := range map[string]string{
			"":                                      "mpi,system",
			"cuda,level_zero:device":                "mpi,system",
			"system, cuda:device ,mpi":              "system,mpi",
			"mpi:alloc_mem:win_allocate,mpi":        "mpi:alloc_mem:win_allocate,mpi",
			"mpi:other,system:alloc_mem,mpi":        "mpi",
			"system,system,mpi:win_allocate_shared": "system,mpi:win_allocate_shared",
		} {
			i := mpi.NewInfo()
			ok(t, i.Set("mpi_memory_alloc_kinds", requested))
			s := opened(t, p, i)
			c := commOf(t, s, mpi.PsetSelf)
			w, err := mpi.WinAllocate[byte](c, 1)
			ok(t, err)
			for _, info := range []func() (*mpi.Info, error){s.Info, c.Info, w.Info} {
				i, err := info()
				ok(t, err)
				if got, _ := i.Get("mpi_memory_alloc_kinds"); got != want {
					t.Errorf("requested %q: %q, want %q", requested, got, want)
				}
			}
			i, err = s.Info()
			ok(t, err)
			if level, _ := i.Get("thread_level"); level != "MPI_THREAD_MULTIPLE" {
				t.Errorf("thread level %q", level)
			}
			ok(t, w.Free())
			ok(t, s.Finalize())
		}
	})
}
