package mpi_test

import (
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// typed sends and receives values of one element type by one call.
func typed[T mpi.Elem](t testing.TB, c *mpi.Comm, values ...T) {
	t.Helper()
	if c.Rank() == 0 {
		ok(t, mpi.Send(c, values, 1, 3))
		return
	}
	got := make([]T, len(values)+2)
	st, err := mpi.Recv(c, got, 0, 3)
	ok(t, err)
	if mpi.Count[T](st) != len(values) {
		t.Fatalf("%T: received %d elements, want %d", values, mpi.Count[T](st), len(values))
	}
	for i, v := range values {
		if got[i] != v {
			t.Fatalf("%T: element %d is %v, want %v", values, i, got[i], v)
		}
	}
}

type (
	celsius float64
	truth   bool
)

func TestTRM11_P2P01_AllElementTypes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		typed(t, c, true, false, true)
		typed[int8](t, c, -1, 2)
		typed[int16](t, c, -300, 2)
		typed[int32](t, c, -70000, 2)
		typed[int64](t, c, -1<<40, 2)
		typed[int](t, c, -1<<40, 2)
		typed[uint8](t, c, 255, 2)
		typed[uint16](t, c, 65535, 2)
		typed[uint32](t, c, 1<<31, 2)
		typed[uint64](t, c, 1<<63, 2)
		typed[uint](t, c, 1<<63, 2)
		typed[float32](t, c, 1.5, -2)
		typed[float64](t, c, 1e300, -2)
		typed[complex64](t, c, 1+2i)
		typed(t, c, 1e300+2i, -1i)
		typed[celsius](t, c, 36.6)
		typed[truth](t, c, true, false)
		typed[int](t, c)
	})
}

// Wildcards match the first message, and the status says which message it was.
func TestP2P02_Wildcards(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			const per = 40
			if c.Rank() != 0 {
				for i := range per {
					ok(t, mpi.Send(c, payload(8+i*50, uint64(c.Rank()*1000+i)), 0, i))
				}
				return
			}
			// In turn: any tag from the source with the fewest messages received, and any source
			// and tag.
			next := make([]int, n)
			buf := make([]byte, 4096)
			for k := range per * (n - 1) {
				source := mpi.AnySource
				least := 1
				for s := 1; s < n; s++ {
					if next[s] < next[least] {
						least = s
					}
				}
				if k%2 == 0 {
					source = least
				}
				st, err := mpi.Recv(c, buf, source, mpi.AnyTag)
				ok(t, err)
				if source >= 0 && st.Source != source {
					t.Fatalf("Recv from %d has got a message from %d", source, st.Source)
				}
				if st.Tag != next[st.Source] {
					t.Fatalf("message from %d has tag %d before %d", st.Source, st.Tag, next[st.Source])
				}
				size := 8 + st.Tag*50
				wantStatus(t, st, st.Source, st.Tag, size)
				wantPayload(t, buf[:size], size, uint64(st.Source*1000+st.Tag))
				next[st.Source]++
			}
		})
	}
}

// Any source with a given tag receives exactly one message of each sender.
func TestP2P02_AnySourceOneTag(t *testing.T) {
	for _, n := range []int{2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			const tags = 30
			if c.Rank() != 0 {
				for tag := range tags {
					ok(t, mpi.Send(c, []int{c.Rank(), tag}, 0, tag))
				}
				return
			}
			for _, tag := range rand.Perm(tags) {
				seen := make([]bool, n)
				for range n - 1 {
					b := []int{0, 0}
					st, err := mpi.Recv(c, b, mpi.AnySource, tag)
					ok(t, err)
					if seen[st.Source] || b[0] != st.Source || b[1] != tag || st.Tag != tag {
						t.Fatalf("tag %d: received %v from %d, seen before: %v", tag, b, st.Source, seen[st.Source])
					}
					seen[st.Source] = true
				}
			}
		})
	}
}

// Messages from one sender to one receiver do not overtake each other, whatever their lengths
// and modes, and whether the receives are posted before or after.
func TestP2P01_NonOvertaking(t *testing.T) {
	for _, first := range []bool{true, false} {
		mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
			ok(t, mpi.BufferAttach(c, nil))
			const per = 120
			length := func(source, i int) int {
				r := rand.New(rand.NewPCG(uint64(source), uint64(i)))
				if i%20 == 7 {
					return 8 + r.IntN(300_000)
				}
				return 8 + r.IntN([]int{1, 30, 300, 20_000}[r.IntN(4)])
			}
			if c.Rank() != 0 {
				if first {
					_, err := mpi.Recv(c, []byte{}, 0, 9)
					ok(t, err)
				}
				rs := make([]mpi.Request, per)
				for i := range rs {
					m := modes()[i%3]
					rs[i] = m.isend(c, payload(length(c.Rank(), i), uint64(i)), 0, 5)
				}
				if !first {
					ok(t, mpi.Send(c, []byte{}, 0, 9))
				}
				ok(t, mpi.Waitall(rs, nil))
				_, err := mpi.BufferDetach(c)
				ok(t, err)
				return
			}
			if !first { // all messages have arrived, or are announced, before the first receive
				for s := 1; s < 3; s++ {
					_, err := mpi.Recv(c, []byte{}, s, 9)
					ok(t, err)
				}
			}
			bufs := make([][]byte, 2*per)
			rs := make([]mpi.Request, 2*per)
			for i := range rs {
				bufs[i] = make([]byte, 310_000)
				tag := 5
				if i%2 == 1 {
					tag = mpi.AnyTag
				}
				rs[i] = mpi.Irecv(c, bufs[i], mpi.AnySource, tag)
			}
			if first {
				for s := 1; s < 3; s++ {
					ok(t, mpi.Send(c, []byte{}, s, 9))
				}
			}
			sts := make([]mpi.Status, len(rs))
			ok(t, mpi.Waitall(rs, sts))
			next := []int{0, 0, 0}
			for i, st := range sts { // in the order in which the receives were posted
				k := next[st.Source]
				next[st.Source]++
				wantStatus(t, st, st.Source, 5, length(st.Source, k))
				wantPayload(t, bufs[i][:st.Bytes()], int(st.Bytes()), uint64(k))
			}
		})
	}
}

// Receives select messages by tag, not by arrival.
func TestP2P01_TagsSelect(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const n = 200
		if c.Rank() == 0 {
			rs := make([]mpi.Request, n)
			for i := range rs {
				rs[i] = mpi.Isend(c, payload(i*37, uint64(i)), 1, i)
			}
			ok(t, mpi.Waitall(rs, nil))
			return
		}
		buf := make([]byte, n*37)
		for _, i := range rand.Perm(n) {
			st, err := mpi.Recv(c, buf, 0, i)
			ok(t, err)
			wantStatus(t, st, 0, i, i*37)
			wantPayload(t, buf[:i*37], i*37, uint64(i))
		}
	})
}

// Tags reach up to TagUB.
func TestENV05_TagUB(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		if c.TagUB() < 32767 {
			t.Fatalf("TagUB is %d, want at least 32767", c.TagUB())
		}
		r := mpi.Irecv(c, make([]byte, 1), 0, c.TagUB())
		ok(t, mpi.Send(c, []byte{1}, 0, c.TagUB()))
		st, err := r.Wait()
		ok(t, err)
		wantStatus(t, st, 0, c.TagUB(), 1)
		wantClass(t, mpi.Send(c, []byte{1}, 0, c.TagUB()+1), mpi.ErrTag)
	})
}

// Messages to oneself, in every mode.
func TestP2P04_MessagesToSelf(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		ok(t, mpi.BufferAttach(c, nil))
		me := c.Rank()
		for _, c := range []*mpi.Comm{c, c.Self()} {
			me := me % c.Size()
			for i, size := range sizes() {
				if size > 100_000 && c.Size() > 1 {
					continue
				}
				for k, m := range modes() {
					for name, send := range m.forms() {
						b := make([]byte, size)
						r := mpi.Irecv(c, b, me, i)
						if err := send(c, payload(size, uint64(k)), me, i); err != nil {
							t.Fatalf("%s %s of %d bytes to oneself: %v", name, m.name, size, err)
						}
						st, err := r.Wait()
						ok(t, err)
						wantStatus(t, st, me, i, size)
						wantPayload(t, b, size, uint64(k))
					}
					// The send comes first.
					s := m.isend(c, payload(size, uint64(k)), me, i)
					b := make([]byte, size)
					st, err := mpi.Recv(c, b, mpi.AnySource, mpi.AnyTag)
					ok(t, err)
					wantStatus(t, st, me, i, size)
					wantPayload(t, b, size, uint64(k))
					_, err = s.Wait()
					ok(t, err)
				}
			}
			// A synchronous send to oneself is not complete before its receive.
			s := mpi.Issend(c, []byte{1}, me, 0)
			if _, done, err := s.Test(); done || err != nil {
				t.Fatalf("Issend to oneself is complete before the receive: %v", err)
			}
			_, err := mpi.Recv(c, make([]byte, 1), me, 0)
			ok(t, err)
			_, done, err := s.Test()
			ok(t, err)
			if !done {
				t.Fatal("Issend to oneself is not complete after the receive")
			}
			// Blocking sends to oneself do not wait while the data fits into the buffer limit.
			for i := range 100 {
				ok(t, mpi.Send(c, payload(1000, uint64(i)), me, i))
			}
			for i := range 100 {
				b, _, err := mpi.RecvSlice[byte](c, me, 99-i)
				ok(t, err)
				wantPayload(t, b, 1000, uint64(99-i))
			}
		}
		_, err := mpi.BufferDetach(c)
		ok(t, err)
	})
}

// Communication with ProcNull does nothing and completes at once.
func TestP2P14_ProcNull(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		null := func(st mpi.Status, err error) {
			t.Helper()
			ok(t, err)
			wantStatus(t, st, mpi.ProcNull, mpi.AnyTag, 0)
			if mpi.Count[int64](st) != 0 {
				t.Fatalf("count is %d", mpi.Count[int64](st))
			}
		}
		b := []byte{42}
		for _, m := range modes() {
			for name, send := range m.forms() {
				if err := send(c, b, mpi.ProcNull, 1); err != nil {
					t.Fatalf("%s %s to ProcNull: %v", name, m.name, err)
				}
			}
		}
		null(mpi.Recv(c, b, mpi.ProcNull, 1))
		null(mpi.Recv(c, b, mpi.ProcNull, mpi.AnyTag))
		r := mpi.Irecv(c, b, mpi.ProcNull, 1)
		null(r.Wait())
		p := mpi.RecvInit(c, b, mpi.ProcNull, 1)
		for range 3 {
			ok(t, p.Start())
			null(p.Wait())
		}
		ok(t, p.Free())
		null(mpi.Sendrecv(c, b, mpi.ProcNull, 1, b, mpi.ProcNull, 1))
		null(mpi.SendrecvReplace(c, b, mpi.ProcNull, 1, mpi.ProcNull, 1))
		r = mpi.Isendrecv(c, b, mpi.ProcNull, 1, b, mpi.ProcNull, 1)
		null(r.Wait())
		r = mpi.IsendrecvReplace(c, b, mpi.ProcNull, 1, mpi.ProcNull, 1)
		null(r.Wait())
		null(c.Probe(mpi.ProcNull, 1))
		st, found, err := c.Iprobe(mpi.ProcNull, 1)
		null(st, err)
		if !found {
			t.Fatal("Iprobe of ProcNull finds nothing")
		}
		m, st, err := c.Mprobe(mpi.ProcNull, 1)
		null(st, err)
		null(mpi.Mrecv(&m, b))
		m, st, found, err = c.Improbe(mpi.ProcNull, 1)
		null(st, err)
		if !found {
			t.Fatal("Improbe of ProcNull finds nothing")
		}
		r = mpi.Imrecv(&m, b)
		null(r.Wait())
		s, st, err := mpi.RecvSlice[int32](c, mpi.ProcNull, 1)
		null(st, err)
		if len(s) != 0 {
			t.Fatalf("RecvSlice from ProcNull: %d elements", len(s))
		}
		if b[0] != 42 {
			t.Fatal("a receive from ProcNull has changed the buffer")
		}
		// One of the two halves of a shift along a chain.
		peer := 1 - c.Rank()
		if c.Rank() == 0 {
			null(mpi.Sendrecv(c, []byte{7}, peer, 1, b, mpi.ProcNull, 1))
		} else {
			st, err := mpi.Sendrecv(c, []byte{7}, mpi.ProcNull, 1, b, peer, 1)
			ok(t, err)
			wantStatus(t, st, 0, 1, 1)
			if b[0] != 7 {
				t.Fatalf("received %d, want 7", b[0])
			}
		}
	})
}

// A message longer than the buffer fills it and is an error; later messages are not affected.
func TestP2P02_Truncation(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		ok(t, mpi.BufferAttach(c, nil))
		for i, size := range sizes() {
			if size == 0 {
				continue
			}
			for _, room := range []int{0, size / 2, size - 1} {
				for k, m := range modes()[:3] {
					for _, r := range receipts() {
						if r.name == "RecvSlice" || r.name == "Probe" || size > 100 && (i+k+len(r.name))%3 != 0 {
							continue
						}
						if c.Rank() == 0 {
							if err := m.send(c, payload(size, 1), 1, 0); err != nil {
								t.Fatalf("%s of %d bytes to a buffer of %d: %v", m.name, size, room, err)
							}
							continue
						}
						b := make([]byte, room+1)
						b[room] = 0xcc
						st, err := r.receive(c, b[:room], 0, 0, func() {})
						wantClass(t, err, mpi.ErrTruncate)
						wantStatus(t, st, 0, 0, room)
						wantPayload(t, b[:room], size, 1)
						if b[room] != 0xcc {
							t.Fatalf("%s of %d bytes into %d writes beyond the buffer", r.name, size, room)
						}
					}
				}
			}
		}
		_, err := mpi.BufferDetach(c)
		ok(t, err)
	})
}

// A status gives whole elements or Undefined.
func TestP2P15_CountOfPartialElements(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			ok(t, mpi.Send(c, make([]byte, 12), 1, 0))
			ok(t, mpi.Send(c, make([]byte, 12), 1, 0))
			return
		}
		st, err := mpi.Recv(c, make([]byte, 64), 0, 0)
		ok(t, err)
		copied := st // a status is a value
		if n := mpi.Count[int64](copied); n != mpi.Undefined {
			t.Errorf("12 bytes are %d int64, want Undefined", n)
		}
		if mpi.Count[int32](copied) != 3 || mpi.Count[byte](copied) != 12 || mpi.Count[complex128](copied) != mpi.Undefined {
			t.Errorf("12 bytes are %d int32, %d bytes", mpi.Count[int32](copied), mpi.Count[byte](copied))
		}
		_, st, err = mpi.RecvSlice[int64](c, 0, 0)
		wantClass(t, err, mpi.ErrType)
		wantStatus(t, st, 0, 0, 12)
	})
}
