package mpi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// recorded is a generalized request that records the calls of its functions.
func recorded(log *[]string, queried, freed error) mpi.Grequest {
	return mpi.Grequest{
		Query: func(st *mpi.Status) error {
			*log = append(*log, "query")
			st.Source, st.Tag = 3, 4
			st.SetElements(mpi.Byte(), 17)
			st.Err = errors.New("is of no meaning")
			return queried
		},
		Free: func() error { *log = append(*log, "free"); return freed },
		Cancel: func(complete bool) error {
			if complete {
				*log = append(*log, "cancel, complete")
			} else {
				*log = append(*log, "cancel")
			}
			return nil
		},
	}
}

// GRQ-01, GRQ-02, GRQ-03: a generalized request is not complete before Complete. Query is called
// before Free, in the call that completes the request and in GetStatus, and Free is called once,
// in all calls that wait and test, together with requests of other kinds. GRQ-08: completion from
// another goroutine ends a wait.
func TestGRQ01_GeneralizedRequestsAmongOthers(t *testing.T) {
	ways := []struct {
		name string
		wait func(rs []mpi.Request) (mpi.Status, error)
	}{
		{"Wait", func(rs []mpi.Request) (mpi.Status, error) { return rs[1].Wait() }},
		{"Test", func(rs []mpi.Request) (mpi.Status, error) {
			for {
				if st, done, err := rs[1].Test(); done {
					return st, err
				}
			}
		}},
		{"Waitall", func(rs []mpi.Request) (mpi.Status, error) {
			sts := make([]mpi.Status, len(rs))
			err := mpi.Waitall(rs, sts)
			return sts[1], err
		}},
		{"Testall", func(rs []mpi.Request) (mpi.Status, error) {
			sts := make([]mpi.Status, len(rs))
			for {
				if done, err := mpi.Testall(rs, sts); done {
					return sts[1], err
				}
			}
		}},
		{"Waitany", func(rs []mpi.Request) (mpi.Status, error) {
			for {
				if i, st, err := mpi.Waitany(rs); i == 1 {
					return st, err
				}
			}
		}},
		{"Waitsome", func(rs []mpi.Request) (mpi.Status, error) {
			sts, indices := make([]mpi.Status, len(rs)), make([]int, len(rs))
			for {
				n, err := mpi.Waitsome(rs, indices, sts)
				if i := slices.Index(indices[:n], 1); i >= 0 {
					return sts[i], err
				}
			}
		}},
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, w := range ways {
			var log []string
			in, out := make([]int32, 1), []int32{7}
			rs := []mpi.Request{mpi.Irecv(c, in, 1-c.Rank(), 0), c.StartGrequest(recorded(&log, nil, nil)), mpi.Isend(c, out, 1-c.Rank(), 0)}
			if _, done, err := rs[1].Test(); done || err != nil {
				t.Fatalf("%s: complete before Complete: %v", w.name, err)
			}
			if done, err := mpi.Testall(rs, nil); done || err != nil || len(log) > 0 {
				t.Fatalf("%s: Testall before Complete: %v, %v, %v", w.name, done, err, log)
			}
			q := rs[1]
			ended := make(chan error)
			go func() { ended <- q.Complete() }()
			st, err := w.wait(rs)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if err != nil || st.Source != 3 || st.Tag != 4 || st.Bytes() != 17 || st.Err != nil {
				t.Errorf("%s: status %+v, %v", w.name, st, err)
			}
			if !slices.Equal(log, []string{"query", "free"}) {
				t.Errorf("%s called %v", w.name, log)
			}
			if !rs[1].IsNull() {
				t.Errorf("%s: the request is not null", w.name)
			}
			if err := mpi.Waitall(rs, nil); err != nil || in[0] != 7 {
				t.Errorf("%s: the others: %v, %d", w.name, err, in[0])
			}
			if _, err := q.Wait(); !errors.Is(err, mpi.ErrRequest) {
				t.Errorf("%s: a copy is not stale: %v", w.name, err)
			}
		}
		var log []string
		q := c.StartGrequest(recorded(&log, nil, nil))
		if _, done, err := q.GetStatus(); done || err != nil || len(log) > 0 {
			t.Errorf("GetStatus before Complete: %v, %v, %v", done, err, log)
		}
		q.Complete()
		for range 2 {
			if st, done, err := q.GetStatus(); !done || err != nil || st.Bytes() != 17 {
				t.Errorf("GetStatus: %+v, %v, %v", st, done, err)
			}
		}
		q.Wait()
		if want := []string{"query", "query", "query", "free"}; !slices.Equal(log, want) {
			t.Errorf("called %v, want %v", log, want)
		}
	})
}

// GRQ-04, GRQ-05: Free is called by Request.Free or Complete, whichever comes last; Cancel gets
// whether the operation is complete.
func TestGRQ04_FreeAndCancelOfGeneralizedRequests(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		var log []string
		q := c.StartGrequest(recorded(&log, nil, nil))
		again := q
		if err := q.Free(); err != nil || !q.IsNull() || len(log) > 0 {
			t.Errorf("Free before Complete: %v, called %v", err, log)
		}
		if err := again.Complete(); err != nil || !slices.Equal(log, []string{"free"}) {
			t.Errorf("Complete after Free: %v, called %v", err, log)
		}
		log = nil
		q = c.StartGrequest(recorded(&log, nil, nil))
		q.Cancel()
		q.Complete()
		q.Cancel()
		if err := q.Free(); err != nil || !slices.Equal(log, []string{"cancel", "cancel, complete", "free"}) {
			t.Errorf("Free after Complete: %v, called %v", err, log)
		}
		// All functions are optional, and a function may call any function of MPI.
		q = c.StartGrequest(mpi.Grequest{Free: func() error { return c.Barrier() }})
		q.Cancel()
		q.Complete()
		if _, err := q.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// GRQ-06: the calls return errors of the functions; of several errors the last one.
func TestGRQ06_ErrorsOfGeneralizedRequests(t *testing.T) {
	code, err := mpi.AddErrorCode(mpi.ErrIO)
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		var log []string
		for _, x := range []struct{ query, free, want error }{
			{mpi.ErrName, nil, mpi.ErrName}, {nil, code, code}, {mpi.ErrName, code, code}, {errors.New("of the program"), nil, mpi.ErrOther},
		} {
			q := c.StartGrequest(recorded(&log, x.query, x.free))
			q.Complete()
			if _, err := q.Wait(); !errors.Is(err, x.want) {
				t.Errorf("Wait returned %v, want %v", err, x.want)
			}
			rs, sts := []mpi.Request{c.StartGrequest(recorded(&log, x.query, x.free)), {}}, make([]mpi.Status, 2)
			rs[0].Complete()
			if err := mpi.Waitall(rs, sts); !errors.Is(err, mpi.ErrInStatus) || !errors.Is(sts[0].Err, x.want) || sts[1].Err != nil {
				t.Errorf("Waitall returned %v with %v, want %v", err, sts, x.want)
			}
		}
		failing := c.StartGrequest(mpi.Grequest{Cancel: func(bool) error { return mpi.ErrAccess }})
		if err := failing.Cancel(); !errors.Is(err, mpi.ErrAccess) {
			t.Errorf("Cancel returned %v", err)
		}
		failing.Complete()
		if err := failing.Complete(); !errors.Is(err, mpi.ErrRequest) {
			t.Errorf("completed twice: %v", err)
		}
		failing.Wait()
		recv := mpi.Irecv(c, make([]int32, 1), 0, 0)
		for _, q := range []mpi.Request{{}, failing, recv} {
			if err := q.Complete(); !errors.Is(err, mpi.ErrRequest) {
				t.Errorf("Complete of what is no generalized request: %v", err)
			}
		}
		recv.Cancel()
		recv.Wait()
	})
}
