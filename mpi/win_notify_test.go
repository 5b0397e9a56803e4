package mpi_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Every operation with a notification, on windows of every kind, in epochs of every kind that
// end much later: to the next rank and to the rank itself. A rank that has waited for the
// notification finds the data by plain loads.
func TestQV38_SYN39_NotifiedOperations(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, size := c.Rank(), c.Size()
		const long = 25_000 // several frames
		int64s := typeOf[int64]()
		every2nd := typ(t)(mpi.TypeVector(40, 1, 2, int64s))
		for _, e := range epochs(t, c) {
			onSpaces(t, c, long+200, func(t testing.TB, s *space[int64]) {
				t = labelled{t, e.name}
				to, from := (me+1)%size, (me+size-1)%size
				of := func(rank, i int) int64 { return int64(rank+1)*1_000_000 + int64(i) }
				data := make([]int64, long)
				for i := range data {
					data[i] = of(me, i)
				}
				for i := range 10 {
					s.mem[long+150+i] = of(me, i)
				}
				ok(t, c.Barrier())
				await := func(counter int, what string, ready func() bool) {
					t.Helper()
					r := s.IwaitNotify(counter, 1)
					ok(t, second(r.Wait()))
					if !ready() { // not Fatal: other ranks wait for notifications of this rank
						t.Errorf("notified of %s that is not done", what)
					}
				}
				back, old, was := make([]int64, 10), make([]int64, 3), int64(0)
				one, zero, nine, got := int64(1), int64(0), int64(9), int64(0)
				ok(t, e.open(s.Window))
				ok(t, s.PutNotify(data[:7], to, s.at(to, 0), 1))
				ok(t, s.Untyped().PutNotify(mpi.Buf(data[:40]), to, int64(s.at(to, 20)), 1, every2nd, 2))
				ok(t, s.PutNotify(data, to, s.at(to, 150), 3))
				ok(t, s.AccumulateNotify(data[:5], to, s.at(to, 10), mpi.Sum, 4))
				ok(t, s.GetNotify(back, to, s.at(to, long+150), 5))
				ok(t, s.GetAccumulateNotify(data[:3], old, to, s.at(to, 120), mpi.Sum, 6))
				ok(t, s.FetchAndOpNotify(&one, &was, to, s.at(to, 130), mpi.Sum, 7))
				ok(t, s.CompareAndSwapNotify(&nine, &zero, &got, to, s.at(to, 131), 8))
				ok(t, s.PutNotify(nil, to, s.at(to, 0), 9))
				ok(t, s.PutNotify(data[:1], mpi.ProcNull, 0, 10))
				ok(t, s.PutNotify(data[:1], me, s.at(me, 140), 11))
				await(11, "a put to itself", func() bool { return s.mem[140] == of(me, 0) })
				await(9, "nothing", func() bool { return true })
				await(8, "a compare-and-swap", func() bool { return s.mem[131] == 9 })
				await(7, "a fetch-and-op", func() bool { return s.mem[130] == 1 })
				await(6, "a get-accumulate", func() bool { return s.mem[122] == of(from, 2) })
				await(4, "an accumulate", func() bool { return s.mem[10] == of(from, 0) && s.mem[14] == of(from, 4) })
				await(3, "a long put", func() bool {
					for i := range data {
						if s.mem[150+i] != of(from, i) {
							return false
						}
					}
					return true
				})
				await(2, "a strided put", func() bool {
					for i := range 40 {
						if s.mem[20+2*i] != of(from, i) || s.mem[21+2*i] != 0 {
							return false
						}
					}
					return true
				})
				await(1, "a put", func() bool { return slices.Equal(s.mem[:3], []int64{of(from, 0), of(from, 1), of(from, 2)}) })
				await(5, "a get", func() bool { s.mem[long+155] = -1; return true })
				if e.passive {
					ok(t, mpi.Waitall([]mpi.Request{
						s.RputNotify(data[:2], to, s.at(to, 142), 12), s.RgetNotify(make([]int64, 2), to, s.at(to, 0), 12),
						s.RaccumulateNotify(data[:1], to, s.at(to, 145), mpi.Sum, 12),
						s.RgetAccumulateNotify(data[:1], make([]int64, 1), to, s.at(to, 146), mpi.Sum, 12), s.IwaitNotify(12, 4),
					}, nil))
					if s.mem[143] != of(from, 1) || s.mem[145] != of(from, 0) || s.mem[146] != of(from, 0) {
						t.Errorf("memory %v after the requests", s.mem[142:147])
					}
				}
				ok(t, e.close(s.Window))
				for i, v := range back {
					if v != of(to, i) {
						t.Fatalf("got %v at %d", v, i)
					}
				}
				if was != 0 || got != 0 || !slices.Equal(old, []int64{0, 0, 0}) {
					t.Errorf("fetched %d %d %v", was, got, old)
				}
				for i := range 14 {
					if n, err := s.NotifyGet(i); n != 0 || err != nil {
						t.Errorf("counter %d is %d after all were taken, %v", i, n, err)
					}
				}
				clear(s.mem)
				ok(t, c.Barrier())
			})
		}
	})
}

// Operations that wait for the post of their target notify it when they are carried out, not
// before, and in the order of the calls.
func TestQV38_NotificationsOfDeferredOperations(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			all, err := c.Group()
			ok(t, err)
			others, err := all.Excl([]int{0})
			ok(t, err)
			first, err := all.Incl([]int{0})
			ok(t, err)
			if me := c.Rank(); me != 0 {
				ok(t, s.Start(first, 0))
				ok(t, s.AccumulateNotify([]int64{int64(me)}, 0, s.at(0, 0), mpi.Sum, 3))
				ok(t, s.PutNotify([]int64{}, 0, s.at(0, 0), 70)) // no data, and a counter in another chunk
				ok(t, mpi.Send(c, []int{1}, 0, 0))
				ok(t, s.Complete())
			} else {
				for r := 1; r < c.Size(); r++ {
					ok(t, second(mpi.Recv(c, make([]int, 1), r, 0)))
				}
				for _, counter := range []int{3, 70} {
					if n, err := s.NotifyGet(counter); n != 0 || err != nil || s.mem[0] != 0 {
						t.Errorf("counter %d is %d before the post, memory %v, %v", counter, n, s.mem, err)
					}
				}
				ok(t, s.Post(others, 0))
				r := s.IwaitNotify(3, c.Size()-1)
				ok(t, second(r.Wait()))
				if want := int64(c.Size() * (c.Size() - 1) / 2); s.mem[0] != want {
					t.Errorf("memory %d, want %d", s.mem[0], want)
				}
				r = s.IwaitNotify(70, c.Size()-1)
				ok(t, second(r.Wait()))
				ok(t, s.Window.Wait())
			}
		})
	})
}

// 64 goroutines in four ranks notify one counter and some others at the same time: no
// notification is lost, on any path.
func TestSYN21_ManyOriginsLoseNone(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		each, perRank := 200, 16
		if testrun.Race {
			each = 20
		}
		onSpaces(t, c, 64, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			var done mpi.Request
			if c.Rank() == 0 {
				done = s.IwaitNotify(5, each*perRank*c.Size())
			}
			var all sync.WaitGroup
			errs := make(chan error, perRank)
			for g := range perRank {
				all.Go(func() {
					at := c.Rank()*perRank + g
					for i := range each {
						if err := s.PutNotify([]int64{int64(i)}, 0, s.at(0, at), 5); err != nil {
							errs <- err
							return
						}
						if err := s.PutNotify(nil, 0, 0, mpi.NotifyMax-1-g); err != nil {
							errs <- err
							return
						}
					}
				})
			}
			all.Wait()
			close(errs)
			for err := range errs {
				t.Error(err)
			}
			if c.Rank() == 0 {
				ok(t, second(done.Wait()))
				for i := range perRank * c.Size() {
					if s.mem[i] != int64(each)-1 {
						t.Errorf("word %d is %d", i, s.mem[i])
					}
				}
				for g := range perRank {
					r := s.NotifyReach(mpi.NotifyMax-1-g, int64(each*c.Size()))
					ok(t, second(r.Wait()))
					if n, _ := s.NotifyGet(mpi.NotifyMax - 1 - g); n != int64(each*c.Size()) {
						t.Errorf("counter %d is %d", g, n)
					}
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
		})
	})
}

// A stream through a ring of slots, in both directions at the same time: after each notification
// the data of its put is there, a million times, and a slot is reused when the reader's counter
// says that it has been read.
func TestQV38_StreamOfNotifiedPuts(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		n := 1_000_000
		if testrun.Race || testing.Short() || os.Getenv("HALO_CHECK") == "1" || strings.Contains(t.Name(), "/tcp") {
			n = 20_000
		}
		const slots, width = 32, 3
		peer := 1 - c.Rank()
		w, err := mpi.WinAllocate[uint64](c, slots*width)
		ok(t, err)
		ok(t, w.NotifySetNum(2))
		ok(t, w.LockAll(0))
		of := func(i int) uint64 { return uint64(i)*0x9e3779b97f4a7c15 + uint64(peer) }
		full, free := w.NotifyInit(0, slots/2), w.NotifyInit(1, slots/2)
		half := slots / 2
		for base := 0; base < n; base += half {
			if base >= slots {
				ok(t, free.Start())
				ok(t, second(free.Wait()))
			}
			for i := base; i < base+half; i++ {
				x := uint64(i)*0x9e3779b97f4a7c15 + uint64(c.Rank())
				ok(t, w.PutNotify([]uint64{x, ^x, x + 1}[:width], peer, i%slots*width, 0))
			}
			ok(t, full.Start())
			ok(t, second(full.Wait()))
			for i := base; i < base+half; i++ {
				got := w.Local()[i%slots*width:][:width]
				if x := of(i); got[0] != x || got[1] != ^x || got[2] != x+1 {
					t.Fatalf("put %d is %x", i, got)
				}
			}
			for range half {
				ok(t, w.PutNotify(nil, peer, 0, 1))
			}
		}
		ok(t, w.UnlockAll())
		ok(t, c.Barrier())
		ok(t, full.Free())
		ok(t, free.Free())
		ok(t, w.Free())
	})
}
