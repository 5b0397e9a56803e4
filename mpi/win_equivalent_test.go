package mpi_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// QV-06: a hint says which operations a flush covers. The only flushes are those of the standard
// and their forms with requests, and a program that does not know the hint is correct with any
// value of it.
func TestQV06_ScopeIsAHint(t *testing.T) {
	var flushes []string
	for w, i := reflect.TypeFor[*mpi.Window](), 0; i < w.NumMethod(); i++ {
		if name := w.Method(i).Name; strings.Contains(strings.ToLower(name), "flush") {
			flushes = append(flushes, name)
		}
	}
	if want := []string{"Flush", "FlushAll", "FlushLocal", "FlushLocalAll", "Rflush", "RflushAll"}; !slices.Equal(flushes, want) {
		t.Errorf("windows have %v, want %v", flushes, want)
	}
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		for _, info := range []*mpi.Info{nil, pairs(t, "mpi_win_scope", "process"), pairs(t, "mpi_win_scope", "thread")} {
			for _, kind := range spaceKinds {
				s := newSpace[int64](labelled{t, kind}, c, kind, 2, info)
				if s == nil {
					continue
				}
				ok(t, s.LockAll(0))
				for i, flush := range []func() error{
					func() error { return s.Flush(right) }, s.FlushAll,
					func() error { q := s.Rflush(right); return second(q.Wait()) },
					func() error { q := s.RflushAll(); return second(q.Wait()) },
				} {
					got, want := []int64{-1}, int64(10*i+right+1)
					ok(t, s.Put([]int64{int64(10*i + me + 1)}, right, s.at(right, 0)))
					ok(t, flush())
					ok(t, c.Barrier())
					if s.mem[0] != int64(10*i+left+1) {
						t.Errorf("%s: %d behind flush %d", kind, s.mem[0], i)
					}
					s.mem[1] = int64(10*i + me + 1)
					ok(t, s.Sync())
					ok(t, c.Barrier())
					ok(t, s.Get(got, right, s.at(right, 1)))
					if i%2 == 0 {
						ok(t, s.FlushLocal(right))
					} else {
						ok(t, s.FlushLocalAll())
					}
					if got[0] != want {
						t.Errorf("%s: got %d, want %d", kind, got[0], want)
					}
					ok(t, c.Barrier())
				}
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				s.free(t, c)
			}
		}
	})
}

// QV-39, EX-03: active target synchronisation is complete, and each form of it has an equivalent
// passive one: a fence is a flush of all targets and a barrier, and a post with the matching
// start are two notifications. Ranks in a ring add their neighbours' numbers to their own.
func TestQV39_PassiveFormsOfActiveSynchronisation(t *testing.T) {
	const steps = 25
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		serial, next := make([]int64, n), make([]int64, n)
		for i := range serial {
			serial[i] = int64(i*i + 1)
		}
		for range steps {
			for i := range next {
				next[i] = (serial[(i+n-1)%n] + serial[i] + serial[(i+1)%n]) % 1_000_003
			}
			serial, next = next, serial
		}
		all, err := c.Group()
		ok(t, err)
		neighbours, err := all.Incl([]int{left, right})
		ok(t, err)
		var s *space[int64]
		var value int64
		put := func() { // to the left neighbour's second element, and the right neighbour's first
			ok(t, s.Put([]int64{value}, left, s.at(left, 1)))
			ok(t, s.Put([]int64{value}, right, s.at(right, 0)))
		}
		add := func() { value = (s.mem[0] + value + s.mem[1]) % 1_000_003 }
		const come, free = 0, 1 // counters
		forms := []struct {
			name string
			step func()
		}{
			{"fences", func() { ok(t, s.Fence(0)); put(); ok(t, s.Fence(0)); add() }},
			{"flushes and barriers", func() {
				put()
				ok(t, s.FlushAll())
				ok(t, c.Barrier())
				ok(t, s.Sync())
				add()
				ok(t, c.Barrier())
			}},
			{"posts and starts", func() {
				ok(t, s.Post(neighbours, 0))
				ok(t, s.Start(neighbours, 0))
				put()
				ok(t, s.Complete())
				ok(t, s.Win.Wait())
				add()
			}},
			{"notifications", func() {
				ok(t, s.PutNotify(nil, left, s.at(left, 0), free))
				ok(t, s.PutNotify(nil, right, s.at(right, 0), free))
				q := s.IwaitNotify(free, 2)
				ok(t, second(q.Wait()))
				ok(t, s.PutNotify([]int64{value}, left, s.at(left, 1), come))
				ok(t, s.PutNotify([]int64{value}, right, s.at(right, 0), come))
				q = s.IwaitNotify(come, 2)
				ok(t, second(q.Wait()))
				add()
			}},
		}
		for i, form := range forms {
			onSpaces(t, c, 2, func(t testing.TB, x *space[int64]) {
				s, value = x, int64(me*me+1)
				passive := i%2 == 1
				if passive {
					ok(t, s.LockAll(0))
				}
				for range steps {
					form.step()
				}
				if passive {
					ok(t, s.UnlockAll())
				}
				ok(t, c.Barrier())
				if value != serial[me] {
					t.Errorf("by %s it is %d, serially %d", form.name, value, serial[me])
				}
			})
		}
	})
}

// QV-44: features of related work exist under other names. Contexts with separate fences and
// quiets are duplicates of thread scope; partitions of a message that goroutines contribute one
// by one are puts that notify one counter; triggered operations are those of a goroutine that
// waits for a notification.
func TestQV44_ContextsPartitionsAndTriggers(t *testing.T) {
	const parts, size = 4, 500
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, parts*size+parts+1, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			each := func(do func(part int, w mpi.Win[int64]) error) {
				for part := range parts {
					w, err := s.Dup(pairs(t, "mpi_win_scope", "thread"))
					ok(t, err)
					wg.Go(func() {
						if err := do(part, w); err != nil {
							t.Error(err)
						}
						if err := w.Free(); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
			}
			part := func(rank, part, turn int) []int64 {
				return slices.Repeat([]int64{int64(1000*turn + 100*rank + part + 1)}, size)
			}
			arrived := func(what string, turn int) {
				for p := range parts {
					if !slices.Equal(s.mem[p*size:][:size], part(left, p, turn)) {
						t.Errorf("%s: part %d is not there", what, p)
					}
				}
			}
			each(func(p int, w mpi.Win[int64]) error { // a flag after the data, then quiet
				if err := w.Put(part(me, p, 1), right, s.at(right, p*size)); err != nil {
					return err
				}
				if err := w.Order(right); err != nil {
					return err
				}
				if err := w.Put([]int64{1}, right, s.at(right, parts*size+p)); err != nil {
					return err
				}
				return w.Flush(right)
			})
			ok(t, c.Barrier())
			arrived("contexts", 1)
			if sum := s.mem[parts*size]; sum != 1 {
				t.Errorf("the flag is %d", sum)
			}
			ok(t, c.Barrier())
			all := s.IwaitNotify(7, parts)
			each(func(p int, w mpi.Win[int64]) error { return w.PutNotify(part(me, p, 2), right, s.at(right, p*size), 7) })
			ok(t, second(all.Wait()))
			arrived("partitions", 2)
			// A token goes round: the put of the previous rank triggers each rank's put.
			token := parts*size + parts
			trigger := s.NotifyInit(8, 1)
			for lap := range int64(3) {
				if me == 0 {
					ok(t, s.PutNotify([]int64{lap*int64(n) + 1}, right, s.at(right, token), 8))
				}
				ok(t, trigger.Start())
				ok(t, second(trigger.Wait()))
				if want := lap*int64(n) + int64(n); me == 0 && s.mem[token] != want {
					t.Errorf("the token is %d after lap %d, want %d", s.mem[token], lap, want)
				}
				if me != 0 {
					ok(t, s.PutNotify([]int64{s.mem[token] + 1}, right, s.at(right, token), 8))
				}
			}
			ok(t, trigger.Free())
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
		})
	})
}

// EX-01: synchronisation objects, notifications and requests for the completion at the target
// can be used at the same time on one window. Each says that its own data is complete, and none
// counts for another.
func TestEX01_ThreeWaysToKnowOfData(t *testing.T) {
	const size = 3000
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, 3*size, func(t testing.TB, s *space[int64]) {
			objects := syncs(t, c, s.Window)
			signalled := s.SyncObjectInit(objects[me], 1)
			there := func(way, round int) {
				want := int64(1000*round + 10*left + way)
				if part := s.mem[way*size:][:size]; part[0] != want || part[size-1] != want {
					t.Fatalf("way %d: round %d: %d and %d, want %d", way, round, part[0], part[size-1], want)
				}
			}
			ok(t, s.LockAll(0))
			for round := range 12 {
				data := func(way int) []int64 { return slices.Repeat([]int64{int64(1000*round + 10*me + way)}, size) }
				ok(t, signalled.Start())
				notified := s.IwaitNotify(round%3, 1)
				var remote mpi.Request
				for i := range 3 {
					switch way := (i + round) % 3; way {
					case 0:
						ok(t, s.Put(data(0), right, s.at(right, 0)))
						ok(t, s.Signal(right, mpi.ModeWinAll, objects[right]))
					case 1:
						ok(t, s.PutNotify(data(1), right, s.at(right, size), round%3))
					case 2:
						remote = s.Rrput(data(2), right, s.at(right, 2*size))
					}
				}
				ok(t, second(signalled.Wait()))
				there(0, round)
				ok(t, second(notified.Wait()))
				there(1, round)
				ok(t, second(remote.Wait()))
				ok(t, c.Barrier()) // tells the target
				there(2, round)
				for counter := range 3 {
					if v, err := s.NotifyGet(counter); v != 0 || err != nil {
						t.Errorf("counter %d is %d, %v", counter, v, err)
					}
				}
				ok(t, c.Barrier())
			}
			ok(t, signalled.Free())
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			ok(t, s.FreeSyncObjects(objects[me:me+1]))
		})
	})
}

// EX-02: there are persistent requests and single ones, and they complete together.
func TestEX02_PersistentAndForOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		right := (me + 1) % n
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			objects := syncs(t, c, s.Window)
			again := []mpi.Request{s.SyncObjectInit(objects[me], 1), s.NotifyInit(3, 2), s.SyncOpsInit(right, mpi.ModeWinAll, objects[right])}
			ok(t, s.LockAll(0))
			for round := range int64(10) {
				once := s.IwaitNotify(4, 1)
				ok(t, s.Put([]int64{round + 1}, right, s.at(right, 0)))
				ok(t, mpi.Startall(again))
				ok(t, s.PutNotify(nil, right, s.at(right, 0), 3))
				ok(t, s.PutNotify([]int64{round + 1}, right, s.at(right, 1), 4))
				ok(t, s.PutNotify(nil, right, s.at(right, 0), 3))
				all := append(again[:len(again):len(again)], once)
				ok(t, mpi.Waitall(all, nil))
				if s.mem[0] != round+1 || s.mem[1] != round+1 {
					t.Errorf("round %d: %d", round, s.mem)
				}
				if all[3] != (mpi.Request{}) {
					t.Error("a request for once is still there")
				}
				wantClass(t, all[3].Start(), mpi.ErrRequest)
				ok(t, c.Barrier())
			}
			for i := range again {
				ok(t, again[i].Free())
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			ok(t, s.FreeSyncObjects(objects[me:me+1]))
		})
	})
}
