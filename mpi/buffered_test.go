package mpi_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A buffer for n messages with their overhead is enough for n messages that are not received.
// One more message is ErrBuffer, and no message is lost.
func TestENV04_BsendOverheadIsEnough(t *testing.T) {
	for _, size := range []int{0, 1, 100, 9000, 70_000} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			const n = 20
			if c.Rank() == 0 {
				room := make([]byte, n*(size+mpi.BsendOverhead))
				ok(t, mpi.BufferAttach(c, room))
				for i := range n {
					ok(t, mpi.Bsend(c, payload(size, uint64(i)), 1, 0))
				}
				wantClass(t, mpi.Bsend(c, make([]byte, len(room)+1), 1, 0), mpi.ErrBuffer)
				r := mpi.Ibsend(c, make([]byte, len(room)+1), 1, 0)
				_, err := r.Wait()
				wantClass(t, err, mpi.ErrBuffer)
				ok(t, mpi.Send(c, []byte{}, 1, 1))
				back, err := mpi.BufferDetach(c)
				ok(t, err)
				if len(back) != len(room) || unsafe.SliceData(back) != unsafe.SliceData(room) {
					t.Fatal("BufferDetach gives another buffer back")
				}
				return
			}
			_, err := mpi.Recv(c, []byte{}, 0, 1) // no message is received before this one
			ok(t, err)
			for i := range n {
				b, _, err := mpi.RecvSlice[byte](c, 0, 0)
				ok(t, err)
				if len(b) != size {
					t.Fatalf("message of %d bytes, want %d", len(b), size)
				}
				wantPayload(t, b, size, uint64(i))
			}
		})
	}
}

// An overflow is an error of that send only: earlier messages arrive, and free their space.
func TestXP2P03_OverflowLosesNothing(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const size = 100_000 // stays with the sender until it is received
		if c.Rank() == 0 {
			ok(t, mpi.BufferAttach(c, make([]byte, 3*(size+mpi.BsendOverhead))))
			sent := 0
			for sent < 10 {
				err := mpi.Bsend(c, payload(size, uint64(sent)), 1, 0)
				if err == nil {
					sent++
					continue
				}
				wantClass(t, err, mpi.ErrBuffer)
				ok(t, mpi.Send(c, []int{sent}, 1, 1)) // have them received
				ok(t, mpi.BufferFlush(c))
			}
			ok(t, mpi.Send(c, []int{sent}, 1, 1))
			_, err := mpi.BufferDetach(c)
			ok(t, err)
			return
		}
		for got := 0; got < 10; {
			upTo := []int{0}
			_, err := mpi.Recv(c, upTo, 0, 1)
			ok(t, err)
			for ; got < upTo[0]; got++ {
				b, _, err := mpi.RecvSlice[byte](c, 0, 0)
				ok(t, err)
				wantPayload(t, b, size, uint64(got))
			}
		}
	})
}

// Attach and detach in the right order; in the wrong order they are errors.
func TestXP2P03_AttachDetach(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		wantClass(t, mpi.Bsend(c, []byte{1}, 0, 0), mpi.ErrBuffer)
		_, err := mpi.BufferDetach(c)
		wantClass(t, err, mpi.ErrBuffer)
		_, err = c.DetachBuffer()
		wantClass(t, err, mpi.ErrBuffer)
		ok(t, mpi.BufferFlush(c)) // nothing to wait for
		ok(t, c.FlushBuffer())
		ok(t, mpi.BufferAttach(c, make([]byte, 1000)))
		wantClass(t, mpi.BufferAttach(c, make([]byte, 1000)), mpi.ErrBuffer)
		wantClass(t, mpi.BufferAttach(c, nil), mpi.ErrBuffer)
		ok(t, c.AttachBuffer(nil))
		wantClass(t, c.AttachBuffer(nil), mpi.ErrBuffer)
		b, err := mpi.BufferDetach(c)
		ok(t, err)
		if len(b) != 1000 {
			t.Fatalf("detached %d bytes", len(b))
		}
		b, err = c.DetachBuffer()
		ok(t, err)
		if b != nil {
			t.Fatalf("an automatic buffer gives %d bytes back", len(b))
		}
		ok(t, mpi.BufferAttach(c, []byte{}))
		wantClass(t, mpi.Bsend(c, []byte{1}, 0, 0), mpi.ErrBuffer)
		_, err = mpi.BufferDetach(c)
		ok(t, err)
	})
}

// The buffer of a communicator takes precedence over that of the process.
func TestXP2P03_CommunicatorBeforeProcess(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Dup()
		ok(t, err)
		peer := 1 - c.Rank()
		ok(t, mpi.BufferAttach(c, nil))                           // the process: unlimited
		ok(t, d.AttachBuffer(make([]byte, 50+mpi.BsendOverhead))) // the communicator: little
		ok(t, mpi.Bsend(c, make([]byte, 1000), peer, 0))
		wantClass(t, mpi.Bsend(d, make([]byte, 1000), peer, 0), mpi.ErrBuffer)
		ok(t, mpi.Bsend(d, make([]byte, 50), peer, 0))
		for _, comm := range []*mpi.Comm{c, d} {
			_, _, err := mpi.RecvSlice[byte](comm, peer, 0)
			ok(t, err)
		}
		_, err = d.DetachBuffer()
		ok(t, err)
		ok(t, mpi.Bsend(d, make([]byte, 1000), peer, 0)) // that of the process again
		_, _, err = mpi.RecvSlice[byte](d, peer, 0)
		ok(t, err)
		_, err = mpi.BufferDetach(c)
		ok(t, err)
		ok(t, d.Free())
	})
}

// A flush waits for the messages in its buffer, and only for those that were sent before it.
func TestXP2P03_Flush(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const size = 200_000
		if c.Rank() == 0 {
			d := c.Self()
			ok(t, mpi.BufferAttach(c, nil))
			ok(t, c.AttachBuffer(nil))
			ok(t, mpi.Bsend(c, payload(size, 1), 1, 0)) // in the buffer of the communicator
			ok(t, mpi.BufferFlush(c))                   // the buffer of the process is empty
			ok(t, mpi.Bsend(d, payload(size, 9), 0, 0)) // in the buffer of the process
			inner, outer := c.IflushBuffer(), mpi.IbufferFlush(c)
			for _, r := range []mpi.Request{inner, outer} {
				if _, done, err := r.Test(); done || err != nil {
					t.Fatalf("flush is complete before the receive: %v", err)
				}
			}
			ok(t, mpi.Bsend(c, payload(size, 2), 1, 2)) // not waited for by inner
			ok(t, mpi.Send(c, []byte{}, 1, 1))
			_, err := inner.Wait()
			ok(t, err)
			if _, done, _ := outer.Test(); done {
				t.Fatal("flush of the process's buffer is complete without it")
			}
			b, _, err := mpi.RecvSlice[byte](d, 0, 0)
			ok(t, err)
			wantPayload(t, b, size, 9)
			_, err = outer.Wait()
			ok(t, err)
			ok(t, mpi.Send(c, []byte{}, 1, 1))
			_, err = c.DetachBuffer() // waits for the second message
			ok(t, err)
			_, err = mpi.BufferDetach(c)
			ok(t, err)
			return
		}
		for i := range 2 {
			_, err := mpi.Recv(c, []byte{}, 0, 1)
			ok(t, err)
			b, _, err := mpi.RecvSlice[byte](c, 0, 2*i)
			ok(t, err)
			wantPayload(t, b, size, uint64(i+1))
		}
	})
}

// Many goroutines make buffered sends with each kind of buffer.
func TestXP2P03_Storms(t *testing.T) {
	const workers, per = 6, 60
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		for kind, attach := range []func() error{
			func() error { return mpi.BufferAttach(c, nil) },
			func() error { return mpi.BufferAttach(c, make([]byte, workers*(70_000+mpi.BsendOverhead))) },
			func() error { return c.AttachBuffer(nil) },
			func() error { return c.AttachBuffer(make([]byte, workers*(70_000+mpi.BsendOverhead))) },
		} {
			ok(t, attach())
			flush, detach := func() error { return mpi.BufferFlush(c) }, func() ([]byte, error) { return mpi.BufferDetach(c) }
			if kind >= 2 {
				flush, detach = c.FlushBuffer, c.DetachBuffer
			}
			dest, source := (c.Rank()+1)%3, (c.Rank()+2)%3
			var wg sync.WaitGroup
			for w := range workers {
				size := func(i int) int { return []int{0, 8, 300, 9000, 70_000}[(w+i)%5] }
				wg.Go(func() {
					for i := range per {
						for mpi.Bsend(c, payload(size(i), uint64(w*per+i)), dest, w) != nil {
							if kind%2 == 0 {
								t.Error("an automatic buffer is full")
								return
							}
							if err := flush(); err != nil {
								t.Error(err)
								return
							}
						}
					}
				})
				wg.Go(func() {
					b := make([]byte, 70_000)
					for i := range per {
						st, err := mpi.Recv(c, b, source, w)
						if err != nil || st.Bytes() != int64(size(i)) || string(b[:size(i)]) != string(payload(size(i), uint64(w*per+i))) {
							t.Errorf("message %d of worker %d: %d bytes (%v)", i, w, st.Bytes(), err)
							return
						}
					}
				})
			}
			wg.Wait()
			_, err := detach()
			ok(t, err)
		}
	})
}
