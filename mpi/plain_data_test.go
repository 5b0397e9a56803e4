package mpi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// particle is plain data with a gap of 7 bytes and another of 1 byte: 24 of its 32 bytes are
// data.
type particle struct {
	Charge int8
	At     [2]float64
	Spin   bool
	Count  int16
	Mass   float32
}

func particlesOf(rank, n int) []particle {
	all := make([]particle, n)
	for i := range all {
		x := float64(rank*100 + i)
		all[i] = particle{int8(i), [2]float64{x, -x}, i%2 == 1, int16(rank), float32(x) / 2}
	}
	return all
}

// TRM-11: slices of any plain data work with every call that takes slices, and are equivalent to
// a Buffer of the same memory.
func TestTRM11_MessagesOfPlainData(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		me, other := c.Rank(), 1-c.Rank()
		mine, theirs := particlesOf(me, 5), particlesOf(other, 5)
		arrives := func(what string, exchange func(into []particle) (mpi.Status, error)) {
			t.Helper()
			into := make([]particle, 7)
			st, err := exchange(into)
			ok(t, err)
			if n := mpi.Count[particle](st); n != 5 || st.Bytes() != 5*24 || !slices.Equal(into[:5], theirs) {
				t.Errorf("%s: %d particles, %d bytes: %v", what, n, st.Bytes(), into)
			}
		}
		sends := map[string]func() mpi.Request{
			"Isend":           func() mpi.Request { return mpi.Isend(c, mine, other, 1) },
			"Issend":          func() mpi.Request { return mpi.Issend(c, mine, other, 1) },
			"Isend of Buffer": func() mpi.Request { return c.Isend(mpi.Buf(mine), other, 1) },
			"SendInit": func() mpi.Request {
				q := mpi.SendInit(c, mine, other, 1)
				ok(t, q.Start())
				return q
			},
		}
		receives := map[string]func(into []particle) (mpi.Status, error){
			"Recv": func(into []particle) (mpi.Status, error) { return mpi.Recv(c, into, other, 1) },
			"Irecv": func(into []particle) (mpi.Status, error) {
				q := mpi.Irecv(c, into, other, 1)
				return q.Wait()
			},
			"Recv into a Buffer": func(into []particle) (mpi.Status, error) { return c.Recv(mpi.Buf(into), other, 1) },
			"Mrecv": func(into []particle) (mpi.Status, error) {
				m, _, err := c.Mprobe(other, 1)
				ok(t, err)
				return mpi.Mrecv(&m, into)
			},
			"RecvSlice": func(into []particle) (mpi.Status, error) {
				all, st, err := mpi.RecvSlice[particle](c, other, 1)
				copy(into, all)
				if len(all) != 5 {
					t.Errorf("RecvSlice: %d particles", len(all))
				}
				return st, err
			},
		}
		for _, s := range slices.Sorted(maps.Keys(sends)) {
			for _, r := range slices.Sorted(maps.Keys(receives)) {
				q := sends[s]()
				arrives(s+", "+r, receives[r])
				_, err := q.Wait()
				ok(t, err)
				if s == "SendInit" {
					ok(t, q.Free())
				}
			}
		}
		arrives("Sendrecv", func(into []particle) (mpi.Status, error) {
			return mpi.Sendrecv(c, mine, other, 2, into, other, 2)
		})
		arrives("SendrecvReplace", func(into []particle) (mpi.Status, error) {
			copy(into, mine)
			return mpi.SendrecvReplace(c, into[:5], other, 2, other, 2)
		})
	})
}

// TRM-11: gaps are not transferred: those of the receive buffer do not change.
func TestTRM11_GapsOfPlainDataStay(t *testing.T) {
	type gap struct {
		A int8
		B int64
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			ok(t, mpi.Send(c, []gap{{1, 2}, {3, 4}}, 1, 0))
			ok(t, mpi.Bcast(c, []gap{{5, 6}}, 0))
			return
		}
		words := slices.Repeat([]uint64{0xaaaaaaaaaaaaaaaa}, 4)
		memory := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 32)
		into := unsafe.Slice((*gap)(unsafe.Pointer(&words[0])), 2)
		_, err := mpi.Recv(c, into, 0, 0)
		ok(t, err)
		ok(t, mpi.Bcast(c, into[1:], 0))
		if into[0] != (gap{1, 2}) || into[1] != (gap{5, 6}) || memory[1] != 0xaa || memory[7] != 0xaa || memory[23] != 0xaa {
			t.Errorf("received %v, memory %x", into, memory)
		}
	})
}

// TRM-11: collectives that move data accept plain data, in all three forms.
func TestTRM11_CollectivesOfPlainData(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			me, root := c.Rank(), n-1
			var all []particle
			var counts, displs []int
			for r := range n {
				counts, displs = append(counts, 2), append(displs, 2*r)
				all = append(all, particlesOf(r, 2)...)
			}
			turned := make([]particle, 0, 2*n) // expected result of an Alltoall of all
			for range n {
				turned = append(turned, all[2*me:2*me+2]...)
			}
			mine := particlesOf(me, 2)
			into, atRoot := make([]particle, 2*n), make([]particle, 2*n)
			if me != root {
				atRoot = nil
			}
			bcast := make([]particle, 2*n)
			forms := []struct {
				name       string
				into, want []particle
				do         func() error
				start      func() mpi.Request
				prepare    func() mpi.Request
			}{
				{"Bcast", bcast, all, func() error { return mpi.Bcast(c, bcast, root) }, func() mpi.Request { return mpi.Ibcast(c, bcast, root) },
					func() mpi.Request { return mpi.BcastInit(c, bcast, root) }},
				{"Allgather", into, all, func() error { return mpi.Allgather(c, mine, into) }, func() mpi.Request { return mpi.Iallgather(c, mine, into) },
					func() mpi.Request { return mpi.AllgatherInit(c, mine, into) }},
				{"Allgatherv", into, all, func() error { return mpi.Allgatherv(c, mine, into, counts, displs) },
					func() mpi.Request { return mpi.Iallgatherv(c, mine, into, counts, displs) },
					func() mpi.Request { return mpi.AllgathervInit(c, mine, into, counts, displs) }},
				{"Alltoall", into, turned, func() error { return mpi.Alltoall(c, all, into) }, func() mpi.Request { return mpi.Ialltoall(c, all, into) },
					func() mpi.Request { return mpi.AlltoallInit(c, all, into) }},
				{"Alltoallv", into, turned, func() error { return mpi.Alltoallv(c, all, counts, displs, into, counts, displs) },
					func() mpi.Request { return mpi.Ialltoallv(c, all, counts, displs, into, counts, displs) },
					func() mpi.Request { return mpi.AlltoallvInit(c, all, counts, displs, into, counts, displs) }},
				{"Gather", atRoot, all, func() error { return mpi.Gather(c, mine, atRoot, root) }, func() mpi.Request { return mpi.Igather(c, mine, atRoot, root) },
					func() mpi.Request { return mpi.GatherInit(c, mine, atRoot, root) }},
				{"Gatherv", atRoot, all, func() error { return mpi.Gatherv(c, mine, atRoot, counts, displs, root) },
					func() mpi.Request { return mpi.Igatherv(c, mine, atRoot, counts, displs, root) },
					func() mpi.Request { return mpi.GathervInit(c, mine, atRoot, counts, displs, root) }},
				{"Scatter", into[:2], mine, func() error { return mpi.Scatter(c, all, into[:2], root) }, func() mpi.Request { return mpi.Iscatter(c, all, into[:2], root) },
					func() mpi.Request { return mpi.ScatterInit(c, all, into[:2], root) }},
				{"Scatterv", into[:2], mine, func() error { return mpi.Scatterv(c, all, counts, displs, into[:2], root) },
					func() mpi.Request { return mpi.Iscatterv(c, all, counts, displs, into[:2], root) },
					func() mpi.Request { return mpi.ScattervInit(c, all, counts, displs, into[:2], root) }},
			}
			for _, f := range forms {
				nonblocking := func() error {
					q := f.start()
					_, err := q.Wait()
					return err
				}
				persistent := func() error {
					q := f.prepare()
					ok(t, q.Start())
					_, err := q.Wait()
					ok(t, err)
					return q.Free()
				}
				for k, do := range []func() error{f.do, nonblocking, persistent} {
					clear(f.into)
					if f.name == "Bcast" && me == root {
						copy(bcast, all)
					}
					ok(t, do())
					if f.into != nil && !slices.Equal(f.into, f.want) {
						t.Errorf("%s in form %d: %v, want %v", f.name, k, f.into, f.want)
					}
					ok(t, c.Barrier())
				}
			}
			one, err := mpi.AllgatherOne(c, mine[0])
			ok(t, err)
			if len(one) != n || one[root] != all[2*root] {
				t.Errorf("AllgatherOne: %v", one)
			}
		})
	}
}

// TRM-11: elements that are not plain data are ErrType, with the name of the field, the call and
// the peer, and no message is lost.
func TestTRM11_WhatIsNoPlainData(t *testing.T) {
	type node struct {
		Value int
		Next  *node
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		wrong := make([]node, 3)
		refused := func(err error, words ...string) {
			t.Helper()
			wantClass(t, err, mpi.ErrType)
			for _, w := range append(words, "Next") {
				if err != nil && !strings.Contains(err.Error(), w) {
					t.Errorf("%v: no word of %q", err, w)
				}
			}
		}
		other := 1 - c.Rank()
		refused(mpi.Send(c, wrong, other, 3), "Send", "tag 3")
		_, err := mpi.Recv(c, wrong, other, 3)
		refused(err, "Recv", "tag 3")
		_, _, err = mpi.RecvSlice[node](c, other, 3)
		refused(err, "RecvSlice")
		q := mpi.Isend(c, wrong, other, 3)
		_, err = q.Wait()
		refused(err, "Isend")
		_, err = mpi.Sendrecv(c, []int{1}, other, 3, wrong, other, 3)
		refused(err, "Sendrecv")
		if n := mpi.Count[node](mpi.Status{}); n != mpi.Undefined {
			t.Errorf("Count of what is no plain data: %d", n)
		}
		ok(t, c.Barrier()) // in checking mode refused collectives are compared
		refused(mpi.Bcast(c, wrong, 0), "Bcast")
		refused(mpi.Allgather(c, wrong, wrong), "Allgather")
		r := mpi.Iscatter(c, wrong, wrong, c.Rank()) // each rank is its own root
		_, err = r.Wait()
		refused(err, "Iscatter")

		ok(t, mpi.Send(c, []int{7}, other, 4))
		m, _, err := c.Mprobe(other, 4)
		ok(t, err)
		_, err = mpi.Mrecv(&m, wrong)
		refused(err, "Mrecv")
		var got [1]int
		_, err = mpi.Mrecv(&m, got[:])
		ok(t, err)
		if got[0] != 7 {
			t.Errorf("after the wrong Mrecv the message is %v", got)
		}
	})
}

// TRM-11: elements without bytes, and types defined as numbers.
func TestTRM11_EmptyAndNamedElements(t *testing.T) {
	type celsius float64
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			ok(t, mpi.Send(c, make([]struct{}, 3), 1, 0))
			ok(t, mpi.Send(c, []celsius{21.5}, 1, 0))
			ok(t, mpi.Send(c, [][2]int32{{1, 2}, {3, 4}}, 1, 0))
			return
		}
		st, err := mpi.Recv(c, make([]struct{}, 3), 0, 0)
		ok(t, err)
		if st.Bytes() != 0 || mpi.Count[struct{}](st) != 0 {
			t.Errorf("three elements without bytes: %d bytes, %d", st.Bytes(), mpi.Count[struct{}](st))
		}
		warm, _, err := mpi.RecvSlice[float64](c, 0, 0)
		ok(t, err)
		pairs, _, err := mpi.RecvSlice[int32](c, 0, 0)
		ok(t, err)
		if !slices.Equal(warm, []float64{21.5}) || !slices.Equal(pairs, []int32{1, 2, 3, 4}) {
			t.Errorf("received %v and %v", warm, pairs)
		}
	})
}
