package mpitest_test

import (
	"errors"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

const us = time.Microsecond

var network = mpitest.Network{Net: mpitest.Link{Latency: us, Overhead: us / 4}}

// longest is the longest virtual time that a call takes among n simulated ranks that begin at the same time.
// prepare returns the call, and what ends its preparation.
func longest(t *testing.T, n int, prepare func(c *mpi.Comm) (call, end func() error, err error)) time.Duration {
	t.Helper()
	took := make([]time.Duration, n)
	mpitest.Simulate(t, network, n, func(t testing.TB, c *mpi.Comm) {
		start := time.Now()
		call, end, err := prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		const begin = time.Second
		time.Sleep(begin - time.Since(start))
		if err := call(); err != nil {
			t.Error(err)
		}
		took[c.Rank()] = time.Since(start) - begin
		time.Sleep(2*begin - time.Since(start))
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return slices.Max(took)
}

func nothing() error { return nil }

// Virtual times of collectives and of one-sided synchronisation grow with the number of ranks as their
// algorithms say.
func TestGrowth(t *testing.T) {
	const message = us + 2*us/4
	steps := func(n int) time.Duration { return time.Duration(bits.Len(uint(n - 1))) }
	window := func(c *mpi.Comm) (mpi.Win[int64], error) { return mpi.WinAllocate[int64](c, 1) }
	for _, x := range []struct {
		name    string
		prepare func(c *mpi.Comm) (call, end func() error, err error)
		atMost  func(n int) time.Duration
	}{
		{"Barrier", func(c *mpi.Comm) (call, end func() error, err error) {
			return c.Barrier, nothing, nil
		}, func(n int) time.Duration { return steps(n) * message }},
		{"Bcast", func(c *mpi.Comm) (call, end func() error, err error) {
			return func() error { return mpi.Bcast(c, make([]int64, 1), 0) }, nothing, nil
		}, func(n int) time.Duration { return steps(n) * message }},
		{"Allreduce", func(c *mpi.Comm) (call, end func() error, err error) {
			return func() error { _, err := mpi.AllreduceOne(c, 1, mpi.Sum); return err }, nothing, nil
		}, func(n int) time.Duration { return (steps(n) + 2) * message }},
		{"Alltoall", func(c *mpi.Comm) (call, end func() error, err error) {
			return func() error { return mpi.Alltoall(c, make([]int64, c.Size()), make([]int64, c.Size())) }, nothing, nil
		}, func(n int) time.Duration { return steps(n) * message }},
		{"WinCreateDynamic", func(c *mpi.Comm) (call, end func() error, err error) {
			var w *mpi.Window
			return func() (err error) { w, err = c.WinCreateDynamic(); return err }, func() error { return w.Free() }, nil
		}, func(n int) time.Duration { return 4 * steps(n) * message }},
		{"PSCW on a ring", func(c *mpi.Comm) (call, end func() error, err error) {
			w, err := window(c)
			n, me := c.Size(), c.Rank()
			all, err1 := c.Group()
			left, err2 := all.Incl([]int{(me + n - 1) % n})
			right, err3 := all.Incl([]int{(me + 1) % n})
			return func() error {
				return errors.Join(w.Post(left, 0), w.Start(right, 0), w.Put([]int64{1}, (me+1)%n, 0), w.Complete(), w.Wait())
			}, func() error { return w.Free() }, errors.Join(err, err1, err2, err3)
		}, func(int) time.Duration { return 4 * message }},
		{"Lock of one rank by all", func(c *mpi.Comm) (call, end func() error, err error) {
			w, err := window(c)
			return func() error {
				return errors.Join(w.Lock(mpi.LockExclusive, 0, 0), w.Put([]int64{1}, 0, 0), w.Unlock(0))
			}, func() error { return w.Free() }, err
		}, func(n int) time.Duration { return time.Duration(n) * 4 * message }},
	} {
		sizes := []int{10, 100}
		if x.atMost(1000) > 1000*message && !testrun.Race { // a second of processor time
			sizes = append(sizes, 1000)
		}
		for _, n := range sizes {
			took, most := longest(t, n, x.prepare), x.atMost(n)
			t.Logf("%s of %d ranks: %v", x.name, n, took)
			if took > most || took < message {
				t.Errorf("%s of %d ranks takes %v, at most %v is right", x.name, n, took, most)
			}
		}
	}
}

// Ranks on one host of the model take its link. What a rank does wrong fails the test.
func TestSimulatedHosts(t *testing.T) {
	both := mpitest.Network{Host: []int{0, 0, 1}, Node: mpitest.Link{Latency: us}, Net: mpitest.Link{Latency: 100 * us, PerByte: 1000}}
	mpitest.Simulate(t, both, 3, func(t testing.TB, c *mpi.Comm) {
		start := time.Now()
		time.Sleep(time.Second)
		switch c.Rank() {
		case 0:
			for to := 1; to < 3; to++ {
				if err := mpi.Send(c, []byte{1}, to, 0); err != nil {
					t.Error(err)
				}
			}
		default:
			b := make([]byte, 1)
			if _, err := mpi.Recv(c, b, 0, 0); err != nil {
				t.Error(err)
			}
			want := us
			if c.Rank() == 2 {
				want = 141 * us // 41 bytes
			}
			if took := time.Since(start) - time.Second; took != want {
				t.Errorf("rank %d receives after %v, want %v", c.Rank(), took, want)
			}
		}
	})
}
