package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// 3.3.1, DT-16: a receive of other elements than were sent is ErrType outside of checking mode,
// too, for every protocol and every receiving call. The message is consumed, and its sender's
// operation completes.
func TestDT16_MessagesOfOtherElements(t *testing.T) {
	unchecked(t)
	const tag = 3
	wait := func(r mpi.Request) error { _, err := r.Wait(); return err }
	sends := map[string]func(c *mpi.Comm, n int) error{
		"Send":  func(c *mpi.Comm, n int) error { return mpi.Send(c, make([]float64, n), 1, tag) },
		"Ssend": func(c *mpi.Comm, n int) error { return mpi.Ssend(c, make([]float64, n), 1, tag) },
		"Isend": func(c *mpi.Comm, n int) error { return wait(mpi.Isend(c, make([]float64, n), 1, tag)) },
		"persistent": func(c *mpi.Comm, n int) error {
			r := mpi.SendInit(c, make([]float64, n), 1, tag)
			return errors.Join(r.Start(), wait(r), r.Free())
		},
		"Buffer": func(c *mpi.Comm, n int) error { return c.Send(mpi.Buf(make([]float64, n)), 1, tag) },
		"layout": func(c *mpi.Comm, n int) error {
			return c.Send(mpi.Buf(make([]struct {
				A float64
				_ float64
			}, n)), 1, tag)
		},
		"Sendrecv": func(c *mpi.Comm, n int) error {
			_, err := mpi.Sendrecv(c, make([]float64, n), 1, tag, []int8{0}, mpi.ProcNull, 0)
			return err
		},
		"SendrecvReplace": func(c *mpi.Comm, n int) error {
			_, err := mpi.SendrecvReplace(c, make([]float64, n), 1, tag, mpi.ProcNull, 0)
			return err
		},
		"Bsend": func(c *mpi.Comm, n int) error {
			if err := c.AttachBuffer(make([]byte, 8*n+mpi.BsendOverhead)); err != nil {
				return err
			}
			err := mpi.Bsend(c, make([]float64, n), 1, tag)
			_, detached := c.DetachBuffer()
			return errors.Join(err, detached)
		},
	}
	recvs := map[string]func(c *mpi.Comm, n int) error{
		"Recv": func(c *mpi.Comm, n int) error { _, err := mpi.Recv(c, make([]int32, 2*n), 0, tag); return err },
		"any": func(c *mpi.Comm, n int) error {
			_, err := mpi.Recv(c, make([]int32, 2*n), mpi.AnySource, mpi.AnyTag)
			return err
		},
		"Irecv":     func(c *mpi.Comm, n int) error { return wait(mpi.Irecv(c, make([]int32, 2*n), 0, tag)) },
		"Buffer":    func(c *mpi.Comm, n int) error { _, err := c.Recv(mpi.Buf(make([]int32, 2*n)), 0, tag); return err },
		"RecvSlice": func(c *mpi.Comm, n int) error { _, _, err := mpi.RecvSlice[int32](c, 0, tag); return err },
		"Mrecv": func(c *mpi.Comm, n int) error {
			m, _, err := c.Mprobe(0, tag)
			if err == nil {
				_, err = mpi.Mrecv(&m, make([]int32, 2*n))
			}
			return err
		},
		"Imrecv": func(c *mpi.Comm, n int) error {
			m, _, err := c.Mprobe(0, tag)
			if err != nil {
				return err
			}
			return wait(mpi.Imrecv(&m, make([]int32, 2*n)))
		},
		"SendrecvReplace": func(c *mpi.Comm, n int) error {
			_, err := mpi.SendrecvReplace(c, make([]int32, 2*n), mpi.ProcNull, 0, 0, tag)
			return err
		},
		"persistent": func(c *mpi.Comm, n int) error {
			r := mpi.RecvInit(c, make([]int32, 2*n), 0, tag)
			return errors.Join(r.Start(), wait(r), r.Free())
		},
		"Sendrecv": func(c *mpi.Comm, n int) error {
			_, err := mpi.Sendrecv(c, []int8{0}, mpi.ProcNull, 0, make([]int32, 2*n), 0, tag)
			return err
		},
		"layout": func(c *mpi.Comm, n int) error {
			_, err := c.Recv(mpi.Buf(make([]struct {
				A int32
				_ int32
			}, 2*n)), 0, tag)
			return err
		},
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, how := range []string{"Send", "Ssend", "Isend", "persistent", "Buffer", "layout", "Sendrecv", "SendrecvReplace", "Bsend"} {
			for _, what := range []string{"Recv", "any", "Irecv", "Buffer", "RecvSlice", "Mrecv", "Imrecv", "persistent", "Sendrecv", "SendrecvReplace", "layout"} {
				for _, n := range []int{1, 1000, 40_000} {
					if c.Rank() == 0 {
						if err := sends[how](c, n); err != nil {
							t.Errorf("%s of %d elements: %v", how, n, err)
						}
						continue
					}
					err := recvs[what](c, n)
					if !errors.Is(err, mpi.ErrType) || !strings.Contains(err.Error(), "x MPI_DOUBLE, rank 1 receives") {
						t.Errorf("%s of %d elements by %s: %v", what, n, how, err)
					}
				}
			}
		}
		// No message is left, and the next one is received.
		if c.Rank() == 0 {
			ok(t, mpi.Send(c, []int{4711}, 1, tag))
			return
		}
		got := make([]int64, 1)
		_, err := mpi.Recv(c, got, 0, tag)
		if err != nil || got[0] != 4711 {
			t.Errorf("then %v, %v", got, err)
		}
	})
}

// DT-16: the error belongs to one message: a persistent receive that had it receives the next
// message, and requests that are reused from the pool do not have it. It occurs also for
// messages of a process to itself, and between two groups.
func TestDT16_ErrorsAreOfOneMessage(t *testing.T) {
	const tag = 3
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		world := c
		group, err := c.Split(c.Rank(), 0)
		ok(t, err)
		between, err := mpi.IntercommCreate(group, 0, c, 1-c.Rank(), 4)
		ok(t, err)
		for _, c := range []*mpi.Comm{world, between} {
			peer := 1 - world.Rank()
			if c == between {
				peer = 0
			}
			for _, n := range []int{1, 40_000} {
				if world.Rank() == 0 {
					ok(t, mpi.Send(c, make([]float64, n), peer, tag))
					ok(t, mpi.Send(c, make([]int32, 2*n), peer, tag))
					ok(t, mpi.Send(c, make([]int32, 2*n), peer, tag))
					continue
				}
				r := mpi.RecvInit(c, make([]int32, 2*n), peer, tag)
				ok(t, r.Start())
				_, err := r.Wait()
				wantClass(t, err, mpi.ErrType)
				ok(t, r.Start())
				_, err = r.Wait()
				ok(t, err)
				ok(t, r.Free())
				_, err = mpi.Recv(c, make([]int32, 2*n), peer, tag)
				ok(t, err)
			}
		}
		for _, n := range []int{1, 40_000} {
			r := mpi.Isend(c, make([]float64, n), c.Rank(), tag)
			_, err := mpi.Recv(c, make([]int32, 2*n), c.Rank(), tag)
			wantClass(t, err, mpi.ErrType)
			_, err = r.Wait()
			ok(t, err)
			r = mpi.Irecv(c, make([]int32, 2*n), c.Rank(), tag)
			ok(t, mpi.Send(c, make([]float64, n), c.Rank(), tag))
			_, err = r.Wait()
			wantClass(t, err, mpi.ErrType)
		}
		ok(t, between.Free())
		ok(t, group.Free())
	})
}

// DT-16: types that match are received: elements with the same representation, whatever their
// names; bytes; packed data; structs with the same sequence; messages without elements; and
// shorter messages.
func TestDT16_MessagesThatMatch(t *testing.T) {
	type celsius float64
	type both struct {
		A int32
		B float64
	}
	mixed, err := mpi.TypeStruct([]int{1, 1}, []int{0, 8}, []mpi.Datatype{named(t, "MPI_INT32_T"), named(t, "MPI_DOUBLE")})
	ok(t, err)
	ok(t, mixed.Commit())
	column, err := mpi.TypeVector(4, 1, 2, named(t, "MPI_DOUBLE"))
	ok(t, err)
	ok(t, column.Commit())
	for name, pair := range map[string]struct {
		send func(c *mpi.Comm) error
		recv func(c *mpi.Comm) error
	}{
		"int and int64":   {sendSlice([]int{1}), recvSlice(make([]int64, 1))},
		"named":           {sendSlice([]celsius{1}), recvSlice(make([]float64, 3))},
		"from bytes":      {sendSlice(make([]byte, 16)), recvSlice(make([]float64, 2))},
		"to bytes":        {sendSlice([]float64{1, 2}), recvSlice(make([]byte, 16))},
		"no elements":     {sendSlice([]float64{}), recvSlice(make([]int32, 2))},
		"struct":          {sendOf(mpi.Buf([]both{{1, 2}})), recvInto(mpi.BufOf(make([]byte, 16), 1, mixed))},
		"pairs":           {sendSlice([]mpi.ValueIndex[float64, int64]{{}}), recvInto(mpi.Buf(make([]mpi.ValueIndex[float64, int64], 1)))},
		"vector":          {sendSlice(make([]float64, 4)), recvInto(mpi.BufOf(make([]float64, 8), 1, column))},
		"vector of it":    {sendOf(mpi.BufOf(make([]float64, 8), 1, column)), recvSlice(make([]float64, 4))},
		"names in C":      {sendOf(mpi.BufOf(make([]int32, 1), 1, named(t, "MPI_INT"))), recvSlice(make([]int32, 1))},
		"bytes as a type": {sendOf(mpi.BufOf(make([]float64, 1), 8, mpi.Byte())), recvSlice(make([]complex64, 1))},
	} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			do := pair.recv
			if c.Rank() == 0 {
				do = pair.send
			}
			if err := do(c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func sendSlice[T mpi.Elem](s []T) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error { return mpi.Send(c, s, 1, 0) }
}

func recvSlice[T mpi.Elem](s []T) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error { _, err := mpi.Recv(c, s, 0, 0); return err }
}

func sendOf(b mpi.Buffer) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error { return c.Send(b, 1, 0) }
}

func recvInto(b mpi.Buffer) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error { _, err := c.Recv(b, 0, 0); return err }
}

// DT-16: a message that is too long for its buffer is ErrTruncate even if the elements have
// another type. Then the error names both types.
func TestDT16_TruncationComesFirst(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, n := range []int{2, 1000, 40_000} {
			if c.Rank() == 0 {
				for range 3 {
					ok(t, mpi.Send(c, make([]float64, n), 1, 0))
				}
				ok(t, mpi.Send(c, make([]float64, 2*n), 1, 0))
				continue
			}
			_, first := mpi.Recv(c, make([]int32, n), 0, 0)
			r := mpi.Irecv(c, make([]int32, n), 0, 0)
			_, second := r.Wait()
			_, third := c.Recv(mpi.Buf(make([]int32, n)), 0, 0)
			for _, err := range []error{first, second, third} {
				if !errors.Is(err, mpi.ErrTruncate) || !strings.Contains(err.Error(), fmt.Sprintf("rank 0 sends %d x MPI_DOUBLE, rank 1 receives %d x MPI_INT32_T", n, n)) {
					t.Errorf("%d elements: %v", n, err)
				}
			}
			if _, err := mpi.Recv(c, make([]float64, n), 0, 0); !errors.Is(err, mpi.ErrTruncate) || strings.Contains(err.Error(), "MPI_DOUBLE") {
				t.Errorf("%d elements: %v", n, err)
			}
		}
	})
}

func named(t testing.TB, name string) mpi.Datatype {
	t.Helper()
	d, err := mpi.Predefined(name)
	ok(t, err)
	return d
}
