package mpi_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Memory that is not a slice is sent and received like a slice; invalid addresses are errors.
func TestBufPtr(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		mem := make([]int32, 12)
		d, err := mpi.TypeVector(3, 1, 2, must(mpi.Predefined("MPI_INT32_T")))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(); err != nil {
			t.Fatal(err)
		}
		b := mpi.BufPtr(unsafe.Pointer(&mem[1]), 2, d)
		switch c.Rank() {
		case 0:
			for i := range mem {
				mem[i] = int32(i)
			}
			err = c.Send(b, 1, 0)
		case 1:
			_, err = c.Recv(b, 0, 0)
			for i, v := range mem {
				want := int32(0)
				if i == 1 || i == 3 || i == 5 || i == 6 || i == 8 || i == 10 {
					want = int32(i)
				}
				if v != want {
					t.Errorf("element %d is %d, want %d", i, v, want)
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Send(mpi.BufPtr(nil, 1, mpi.Byte()), 0, 0); !errors.Is(err, mpi.ErrBuffer) {
			t.Errorf("Send of a byte at no address: %v, want ErrBuffer", err)
		}
		if err := c.Send(mpi.BufPtr(nil, 1, mpi.DatatypeNull), 0, 0); !errors.Is(err, mpi.ErrType) {
			t.Errorf("Send of the null type: %v, want ErrType", err)
		}
		if err := d.Free(); err != nil {
			t.Fatal(err)
		}
	})
}

// Request.Err returns the error of the arguments of the call, and Wait returns it again.
func TestRequestErr(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		q := mpi.Isend(c, []byte{1}, 5, 0)
		if err := q.Err(); !errors.Is(err, mpi.ErrRank) {
			t.Errorf("Err of Isend to a rank that is none: %v, want ErrRank", err)
		}
		if _, err := q.Wait(); !errors.Is(err, mpi.ErrRank) {
			t.Errorf("Wait: %v, want ErrRank", err)
		}
		q = mpi.Isend(c, []byte{1}, 0, 0)
		if err := q.Err(); err != nil {
			t.Errorf("Err of an operation that has started: %v", err)
		}
		if _, err := mpi.Recv(c, make([]byte, 1), 0, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}

// An error that a library has made reaches the handler unchanged.
func TestCallErrhandlerKeepsErrors(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		var told *mpi.Error
		if err := c.SetErrhandler(mpi.CreateCommErrhandler(func(_ *mpi.Comm, e *mpi.Error) { told = e })); err != nil {
			t.Fatal(err)
		}
		e := &mpi.Error{Class: mpi.ErrOp, Call: "Library", Peer: 3, Tag: mpi.Undefined, Detail: "no"}
		if err := c.CallErrhandler(e); err != e || told != e || told.Object != c.Name() {
			t.Errorf("the handler got %v and the caller %v, want %v", told, err, e)
		}
	})
}

// The number of elements in a status is the number that was set.
func TestStatusSetElements(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		pair := must(mpi.Predefined("MPI_DOUBLE_INT"))
		for n := range 7 {
			var s mpi.Status
			if err := s.SetElements(pair, n); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Elements(pair); err != nil || got != n {
				t.Errorf("%d elements of pairs are %d, %v", n, got, err)
			}
			if want := []int64{0, 8, 12, 20, 24, 32, 36}[n]; s.Bytes() != want {
				t.Errorf("%d elements of pairs are %d bytes, want %d", n, s.Bytes(), want)
			}
		}
		var s mpi.Status
		if err := s.SetElements(pair, -1); !errors.Is(err, mpi.ErrCount) {
			t.Errorf("-1 elements: %v, want ErrCount", err)
		}
		if err := s.SetElements(pair, 1<<62); !errors.Is(err, mpi.ErrCount) {
			t.Errorf("2^62 elements: %v, want ErrCount", err)
		}
		s.SetCancelled(true)
		if !s.Cancelled() {
			t.Error("not cancelled")
		}
	})
}
