package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// badCall is the error of a wrong call, and its expected class and text.
type badCall struct {
	err   error
	class mpi.Class
	text  string
}

func wantErrors(t testing.TB, calls []badCall) {
	t.Helper()
	for i, k := range calls {
		wantClass(t, k.err, k.class)
		if k.err.Error() != k.text {
			t.Errorf("call %d:\n\t%v\nwant\n\t%s", i, k.err, k.text)
		}
	}
}

// waited is the error that a wait for the request of a wrong call returns.
func waited(r mpi.Request) error {
	if r.IsNull() {
		return errors.New("the request of a wrong call is null")
	}
	_, err := r.Wait()
	if !r.IsNull() {
		return errors.New("the request of a wrong call is not null after Wait")
	}
	return err
}

func second[A any](_ A, err error) error                 { return err }
func third[A, B any](_ A, _ B, err error) error          { return err }
func fourth[A, B, C any](_ A, _ B, _ C, err error) error { return err }

// Wrong ranks and tags: for each call the error has the right class, and a message with call,
// object, peer, tag and numbers.
func TestERR01_WrongRanksAndTags(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		b := []byte{1}
		rank := func(call, dir, peer string) string {
			return fmt.Sprintf("mpi: %s on world %s %s tag 7: rank %s in a communicator of 2 (MPI_ERR_RANK)", call, dir, peer, peer)
		}
		tag := func(call, dir, tag string) string {
			return fmt.Sprintf("mpi: %s on world %s 1 tag %s: tag %s is not in 0..2147483647 (MPI_ERR_TAG)", call, dir, tag, tag)
		}
		var calls []badCall
		for name, send := range map[string]func(dest, tag int) error{
			"Send":      func(dest, tag int) error { return mpi.Send(c, b, dest, tag) },
			"Ssend":     func(dest, tag int) error { return mpi.Ssend(c, b, dest, tag) },
			"Bsend":     func(dest, tag int) error { return mpi.Bsend(c, b, dest, tag) },
			"Rsend":     func(dest, tag int) error { return mpi.Rsend(c, b, dest, tag) },
			"Isend":     func(dest, tag int) error { return waited(mpi.Isend(c, b, dest, tag)) },
			"Issend":    func(dest, tag int) error { return waited(mpi.Issend(c, b, dest, tag)) },
			"Ibsend":    func(dest, tag int) error { return waited(mpi.Ibsend(c, b, dest, tag)) },
			"Irsend":    func(dest, tag int) error { return waited(mpi.Irsend(c, b, dest, tag)) },
			"SendInit":  func(dest, tag int) error { return waited(mpi.SendInit(c, b, dest, tag)) },
			"SsendInit": func(dest, tag int) error { return waited(mpi.SsendInit(c, b, dest, tag)) },
			"BsendInit": func(dest, tag int) error { return waited(mpi.BsendInit(c, b, dest, tag)) },
			"RsendInit": func(dest, tag int) error { return waited(mpi.RsendInit(c, b, dest, tag)) },
			"Sendrecv":  func(dest, tag int) error { return second(mpi.Sendrecv(c, b, dest, tag, b, 1, 0)) },
			"Isendrecv": func(dest, tag int) error { return waited(mpi.Isendrecv(c, b, dest, tag, b, 1, 0)) },
			"SendrecvReplace": func(dest, tag int) error {
				return second(mpi.SendrecvReplace(c, b, dest, tag, 1, 0))
			},
			"IsendrecvReplace": func(dest, tag int) error {
				return waited(mpi.IsendrecvReplace(c, b, dest, tag, 1, 0))
			},
		} {
			calls = append(calls,
				badCall{send(2, 7), mpi.ErrRank, rank(name, "to", "2")},
				badCall{send(-2, 7), mpi.ErrRank, rank(name, "to", "-2")},
				badCall{send(mpi.AnySource, 7), mpi.ErrRank, // P2P-03
					fmt.Sprintf("mpi: %s on world to any source tag 7: rank -1 in a communicator of 2 (MPI_ERR_RANK)", name)},
				badCall{send(math.MaxInt, 7), mpi.ErrRank, rank(name, "to", fmt.Sprint(math.MaxInt))},
				badCall{send(1, -1), mpi.ErrTag, tag(name, "to", "-1")},
				badCall{send(1, 1<<31), mpi.ErrTag, tag(name, "to", "2147483648")},
				badCall{send(1, mpi.AnyTag), mpi.ErrTag,
					fmt.Sprintf("mpi: %s on world to 1 tag any: tag -2 is not in 0..2147483647 (MPI_ERR_TAG)", name)},
				badCall{send(mpi.ProcNull, -5), mpi.ErrTag,
					fmt.Sprintf("mpi: %s on world to no process tag -5: tag -5 is not in 0..2147483647 (MPI_ERR_TAG)", name)},
			)
		}
		for name, recv := range map[string]func(source, tag int) error{
			"Recv":      func(source, tag int) error { return second(mpi.Recv(c, b, source, tag)) },
			"Irecv":     func(source, tag int) error { return waited(mpi.Irecv(c, b, source, tag)) },
			"RecvInit":  func(source, tag int) error { return waited(mpi.RecvInit(c, b, source, tag)) },
			"RecvSlice": func(source, tag int) error { return third(mpi.RecvSlice[byte](c, source, tag)) },
			"Probe":     func(source, tag int) error { return second(c.Probe(source, tag)) },
			"Iprobe":    func(source, tag int) error { return third(c.Iprobe(source, tag)) },
			"Mprobe":    func(source, tag int) error { return third(c.Mprobe(source, tag)) },
			"Improbe":   func(source, tag int) error { return fourth(c.Improbe(source, tag)) },
			"Sendrecv":  func(source, tag int) error { return second(mpi.Sendrecv(c, b, 1, 0, b, source, tag)) },
			"Isendrecv": func(source, tag int) error { return waited(mpi.Isendrecv(c, b, 1, 0, b, source, tag)) },
			"SendrecvReplace": func(source, tag int) error {
				return second(mpi.SendrecvReplace(c, b, 1, 0, source, tag))
			},
		} {
			calls = append(calls,
				badCall{recv(2, 7), mpi.ErrRank, rank(name, "from", "2")},
				badCall{recv(-4, 7), mpi.ErrRank, rank(name, "from", "-4")},
				badCall{recv(1, -1), mpi.ErrTag, tag(name, "from", "-1")},
				badCall{recv(1, math.MinInt32), mpi.ErrTag, tag(name, "from", "-2147483648")},
				badCall{recv(1, 1<<40), mpi.ErrTag, tag(name, "from", "1099511627776")},
			)
		}
		wantErrors(t, calls)
		// None of these calls has left anything pending.
		ok(t, c.Barrier())
		if _, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag); found || err != nil {
			t.Fatalf("a wrong call has sent something (%v)", err)
		}
	})
}

// Calls on no communicator, and on one that was freed.
func TestERR01_NilAndFreedCommunicators(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		freed, err := c.Dup()
		ok(t, err)
		ok(t, freed.SetName("spent"))
		ok(t, freed.Free())
		b := []byte{1}
		for _, k := range []struct {
			c    *mpi.Comm
			text string
		}{
			{nil, "mpi: %s: communicator is nil (MPI_ERR_COMM)"},
			{freed, "mpi: %s on spent: communicator has been freed (MPI_ERR_COMM)"},
		} {
			c := k.c
			for name, err := range map[string]error{
				"Send":             mpi.Send(c, b, 0, 0),
				"Ssend":            mpi.Ssend(c, b, 0, 0),
				"Bsend":            mpi.Bsend(c, b, 0, 0),
				"Rsend":            mpi.Rsend(c, b, 0, 0),
				"Isend":            waited(mpi.Isend(c, b, 0, 0)),
				"SendInit":         waited(mpi.SendInit(c, b, 0, 0)),
				"Recv":             second(mpi.Recv(c, b, 0, 0)),
				"Irecv":            waited(mpi.Irecv(c, b, 0, 0)),
				"RecvInit":         waited(mpi.RecvInit(c, b, 0, 0)),
				"RecvSlice":        third(mpi.RecvSlice[byte](c, 0, 0)),
				"Sendrecv":         second(mpi.Sendrecv(c, b, 0, 0, b, 0, 0)),
				"SendrecvReplace":  second(mpi.SendrecvReplace(c, b, 0, 0, 0, 0)),
				"Isendrecv":        waited(mpi.Isendrecv(c, b, 0, 0, b, 0, 0)),
				"IsendrecvReplace": waited(mpi.IsendrecvReplace(c, b, 0, 0, 0, 0)),
				"Probe":            second(c.Probe(0, 0)),
				"Iprobe":           third(c.Iprobe(0, 0)),
				"Mprobe":           third(c.Mprobe(0, 0)),
				"Improbe":          fourth(c.Improbe(0, 0)),
				"BufferAttach":     mpi.BufferAttach(c, nil),
				"BufferDetach":     second(mpi.BufferDetach(c)),
				"BufferFlush":      mpi.BufferFlush(c),
				"IbufferFlush":     waited(mpi.IbufferFlush(c)),
				"AttachBuffer":     c.AttachBuffer(nil),
				"DetachBuffer":     second(c.DetachBuffer()),
				"FlushBuffer":      c.FlushBuffer(),
				"IflushBuffer":     waited(c.IflushBuffer()),
				"Barrier":          c.Barrier(),
				"Dup":              second(c.Dup()),
				"Split":            second(c.Split(0, 0)),
				"Free":             c.Free(),
				"Compare":          second(c.Compare(c)),
				"Bcast":            mpi.Bcast(c, b, 0),
				"Reduce":           mpi.Reduce(c, b, b, mpi.Sum, 0),
				"Allreduce":        mpi.Allreduce(c, b, b, mpi.Sum),
				"Gather":           mpi.Gather(c, b, b, 0),
			} {
				wantErrors(t, []badCall{{err, mpi.ErrComm, fmt.Sprintf(k.text, name)}})
			}
		}
		_, err = c.Split(-3, 0)
		wantErrors(t, []badCall{{err, mpi.ErrArg, "mpi: Split on world: color -3 is negative and not Undefined (MPI_ERR_ARG)"}})
	})
}

// The text of an error that the engine detects.
func TestERR01_TextOfTruncation(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 1 {
			for range 4 {
				ok(t, mpi.Send(c, make([]byte, 128), 0, 7))
			}
			return
		}
		b := make([]byte, 64)
		_, err := mpi.Recv(c, b, 1, 7)
		wantErrors(t, []badCall{{err, mpi.ErrTruncate,
			"mpi: Recv on world from 1 tag 7: message truncated: 128 bytes into a 64-byte buffer (MPI_ERR_TRUNCATE)"}})
		var e *mpi.Error
		if !errors.As(err, &e) || e.Class != mpi.ErrTruncate || e.Call != "Recv" || e.Object != "world" || e.Peer != 1 || e.Tag != 7 {
			t.Errorf("error is %+v", e)
		}
		r := mpi.Irecv(c, b, mpi.AnySource, mpi.AnyTag)
		_, err = r.Wait()
		wantErrors(t, []badCall{{err, mpi.ErrTruncate,
			"mpi: Irecv on world from any source tag any: message truncated: 128 bytes into a 64-byte buffer (MPI_ERR_TRUNCATE)"}})
		m, _, err := c.Mprobe(1, mpi.AnyTag)
		ok(t, err)
		_, err = mpi.Mrecv(&m, b)
		wantErrors(t, []badCall{{err, mpi.ErrTruncate,
			"mpi: Mrecv on world from 1 tag 7: message truncated: 128 bytes into a 64-byte buffer (MPI_ERR_TRUNCATE)"}})
		rs := []mpi.Request{{}, mpi.Irecv(c, b, 1, 7)}
		err = mpi.Waitall(rs, nil)
		wantErrors(t, []badCall{{err, mpi.ErrInStatus, "mpi: Waitall: 1 of 2 operations failed, the first: " +
			"mpi: Irecv on world from 1 tag 7: message truncated: 128 bytes into a 64-byte buffer (MPI_ERR_TRUNCATE) (MPI_ERR_IN_STATUS)"}})
		if !errors.Is(err, mpi.ErrTruncate) {
			t.Error("ErrInStatus does not lead to its cause")
		}
	})
}

// Classes are errors with the names and values of the standard.
func TestERR15_Classes(t *testing.T) {
	for class, want := range map[mpi.Class]string{
		mpi.ErrBuffer: "MPI_ERR_BUFFER", mpi.ErrCount: "MPI_ERR_COUNT", mpi.ErrType: "MPI_ERR_TYPE",
		mpi.ErrTag: "MPI_ERR_TAG", mpi.ErrComm: "MPI_ERR_COMM", mpi.ErrRank: "MPI_ERR_RANK",
		mpi.ErrRequest: "MPI_ERR_REQUEST", mpi.ErrRoot: "MPI_ERR_ROOT", mpi.ErrGroup: "MPI_ERR_GROUP",
		mpi.ErrOp: "MPI_ERR_OP", mpi.ErrArg: "MPI_ERR_ARG", mpi.ErrUnknown: "MPI_ERR_UNKNOWN",
		mpi.ErrTruncate: "MPI_ERR_TRUNCATE", mpi.ErrOther: "MPI_ERR_OTHER", mpi.ErrIntern: "MPI_ERR_INTERN",
		mpi.ErrPending: "MPI_ERR_PENDING", mpi.ErrInStatus: "MPI_ERR_IN_STATUS", mpi.ErrNoMem: "MPI_ERR_NO_MEM",
		mpi.ErrUnsupportedOperation: "MPI_ERR_UNSUPPORTED_OPERATION",
		mpi.ErrProcAborted:          "MPI_ERR_PROC_ABORTED", mpi.ErrProcFailed: "MPI_ERR_PROC_FAILED",
		mpi.Class(9999): "MPI_ERR(9999)",
	} {
		if class.Error() != want || class.String() != want || !errors.Is(class, class) {
			t.Errorf("class %d is called %q, want %q", int(class), class, want)
		}
		e := &mpi.Error{Class: class, Call: "Send", Peer: mpi.Undefined, Tag: mpi.Undefined, Detail: "why"}
		if !errors.Is(e, class) || errors.Is(e, class+1) || e.Error() != "mpi: Send: why ("+want+")" {
			t.Errorf("error of class %v: %v", class, e)
		}
		if errors.Is(fmt.Errorf("wrapped: %w", e), context.Canceled) {
			t.Error("an error is what it is not")
		}
	}
}
