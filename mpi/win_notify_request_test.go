package mpi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A request that waits for notifications works like any other: with every call that waits or
// tests, together with receives and gets, as a single and as a persistent request. X-RMA-23:
// notification is one of the proposals.
func TestQV38_E319_NotificationsAmongOtherRequests(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, size := c.Rank(), c.Size()
		w, err := mpi.WinAllocate[int64](c, 8)
		ok(t, err)
		ok(t, w.LockAll(0))
		to, from := (me+1)%size, (me+size-1)%size
		step := func() { ok(t, c.Barrier()) } // notifications do not arrive before it
		send := func(counter, n int) {
			for range n {
				ok(t, w.PutNotify([]int64{int64(me) + 1}, to, counter, counter))
			}
		}
		arrived := func(counter int) {
			t.Helper()
			if w.Local()[counter] != int64(from)+1 {
				t.Errorf("counter %d: memory %v", counter, w.Local())
			}
		}

		message := make([]int, 1)
		rs := []mpi.Request{mpi.Irecv(c, message, from, 9), w.IwaitNotify(3, 1), w.Rget(make([]int64, 1), to, 7), {}}
		for rs[2] != (mpi.Request{}) { // the get completes soon, by itself
			i, _, err := mpi.Waitany(rs)
			ok(t, err)
			if i != 2 {
				t.Errorf("request %d is complete first", i)
			}
		}
		if _, done, err := rs[1].GetStatus(); done || err != nil {
			t.Errorf("complete without a notification, %v", err)
		}
		if i, _, done, err := mpi.Testany(rs); done || err != nil {
			t.Errorf("request %d is complete, %v", i, err)
		}
		step()
		send(3, 1)
		if i, st, err := mpi.Waitany(rs); i != 1 || err != nil || st.Err != nil {
			t.Errorf("request %d, %v %v, want that of the notification", i, st, err)
		}
		arrived(3)
		step()
		ok(t, mpi.Send(c, []int{me}, to, 9))
		indices := make([]int, 4)
		if n, err := mpi.Waitsome(rs, indices, nil); n != 1 || indices[0] != 0 || err != nil || message[0] != from {
			t.Errorf("%d requests complete, %v, %v", n, indices, err)
		}

		// Two requests for one counter: the first one started is served first.
		rs = []mpi.Request{w.IwaitNotify(4, 2), w.IwaitNotify(4, 1), mpi.Irecv(c, message, from, 9), w.NotifyReach(4, 3)}
		step()
		send(4, 1)
		for done := false; !done; { // the second needs only one, and gets the one after the first request's
			_, done, err = rs[1].Test()
			ok(t, err)
		}
		step()
		if ready, err := mpi.Testall(rs, nil); ready || err != nil {
			t.Errorf("all are complete, %v", err)
		}
		step()
		send(4, 2)
		ok(t, second(rs[0].Wait()))
		step()
		if n, err := w.NotifyGet(4); n != 0 || err != nil {
			t.Errorf("counter 4 is %d after 3 came and 3 were taken, %v", n, err)
		}
		step()
		send(4, 3)
		ok(t, mpi.Send(c, []int{me}, to, 9))
		for ready := false; !ready; {
			ready, err = mpi.Testall(rs, nil)
			ok(t, err)
		}
		if n, err := w.NotifyGet(4); n != 3 || err != nil {
			t.Errorf("counter 4 is %d after it was reached only, %v", n, err)
		}
		ok(t, w.NotifySet(4, 0))
		step()

		// Persistent requests: notifications before Start count, and none is lost between
		// starts.
		ps := []mpi.Request{w.NotifyInit(5, 2), w.NotifyInit(6, 1), mpi.RecvInit(c, message, from, 11)}
		for turn := range 50 {
			if turn%2 == 0 {
				send(5, 2)
				send(6, 1)
			}
			if err := mpi.Startall(ps); err != nil {
				t.Fatal(err)
			}
			if turn%2 == 1 {
				send(6, 1)
				send(5, 2)
			}
			ok(t, mpi.Send(c, []int{turn}, to, 11))
			ok(t, mpi.Waitall(ps, nil))
			if message[0] != turn {
				t.Errorf("message %d in turn %d", message[0], turn)
			}
			arrived(5)
			arrived(6)
			step()
		}
		if err := ps[0].Start(); err != nil {
			t.Error(err)
		}
		wantClass(t, ps[0].Start(), mpi.ErrRequest)
		wantClass(t, ps[0].Free(), mpi.ErrRequest)
		ok(t, ps[0].Cancel())
		if st, err := ps[0].Wait(); err != nil || !st.Cancelled() {
			t.Errorf("%v, %v after Cancel", st, err)
		}
		for i := range ps {
			ok(t, ps[i].Free())
		}

		// After a cancelled context, and after Cancel, the notifications are for the next
		// request.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := w.IwaitNotify(2, 1)
		if _, err := r.WaitContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v after the context has ended", err)
		}
		ok(t, r.Cancel())
		if st, err := r.Wait(); err != nil || !st.Cancelled() {
			t.Errorf("%v, %v after Cancel", st, err)
		}
		step()
		send(2, 1)
		r = w.IwaitNotify(2, 1)
		if st, err := r.Wait(); err != nil || st.Cancelled() {
			t.Errorf("%v, %v", st, err)
		}
		r = w.IwaitNotify(2, 0) // nothing to wait for
		if _, done, err := r.Test(); !done || err != nil {
			t.Errorf("no notifications have not come, %v", err)
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}

// Several counters at the same time, tested in any order: each says that its own data is
// complete, in every generation.
func TestQV38_CountersVouchForTheirOwn(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		const counters, width, turns = 6, 50, 60
		me, size := c.Rank(), c.Size()
		w, err := mpi.WinAllocate[int64](c, counters*width)
		ok(t, err)
		ok(t, w.LockAll(0))
		to, from := (me+1)%size, (me+size-1)%size
		full, free := make([]mpi.Request, counters), make([]mpi.Request, counters)
		for i := range counters {
			full[i], free[i] = w.NotifyInit(i*16_000%mpi.NotifyMax, 1), w.NotifyInit(1+i, 1)
		}
		data := make([]int64, width)
		put := func(i, turn int) {
			for k := range data {
				data[k] = int64(me)<<40 + int64(turn)<<20 + int64(i*width+k)
			}
			ok(t, w.PutNotify(data, to, i*width, i*16_000%mpi.NotifyMax))
			ok(t, w.FlushLocal(to))
		}
		for i := range counters {
			put(i, 0)
		}
		ok(t, mpi.Startall(full))
		ok(t, mpi.Startall(free))
		turn, sent := make([]int, counters), make([]int, counters)
		for left := 2*counters*turns - counters; left > 0; left-- {
			i, _, err := mpi.Waitany(append(full[:counters:counters], free...))
			ok(t, err)
			if i < counters {
				for k, v := range w.Local()[i*width:][:width] {
					if want := int64(from)<<40 + int64(turn[i])<<20 + int64(i*width+k); v != want {
						t.Fatalf("turn %d of counter %d: %x at %d, want %x", turn[i], i, v, k, want)
					}
				}
				turn[i]++
				if turn[i] < turns {
					ok(t, full[i].Start())
				}
				ok(t, w.PutNotify(nil, from, 0, 1+i))
				continue
			}
			i -= counters
			if sent[i] < turns-1 {
				sent[i]++
				put(i, sent[i])
				ok(t, free[i].Start())
			} else {
				left++
			}
		}
		ok(t, w.UnlockAll())
		ok(t, c.Barrier())
		for i := range counters {
			for _, r := range []mpi.Request{full[i], free[i]} {
				if _, done, _ := r.GetStatus(); !done {
					ok(t, r.Cancel())
				}
				ok(t, second(r.Wait()))
				ok(t, r.Free())
			}
		}
		ok(t, w.Free())
	})
}

// QV-38: WaitNotify waits, and subtracts the notifications from the counter.
func TestQV38_WaitNotifyWaits(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 8)
		ok(t, err)
		ok(t, w.LockAll(0))
		to := (c.Rank() + 1) % c.Size()
		for k := range int64(20) {
			ok(t, w.PutNotify([]int64{k}, to, 0, 1))
			ok(t, w.PutNotify([]int64{k}, to, 1, 1))
			ok(t, w.WaitNotify(1, 2))
			if w.Local()[0] != k || w.Local()[1] != k {
				t.Errorf("turn %d: memory %v", k, w.Local())
			}
			ok(t, c.Barrier())
		}
		n, err := w.NotifyGet(1)
		ok(t, err)
		if n != 0 {
			t.Errorf("%d notifications are left", n)
		}
		wantClass(t, w.WaitNotify(-1, 1), mpi.ErrArg)
		wantClass(t, w.WaitNotify(1, -1), mpi.ErrCount)
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}
