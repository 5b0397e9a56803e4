package mpi_test

import (
	"errors"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Completing a null request gives the empty status.
func TestP2P09_NullRequestsGiveEmptyStatus(t *testing.T) {
	var null mpi.Request
	if !null.IsNull() {
		t.Fatal("the zero Request is not null")
	}
	st, err := null.Wait()
	ok(t, err)
	wantEmpty(t, st)
	st, done, err := null.Test()
	ok(t, err)
	if !done {
		t.Fatal("Test of a null request: not done")
	}
	wantEmpty(t, st)
	st, done, err = null.GetStatus() // P2P-16
	ok(t, err)
	if !done {
		t.Fatal("GetStatus of a null request: not done")
	}
	wantEmpty(t, st)
	st, err = null.WaitContext(t.Context())
	ok(t, err)
	wantEmpty(t, st)
	for _, rs := range [][]mpi.Request{nil, make([]mpi.Request, 3)} {
		allIdle(t, rs)
	}
	wantClass(t, null.Start(), mpi.ErrRequest)
	wantClass(t, null.Cancel(), mpi.ErrRequest)
	wantClass(t, null.Free(), mpi.ErrRequest)
}

// allIdle checks all calls on requests of which none is active.
func allIdle(t testing.TB, rs []mpi.Request) {
	t.Helper()
	n := len(rs)
	sts, idx := make([]mpi.Status, n), make([]int, n)
	dirty := func() {
		for i := range sts {
			sts[i] = mpi.Status{Source: 99, Tag: 99, Err: errors.New("old")}
		}
	}
	clean := func() {
		t.Helper()
		for _, st := range sts {
			wantEmpty(t, st)
		}
	}
	dirty()
	ok(t, mpi.Waitall(rs, sts))
	clean()
	dirty()
	done, err := mpi.Testall(rs, sts)
	ok(t, err)
	if !done {
		t.Fatal("Testall: not done")
	}
	clean()
	dirty()
	done, err = mpi.GetStatusAll(rs, sts)
	ok(t, err)
	if !done {
		t.Fatal("GetStatusAll: not done")
	}
	clean()
	i, st, err := mpi.Waitany(rs)
	ok(t, err)
	wantIndex(t, i, mpi.Undefined)
	wantEmpty(t, st)
	i, st, done, err = mpi.Testany(rs)
	ok(t, err)
	if !done {
		t.Fatal("Testany: not done")
	}
	wantIndex(t, i, mpi.Undefined)
	wantEmpty(t, st)
	i, st, done, err = mpi.GetStatusAny(rs)
	ok(t, err)
	if !done {
		t.Fatal("GetStatusAny: not done")
	}
	wantIndex(t, i, mpi.Undefined)
	wantEmpty(t, st)
	for _, some := range []func([]mpi.Request, []int, []mpi.Status) (int, error){
		mpi.Waitsome, mpi.Testsome, mpi.GetStatusSome,
	} {
		k, err := some(rs, idx, sts)
		ok(t, err)
		wantIndex(t, k, mpi.Undefined)
	}
}

func wantIndex(t testing.TB, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("index or count is %d, want %d", got, want)
	}
}

// Inactive persistent requests are treated like null ones, but remain. CHG-10.
func TestP2P09_P2P16_InactiveRequests(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		r, s := mpi.RecvInit(c, make([]byte, 1), 0, 0), mpi.SendInit(c, make([]byte, 1), 0, 0)
		rs := []mpi.Request{r, {}, s}
		for range 2 {
			st, err := r.Wait()
			ok(t, err)
			wantEmpty(t, st)
			st, done, err := s.Test()
			ok(t, err)
			if !done {
				t.Fatal("Test of an inactive request: not done")
			}
			wantEmpty(t, st)
			st, done, err = s.GetStatus()
			ok(t, err)
			if !done {
				t.Fatal("GetStatus of an inactive request: not done")
			}
			wantEmpty(t, st)
			allIdle(t, rs)
			ok(t, mpi.Startall([]mpi.Request{r, s}))
			ok(t, mpi.Waitall(rs, nil))
			if rs[0].IsNull() || rs[2].IsNull() {
				t.Fatal("a persistent request is null after Waitall")
			}
		}
		wantClass(t, r.Cancel(), mpi.ErrRequest)
		ok(t, r.Free())
		ok(t, s.Free())
		if !r.IsNull() {
			t.Fatal("a freed request is not null")
		}
	})
}

// A request that was completed by one copy is stale in the others.
func TestTRM04_StaleCopies(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 1), 0, 0)
		copied := r
		if copied != r {
			t.Fatal("copies of a handle are not equal") // TRM-06
		}
		ok(t, mpi.Send(c, []byte{1}, 0, 0))
		_, err := r.Wait()
		ok(t, err)
		if !r.IsNull() {
			t.Fatal("the request is not null after Wait")
		}
		other := mpi.Irecv(c, make([]byte, 1), 0, 0) // may reuse the memory of the first one
		_, err = copied.Wait()
		wantClass(t, err, mpi.ErrRequest)
		_, _, err = copied.Test()
		wantClass(t, err, mpi.ErrRequest)
		_, _, err = copied.GetStatus()
		wantClass(t, err, mpi.ErrRequest)
		_, err = copied.WaitContext(t.Context())
		wantClass(t, err, mpi.ErrRequest)
		wantClass(t, copied.Cancel(), mpi.ErrRequest)
		wantClass(t, copied.Free(), mpi.ErrRequest)
		wantClass(t, copied.Start(), mpi.ErrRequest)
		rs := []mpi.Request{{}, copied}
		_, _, err = mpi.Waitany(rs)
		wantClass(t, err, mpi.ErrRequest)
		_, _, _, err = mpi.Testany(rs)
		wantClass(t, err, mpi.ErrRequest)
		_, err = mpi.Waitsome(rs, make([]int, 2), nil)
		wantClass(t, err, mpi.ErrRequest)
		_, err = mpi.Testsome(rs, make([]int, 2), nil)
		wantClass(t, err, mpi.ErrRequest)
		if err := mpi.Waitall(rs, nil); !errors.Is(err, mpi.ErrRequest) && !errors.Is(err, mpi.ErrInStatus) {
			t.Fatalf("Waitall of a stale request: %v", err)
		}
		ok(t, mpi.Send(c, []byte{1}, 0, 0))
		_, err = other.Wait()
		ok(t, err)
	})
}

// Two copies of one request in a call that completes all: the second one is stale, and the request of a later
// operation is its own.
func TestTRM04_CopiesInOneCall(t *testing.T) {
	for _, x := range []struct {
		name string
		call func(rs []mpi.Request, sts []mpi.Status) error
	}{
		{"Waitall", mpi.Waitall},
		{"Testall", func(rs []mpi.Request, sts []mpi.Status) error {
			_, err := mpi.Testall(rs, sts)
			return err
		}},
	} {
		for _, sts := range [][]mpi.Status{nil, make([]mpi.Status, 2)} {
			mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
				r := mpi.Irecv(c, make([]byte, 1), 0, 0)
				ok(t, mpi.Send(c, []byte{1}, 0, 0))
				err := x.call([]mpi.Request{r, r}, sts)
				wantText(t, err, mpi.ErrInStatus, "1 of 2 operations failed", "request of Irecv is stale")
				if sts != nil && (sts[0].Err != nil || !errors.Is(sts[1].Err, mpi.ErrRequest)) {
					t.Errorf("%s: the statuses have the errors %v and %v", x.name, sts[0].Err, sts[1].Err)
				}
				var got [2][1]byte
				two := []mpi.Request{mpi.Irecv(c, got[0][:], 0, 1), mpi.Irecv(c, got[1][:], 0, 2)}
				ok(t, mpi.Send(c, []byte{22}, 0, 2))
				ok(t, mpi.Send(c, []byte{11}, 0, 1))
				ok(t, mpi.Waitall(two, nil))
				if got != [2][1]byte{{11}, {22}} {
					t.Errorf("%s: two later receives have got %v", x.name, got)
				}
			})
		}
	}
}

// The eight functions over requests of many kinds, some of which fail.
func TestP2P11_FamiliesOverMixedRequests(t *testing.T) {
	const n = 9 // requests
	type outcome struct {
		class mpi.Class // 0: success
		bytes int
	}
	want := [n]outcome{{0, 8}, {mpi.ErrTruncate, 4}, {}, {0, 0}, {mpi.ErrRank, 0}, {0, 300_000}, {}, {mpi.ErrTag, 0}, {0, 0}}
	// start starts the requests of rank 0: null, inactive, failed, truncated, sends and receives
	// of all lengths.
	start := func(t testing.TB, c *mpi.Comm, inactive mpi.Request) []mpi.Request {
		return []mpi.Request{
			mpi.Irecv(c, make([]byte, 8), 1, 0),
			mpi.Irecv(c, make([]byte, 4), 1, 1),
			{},
			mpi.Isend(c, payload(300_000, 3), 1, 3),
			mpi.Isend(c, []byte{1}, 17, 3),
			mpi.Irecv(c, make([]byte, 400_000), 1, 5),
			inactive,
			mpi.Irecv(c, []byte{1}, 1, -7),
			mpi.Issend(c, []byte{1}, 1, 8),
		}
	}
	answer := func(t testing.TB, c *mpi.Comm) {
		ok(t, mpi.Send(c, make([]byte, 300_000), 0, 5))
		_, err := mpi.Recv(c, make([]byte, 1), 0, 8)
		ok(t, err)
		ok(t, mpi.Send(c, make([]byte, 8), 0, 1))
		_, err = mpi.Recv(c, make([]byte, 300_000), 0, 3)
		ok(t, err)
		ok(t, mpi.Send(c, make([]byte, 8), 0, 0))
	}
	check := func(t testing.TB, call string, seen *[n]bool, i int, st mpi.Status, err error) {
		t.Helper()
		if seen[i] {
			t.Fatalf("%s completes request %d twice", call, i)
		}
		seen[i] = true
		if want[i].class == 0 && err != nil || want[i].class != 0 && !errors.Is(err, want[i].class) {
			t.Fatalf("%s: error of request %d is %v, want class %v", call, i, err, want[i].class)
		}
		if st.Bytes() != int64(want[i].bytes) || st.Cancelled() {
			t.Fatalf("%s: request %d has %d bytes, want %d", call, i, st.Bytes(), want[i].bytes)
		}
	}
	// Each way completes all of rs and calls note once for each request.
	ways := map[string]func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)){
		"Wait": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			for i := range rs {
				if i != 2 && i != 6 {
					st, err := rs[i].Wait()
					note(i, st, err)
				}
			}
		},
		"Test": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			seen := map[int]bool{2: true, 6: true}
			for len(seen) < n {
				for i := range rs {
					if st, done, err := rs[i].Test(); done && !seen[i] {
						seen[i] = true
						note(i, st, err)
					}
				}
			}
		},
		"Waitany": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			for {
				i, st, err := mpi.Waitany(rs)
				if i == mpi.Undefined {
					ok(t, err)
					return
				}
				note(i, st, err)
			}
		},
		"Testany": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			for {
				_, _, looked, lerr := mpi.GetStatusAny(rs)
				i, st, done, err := mpi.Testany(rs)
				if looked && !done {
					t.Fatalf("GetStatusAny finds one done, Testany does not (%v)", lerr)
				}
				if done && i == mpi.Undefined {
					ok(t, err)
					return
				}
				if done {
					note(i, st, err)
				}
			}
		},
		"Waitsome": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			idx, sts := make([]int, n), make([]mpi.Status, n)
			for {
				k, err := mpi.Waitsome(rs, idx, sts)
				if k == mpi.Undefined {
					ok(t, err)
					return
				}
				inStatus(t, err, sts[:k])
				for j := range k {
					note(idx[j], sts[j], sts[j].Err)
				}
			}
		},
		"Testsome": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			idx, sts := make([]int, n), make([]mpi.Status, n)
			for {
				k, err := mpi.GetStatusSome(rs, idx, sts)
				if k > 0 {
					inStatus(t, err, sts[:k])
				}
				k, err = mpi.Testsome(rs, idx, sts)
				if k == mpi.Undefined {
					ok(t, err)
					return
				}
				inStatus(t, err, sts[:k])
				for j := range k {
					note(idx[j], sts[j], sts[j].Err)
				}
			}
		},
		"Waitall": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			sts := make([]mpi.Status, n)
			wantClass(t, mpi.Waitall(rs, sts), mpi.ErrInStatus)
			for i, st := range sts {
				if i != 2 && i != 6 {
					note(i, st, st.Err)
				}
			}
		},
		"Testall": func(t testing.TB, rs []mpi.Request, note func(i int, st mpi.Status, err error)) {
			sts := make([]mpi.Status, n)
			for {
				looked, _ := mpi.GetStatusAll(rs, sts)
				done, err := mpi.Testall(rs, sts)
				if looked && !done {
					t.Fatal("GetStatusAll says done, Testall does not")
				}
				if !done {
					ok(t, err)
					continue
				}
				wantClass(t, err, mpi.ErrInStatus)
				for i, st := range sts {
					if i != 2 && i != 6 {
						note(i, st, st.Err)
					}
				}
				return
			}
		},
	}
	names := []string{"Wait", "Test", "Waitany", "Testany", "Waitsome", "Testsome", "Waitall", "Testall"}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		inactive := mpi.RecvInit(c, make([]byte, 1), 0, 0)
		for _, call := range names {
			if c.Rank() == 1 {
				answer(t, c)
				continue
			}
			rs := start(t, c, inactive)
			seen := [n]bool{2: true, 6: true}
			ways[call](t, rs, func(i int, st mpi.Status, err error) { check(t, call, &seen, i, st, err) })
			for i := range rs {
				if !seen[i] {
					t.Fatalf("%s does not report request %d", call, i)
				}
				if rs[i].IsNull() == (i == 6) {
					t.Fatalf("%s: request %d is null: %v", call, i, rs[i].IsNull())
				}
			}
		}
		ok(t, inactive.Free())
	})
}

// inStatus checks that an error is ErrInStatus if and only if a status has an error.
func inStatus(t testing.TB, err error, sts []mpi.Status) {
	t.Helper()
	failed := false
	for _, st := range sts {
		failed = failed || st.Err != nil
	}
	if failed != errors.Is(err, mpi.ErrInStatus) || !failed && err != nil {
		t.Fatalf("error is %v, a status has one: %v", err, failed)
	}
}

// Arrays that are too short for the results are refused before any request is completed.
func TestP2P11_ShortArrays(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		rs := []mpi.Request{mpi.Irecv(c, make([]byte, 1), 0, 0), {}}
		short := make([]mpi.Status, 1)
		wantClass(t, mpi.Waitall(rs, short), mpi.ErrArg)
		_, err := mpi.Testall(rs, short)
		if err != nil {
			wantClass(t, err, mpi.ErrArg)
		}
		_, err = mpi.GetStatusAll(rs, short)
		wantClass(t, err, mpi.ErrArg)
		for _, some := range []func([]mpi.Request, []int, []mpi.Status) (int, error){
			mpi.Waitsome, mpi.Testsome, mpi.GetStatusSome,
		} {
			_, err := some(rs, make([]int, 1), nil)
			wantClass(t, err, mpi.ErrArg)
			_, err = some(rs, make([]int, 2), short)
			wantClass(t, err, mpi.ErrArg)
		}
		ok(t, mpi.Send(c, []byte{1}, 0, 0))
		ok(t, mpi.Waitall(rs, nil))
	})
}
