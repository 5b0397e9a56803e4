package mpi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// A beginning is a way to start a send to rank 1, an ending one to learn that an operation is complete.
type (
	beginning struct {
		name  string
		start func(c *mpi.Comm, buf []int32) mpi.Request
	}
	ending struct {
		name string
		wait func(q *mpi.Request) error
	}
)

func beginnings() []beginning {
	return []beginning{
		{"Isend", func(c *mpi.Comm, buf []int32) mpi.Request { return mpi.Isend(c, buf, 1, 3) }},
		{"Issend", func(c *mpi.Comm, buf []int32) mpi.Request { return mpi.Issend(c, buf, 1, 3) }},
		{"SendInit", func(c *mpi.Comm, buf []int32) mpi.Request {
			q := mpi.SendInit(c, buf, 1, 3)
			q.Start()
			return q
		}},
	}
}

func endings() []ending {
	return []ending{
		{"Wait", func(q *mpi.Request) error { _, err := q.Wait(); return err }},
		{"Waitall", func(q *mpi.Request) error { return mpi.Waitall([]mpi.Request{*q}, nil) }},
		{"Waitany", func(q *mpi.Request) error { _, _, err := mpi.Waitany([]mpi.Request{*q}); return err }},
		{"Test", func(q *mpi.Request) error {
			for {
				if _, done, err := q.Test(); done {
					return err
				}
			}
		}},
		{"GetStatus", func(q *mpi.Request) error {
			for {
				if _, done, err := q.GetStatus(); done {
					q.Wait()
					return err
				}
			}
		}},
	}
}

// BRD-08: in checking mode a send whose buffer has changed before the program has waited for it is an error of
// the wait, with the lines of both: for short and long messages, by every way to send and to wait. So is a
// receive into whose buffer the program has stored; what was received is in the buffer nevertheless.
func TestBRD08_BuffersInUse(t *testing.T) {
	checked(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, n := range []int{2, 1000, 100_000} {
			for _, b := range beginnings() {
				for _, e := range endings() {
					for _, wrong := range []bool{false, true} {
						usedEarly(t, c, n, b, e, wrong)
					}
				}
			}
		}
	})
}

// usedEarly sends n elements from rank 0 to rank 1. If wrong, both use their buffers before the operation is
// complete.
func usedEarly(t testing.TB, c *mpi.Comm, n int, b beginning, e ending, wrong bool) {
	what := fmt.Sprintf("%d elements by %s, ended by %s", n, b.name, e.name)
	expect := func(err error, does string) {
		if !wrong && err != nil {
			t.Errorf("%s: %v", what, err)
		} else if wrong {
			mismatched(t, what, err, mpi.ErrOther, fmt.Sprintf("the %d bytes that it %s before it was complete, between the call at checking_buffers_test.go:", 4*n, does))
		}
	}
	if c.Rank() == 0 {
		buf := make([]int32, n)
		for i := range buf {
			buf[i] = int32(i) + 5
		}
		q := b.start(c, buf)
		if wrong {
			buf[n-1]++
		}
		mpi.Send(c, []byte{1}, 1, 4) // the receive is posted late
		expect(e.wait(&q), "sends have changed")
		if b.name == "SendInit" {
			q.Free()
		}
		return
	}
	mpi.Recv(c, make([]byte, 1), 0, 4)
	got := make([]int32, n)
	q := mpi.Irecv(c, got, 0, 3)
	if wrong {
		got[0] = 7
	}
	expect(e.wait(&q), "receives into have been stored to")
	if got[0] != 5 {
		t.Errorf("%s: received %d", what, got[0])
	}
}

// BRD-08: what a program reads of a receive that is not complete is wrong in every run, and what a message does not
// fill is afterwards what it was: for a shorter message, a cancelled receive, elements apart, and
// a receive that the program frees.
func TestBRD08_ReceivesThatAreNotComplete(t *testing.T) {
	checked(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			for range 3 {
				mpi.Recv(c, make([]byte, 1), 1, 9)
				if err := mpi.Send(c, []int32{1, 2}, 1, 3); err != nil {
					t.Error(err)
				}
			}
			mpi.Send(c, []byte{1}, 1, 4)
			return
		}
		before := []int32{10, 11, 12, 13}
		buf := slices.Clone(before)
		early := func(where string, at ...int) {
			for _, i := range at {
				if buf[i] != -606348325 {
					t.Errorf("%s: element %d is %d before the receive is complete", where, i, buf[i])
				}
			}
		}
		is := func(where string, want ...int32) {
			if !slices.Equal(buf, want) {
				t.Errorf("%s: %v, want %v", where, buf, want)
			}
			copy(buf, before)
		}
		q := mpi.Irecv(c, buf, 0, 3)
		early("shorter", 0, 1, 2, 3)
		mpi.Send(c, []byte{1}, 0, 9)
		if _, err := q.Wait(); err != nil {
			t.Error(err)
		}
		is("shorter", 1, 2, 12, 13)

		q = mpi.Irecv(c, buf, 0, 8)
		q.Cancel()
		if st, err := q.Wait(); err != nil || !st.Cancelled() {
			t.Errorf("cancelled: %v, %v", st, err)
		}
		is("cancelled", before...)

		number, _ := mpi.TypeOf[int32]()
		apart, err := mpi.TypeVector(2, 1, 2, number)
		if err == nil {
			err = apart.Commit()
		}
		if err != nil {
			t.Error(err)
			return
		}
		q = c.Irecv(mpi.BufOf(buf, 1, apart), 0, 3)
		early("apart", 0, 2)
		mpi.Send(c, []byte{1}, 0, 9)
		if _, err := q.Wait(); err != nil {
			t.Error(err)
		}
		is("apart", 1, 11, 2, 13)

		q = mpi.Irecv(c, buf, 0, 3)
		if err := q.Free(); err != nil {
			t.Error(err)
		}
		mpi.Send(c, []byte{1}, 0, 9)
		if _, err := mpi.Recv(c, make([]byte, 1), 0, 4); err != nil { // after the other message
			t.Error(err)
		}
		is("freed", 1, 2, 12, 13)
	})
}

// BRD-08: the report of a changed buffer names the lines of the call and of the wait.
func TestBRD08_LinesOfAChangedBuffer(t *testing.T) {
	at := marks(t, "checking_buffers_test.go")
	checked(t, 1, func(t testing.TB, c *mpi.Comm) {
		buf := make([]int32, 9)
		q := mpi.Isend(c, buf, 0, 3) // at: starts
		buf[3] = 1
		mpi.Recv(c, make([]int32, 9), 0, 3)
		_, err := q.Wait() // at: ends
		want := "between the call at " + at["starts"] + " and that at " + at["ends"] + ": until then"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
