package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// checked runs fn as n ranks over every fabric in checking mode.
func checked(t *testing.T, n int, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, n, fn)
}

// mismatched checks that err has the class and contains the text.
func mismatched(t testing.TB, what string, err error, class mpi.Class, text string) {
	t.Helper()
	if !errors.Is(err, class) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %v with %q", what, err, class, text)
	}
}

// otherwise makes a message of n int32 that rank 0 sends, and rank 1 receives as float64.
func otherwise(n int) (send []int32, recv []float64, text string) {
	send, recv = make([]int32, n), make([]float64, n)
	for i := range send {
		send[i] = int32(i) + 7
	}
	return send, recv, fmt.Sprintf("rank 0 sends %d x MPI_INT32_T, rank 1 receives %d x MPI_DOUBLE", n, n)
}

// DT-16: in checking mode, receiving a message with other types than it was sent with is an
// error of the receiver that names both types: for every call that sends or receives, in either
// order of send and receive, and for every protocol. The data is received nevertheless, the
// sender gets no error, and the next message is correct.
func TestDT16_MismatchNamesBothSides(t *testing.T) {
	sends := []struct {
		name string
		send func(c *mpi.Comm, buf []int32) error
	}{
		{"Send", func(c *mpi.Comm, buf []int32) error { return mpi.Send(c, buf, 1, 3) }},
		{"Ssend", func(c *mpi.Comm, buf []int32) error { return mpi.Ssend(c, buf, 1, 3) }},
		{"Rsend", func(c *mpi.Comm, buf []int32) error { return mpi.Rsend(c, buf, 1, 3) }},
		{"Bsend", func(c *mpi.Comm, buf []int32) error {
			if err := c.AttachBuffer(nil); err != nil {
				return err
			}
			if err := mpi.Bsend(c, buf, 1, 3); err != nil {
				return err
			}
			_, err := c.DetachBuffer()
			return err
		}},
		{"Isend", func(c *mpi.Comm, buf []int32) error {
			q := mpi.Isend(c, buf, 1, 3)
			_, err := q.Wait()
			return err
		}},
		{"SendInit", func(c *mpi.Comm, buf []int32) error {
			q := mpi.SendInit(c, buf, 1, 3)
			defer q.Free()
			if err := q.Start(); err != nil {
				return err
			}
			_, err := q.Wait()
			return err
		}},
		{"Comm.Send", func(c *mpi.Comm, buf []int32) error { return c.Send(mpi.Buf(buf), 1, 3) }},
		{"Sendrecv", func(c *mpi.Comm, buf []int32) error {
			_, err := mpi.Sendrecv(c, buf, 1, 3, make([]int8, 1), mpi.ProcNull, 0)
			return err
		}},
	}
	receives := []struct {
		name string
		recv func(c *mpi.Comm, buf []float64) error
	}{
		{"Recv", func(c *mpi.Comm, buf []float64) error { _, err := mpi.Recv(c, buf, 0, 3); return err }},
		{"Recv of anything", func(c *mpi.Comm, buf []float64) error {
			_, err := mpi.Recv(c, buf, mpi.AnySource, mpi.AnyTag)
			return err
		}},
		{"Irecv", func(c *mpi.Comm, buf []float64) error {
			q := mpi.Irecv(c, buf, 0, 3)
			_, err := q.Wait()
			return err
		}},
		{"RecvInit", func(c *mpi.Comm, buf []float64) error {
			q := mpi.RecvInit(c, buf, 0, 3)
			defer q.Free()
			if err := q.Start(); err != nil {
				return err
			}
			_, err := q.Wait()
			return err
		}},
		{"Mprobe and Mrecv", func(c *mpi.Comm, buf []float64) error {
			m, _, err := c.Mprobe(0, 3)
			if err == nil {
				_, err = mpi.Mrecv(&m, buf)
			}
			return err
		}},
		{"Comm.Recv", func(c *mpi.Comm, buf []float64) error { _, err := c.Recv(mpi.Buf(buf), 0, 3); return err }},
		{"Comm.Irecv of a layout", func(c *mpi.Comm, buf []float64) error {
			double, _ := mpi.TypeOf[float64]()
			apart, err := mpi.TypeResized(double, 0, 16)
			if err == nil {
				err = apart.Commit()
			}
			if err != nil {
				return err
			}
			if err := apart.SetName("MPI_DOUBLE"); err != nil { // so that the error is the same
				return err
			}
			mem := make([]float64, 2*len(buf))
			q := c.Irecv(mpi.BufOf(mem, len(buf), apart), 0, 3)
			_, err = q.Wait()
			for i := range buf {
				buf[i] = mem[2*i]
			}
			return err
		}},
		{"SendrecvReplace", func(c *mpi.Comm, buf []float64) error {
			_, err := mpi.SendrecvReplace(c, buf, mpi.ProcNull, 0, 0, 3)
			return err
		}},
	}
	checked(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, n := range []int{1, 50, 3000, 100_000} {
			for i, s := range sends {
				for j, r := range receives {
					send, recv, text := otherwise(n)
					name := fmt.Sprintf("%d elements by %s, received by %s", n, s.name, r.name)
					late := (i+j)%2 == 0 // the receive is posted after the message has arrived
					if c.Rank() == 0 {
						if !late {
							mpi.Recv(c, make([]int8, 1), 1, 9)
						}
						if err := s.send(c, send); err != nil {
							t.Errorf("%s: the sender: %v", name, err)
						}
						if err := mpi.Send(c, send[:1], 1, 4); err != nil {
							t.Errorf("%s: the next message: %v", name, err)
						}
						continue
					}
					if late {
						c.Probe(0, 3)
					} else {
						mpi.Send(c, make([]int8, 1), 0, 9)
					}
					mismatched(t, name, r.recv(c, recv), mpi.ErrType, text)
					if got := uint32(math.Float64bits(recv[(n-1)/2]) >> ((n - 1) % 2 * 32)); got != uint32(n+6) {
						t.Errorf("%s: the last element is %d", name, got)
					}
					next := make([]int32, 1)
					if _, err := mpi.Recv(c, next, 0, 4); err != nil || next[0] != 7 {
						t.Errorf("%s: the next message is %d, %v", name, next[0], err)
					}
				}
			}
		}
	})
}

// Which types match: DT-16, DT-20.
func TestDT16_DT20_WhatMatches(t *testing.T) {
	of := func(count, bytes int, d func() (mpi.Datatype, error)) func(t testing.TB) mpi.Buffer {
		return func(t testing.TB) mpi.Buffer {
			ty, err := d()
			if err == nil {
				err = ty.Commit()
			}
			if err != nil {
				t.Error(err)
				return mpi.Buffer{}
			}
			return mpi.BufOf(make([]byte, bytes), count, ty)
		}
	}
	named := func(name string) func() (mpi.Datatype, error) {
		return func() (mpi.Datatype, error) { return mpi.Predefined(name) }
	}
	f90 := func(p, r int) func() (mpi.Datatype, error) {
		return func() (mpi.Datatype, error) { return mpi.TypeF90Real(p, r) }
	}
	double, _ := mpi.TypeOf[float64]()
	number, _ := mpi.TypeOf[int32]()
	type particle struct {
		Charge   int32
		Position [2]float64
	}
	for _, c := range []struct {
		sends, receives func(t testing.TB) mpi.Buffer
		class           mpi.Class // Success if they match
		text            string
	}{
		{sends: of(4, 16, named("MPI_INT32_T")), receives: of(8, 64, named("MPI_DOUBLE")), class: mpi.ErrType,
			text: "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 8 x MPI_DOUBLE"},
		{sends: of(4, 16, named("MPI_INT")), receives: of(4, 16, named("MPI_FLOAT")), class: mpi.ErrType,
			text: "rank 0 sends 4 x MPI_INT, rank 1 receives 4 x MPI_FLOAT"},
		{sends: of(1, 8, named("MPI_INT64_T")), receives: of(1, 8, named("MPI_UINT64_T")), class: mpi.ErrType,
			text: "rank 0 sends 1 x MPI_INT64_T, rank 1 receives 1 x MPI_UINT64_T"},
		// F90 types match only those of the same precision and range.
		{sends: of(1, 16, f90(6, 30)), receives: of(1, 16, f90(6, 30))},
		{sends: of(1, 16, f90(6, 30)), receives: of(1, 16, func() (mpi.Datatype, error) {
			d, err := mpi.TypeF90Real(6, 30)
			if err != nil {
				return d, err
			}
			return d.Dup()
		})},
		{sends: of(1, 16, f90(6, 37)), receives: of(1, 16, f90(5, 30)), class: mpi.ErrType, text: "rank 0 sends 1 x "},
		{sends: of(1, 16, f90(6, 30)), receives: of(1, 16, named("MPI_REAL")), class: mpi.ErrType, text: "rank 1 receives 1 x MPI_REAL"},
		// Bytes match any type.
		{sends: of(16, 16, named("MPI_BYTE")), receives: of(4, 16, named("MPI_INT32_T"))},
		{sends: of(2, 16, named("MPI_DOUBLE")), receives: of(16, 16, named("MPI_PACKED"))},
		// Equal sequences of types that were made in different ways, and prefixes of them.
		{sends: of(6, 48, named("MPI_DOUBLE")), receives: of(1, 88, func() (mpi.Datatype, error) { return mpi.TypeVector(6, 1, 2, double) })},
		{sends: of(2, 24, func() (mpi.Datatype, error) { return mpi.TypeContiguous(3, number) }), receives: of(9, 36, named("MPI_INT32_T"))},
		{sends: func(testing.TB) mpi.Buffer { return mpi.Buf(make([]particle, 3)) },
			receives: of(5, 120, func() (mpi.Datatype, error) {
				return mpi.TypeStruct([]int{1, 2}, []int{0, 8}, []mpi.Datatype{number, double})
			})},
		{sends: of(1, 4, named("MPI_INT32_T")), receives: func(testing.TB) mpi.Buffer { return mpi.Buf(make([]particle, 3)) }},
		{sends: func(testing.TB) mpi.Buffer { return mpi.Buf(make([]particle, 1)) },
			receives: of(1, 24, func() (mpi.Datatype, error) {
				return mpi.TypeStruct([]int{2, 1}, []int{0, 16}, []mpi.Datatype{double, number})
			}), class: mpi.ErrType, text: "[1 MPI_INT32_T, 2 MPI_DOUBLE], rank 1 receives 1 x "},
		// An empty message matches any type, and one kind of error does not hide the other.
		{sends: of(0, 0, named("MPI_INT")), receives: of(1, 8, named("MPI_DOUBLE"))},
		{sends: of(4, 32, named("MPI_DOUBLE")), receives: of(3, 24, named("MPI_DOUBLE")), class: mpi.ErrTruncate,
			text: "message truncated: 32 bytes into a 24-byte buffer: rank 0 sends 4 x MPI_DOUBLE, rank 1 receives 3 x MPI_DOUBLE"},
	} {
		checked(t, 2, func(t testing.TB, w *mpi.Comm) {
			if w.Rank() == 0 {
				if err := w.Send(c.sends(t), 1, 0); err != nil {
					t.Error(err)
				}
				return
			}
			switch _, err := w.Recv(c.receives(t), 0, 0); {
			case c.class != mpi.Success:
				mismatched(t, "Recv", err, c.class, c.text)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// Messages of a process to itself are checked, too, whether the message waits for the receive or
// not.
func TestDT16_MessagesToItself(t *testing.T) {
	checked(t, 1, func(t testing.TB, c *mpi.Comm) {
		self := c.Self()
		for _, n := range []int{1, 100_000} {
			send, recv, _ := otherwise(n)
			text := fmt.Sprintf("rank 0 sends %d x MPI_INT32_T, rank 0 receives %d x MPI_DOUBLE", n, n)
			_, err := mpi.Sendrecv(self, send, 0, 1, recv, 0, 1) // the receive is first
			mismatched(t, "Sendrecv", err, mpi.ErrType, text)
			q := mpi.Isend(self, send, 0, 1)
			_, err = mpi.Recv(self, recv, 0, 1)
			mismatched(t, "Recv", err, mpi.ErrType, text)
			if _, err := q.Wait(); err != nil {
				t.Error(err)
			}
			same := make([]int32, n)
			if _, err := mpi.Sendrecv(self, send, 0, 1, same, 0, 1); err != nil || same[n-1] != send[n-1] {
				t.Errorf("a message that is right: %d, %v", same[n-1], err)
			}
		}
	})
}

// RecvSlice accepts a message of any length, but not of any type.
func TestDT16_RecvSlice(t *testing.T) {
	checked(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			mpi.Send(c, make([]int64, 3), 1, 1)
			mpi.Send(c, []int64{5}, 1, 2)
			return
		}
		_, _, err := mpi.RecvSlice[float64](c, 0, 1)
		mismatched(t, "RecvSlice", err, mpi.ErrType, "rank 0 sends 3 x MPI_INT64_T, rank 1 receives 3 x MPI_DOUBLE")
		if s, _, err := mpi.RecvSlice[int64](c, 0, 2); err != nil || len(s) != 1 || s[0] != 5 {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// Errors name ranks of the communicator, not of the job.
func TestDT16_RanksOfTheCommunicator(t *testing.T) {
	checked(t, 3, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Split(0, -world.Rank()) // in reverse order
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Free()
		switch c.Rank() {
		case 0:
			mpi.Send(c, []int16{1}, 2, 1)
		case 2:
			_, err := mpi.Recv(c, make([]uint16, 1), 0, 1)
			mismatched(t, "Recv", err, mpi.ErrType, "rank 0 sends 1 x MPI_INT16_T, rank 2 receives 1 x MPI_UINT16_T")
		}
	})
}

// unchecked is for tests of behaviour without checks when the tests run with HALO_CHECK=1:
// without checks errors contain less, and nothing is allocated.
func unchecked(t *testing.T) { t.Setenv("HALO_CHECK", "") }

// Without HALO_CHECK elements of different types are not compared. An invalid value of
// HALO_CHECK is refused.
func TestCheckingIsChosenByTheEnvironment(t *testing.T) {
	for value, text := range map[string]string{"": "", "0": "", "yes": "HALO_CHECK=yes"} {
		t.Setenv("HALO_CHECK", value)
		err := mpi.Run(2, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				return c.Send(mpi.Buf(make([]struct {
					A int32
					B float64
				}, 1)), 1, 1)
			}
			_, err := c.Recv(mpi.Buf(make([]struct {
				A float64
				B int32
			}, 1)), 0, 1)
			return err
		})
		if (err != nil) != (text != "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("HALO_CHECK=%s: %v", value, err)
		}
	}
}
