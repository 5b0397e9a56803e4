package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// mode is a communication mode with its three forms.
type mode struct {
	name        string
	send        func(c *mpi.Comm, buf []byte, dest, tag int) error
	isend, init func(c *mpi.Comm, buf []byte, dest, tag int) mpi.Request
}

func modes() []mode {
	return []mode{
		{"standard", mpi.Send[byte], mpi.Isend[byte], mpi.SendInit[byte]},
		{"synchronous", mpi.Ssend[byte], mpi.Issend[byte], mpi.SsendInit[byte]},
		{"buffered", mpi.Bsend[byte], mpi.Ibsend[byte], mpi.BsendInit[byte]},
		{"ready", mpi.Rsend[byte], mpi.Irsend[byte], mpi.RsendInit[byte]},
	}
}

// forms are the calls that send in a mode.
func (m mode) forms() map[string]func(c *mpi.Comm, buf []byte, dest, tag int) error {
	return map[string]func(c *mpi.Comm, buf []byte, dest, tag int) error{
		"blocking": m.send,
		"nonblocking": func(c *mpi.Comm, buf []byte, dest, tag int) error {
			r := m.isend(c, buf, dest, tag)
			_, err := r.Wait()
			return err
		},
		"persistent": func(c *mpi.Comm, buf []byte, dest, tag int) error {
			r := m.init(c, buf, dest, tag)
			if err := r.Start(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			return r.Free()
		},
	}
}

// receipt is a way to receive. It calls posted when it has posted a receive, if it can post it
// before the message arrives.
type receipt struct {
	name    string
	posts   bool
	receive func(c *mpi.Comm, buf []byte, source, tag int, posted func()) (mpi.Status, error)
}

func receipts() []receipt {
	return []receipt{
		{"Irecv", true, func(c *mpi.Comm, buf []byte, source, tag int, posted func()) (mpi.Status, error) {
			r := mpi.Irecv(c, buf, source, tag)
			posted()
			return r.Wait()
		}},
		{"RecvInit", true, func(c *mpi.Comm, buf []byte, source, tag int, posted func()) (mpi.Status, error) {
			r := mpi.RecvInit(c, buf, source, tag)
			if err := r.Start(); err != nil {
				return mpi.Status{}, err
			}
			posted()
			st, err := r.Wait()
			if err != nil {
				return st, err
			}
			return st, r.Free()
		}},
		{"Recv", false, func(c *mpi.Comm, buf []byte, source, tag int, _ func()) (mpi.Status, error) {
			return mpi.Recv(c, buf, source, tag)
		}},
		{"RecvSlice", false, func(c *mpi.Comm, buf []byte, source, tag int, _ func()) (mpi.Status, error) {
			s, st, err := mpi.RecvSlice[byte](c, source, tag)
			copy(buf, s)
			return st, err
		}},
		{"Mrecv", false, func(c *mpi.Comm, buf []byte, source, tag int, _ func()) (mpi.Status, error) {
			m, _, err := c.Mprobe(source, tag)
			if err != nil {
				return mpi.Status{}, err
			}
			return mpi.Mrecv(&m, buf)
		}},
		{"Imrecv", false, func(c *mpi.Comm, buf []byte, source, tag int, _ func()) (mpi.Status, error) {
			for {
				m, _, found, err := c.Improbe(source, tag)
				if err != nil {
					return mpi.Status{}, err
				}
				if found {
					r := mpi.Imrecv(&m, buf)
					return r.Wait()
				}
			}
		}},
		{"Probe", false, func(c *mpi.Comm, buf []byte, source, tag int, _ func()) (mpi.Status, error) {
			st, err := c.Probe(source, tag)
			if err != nil {
				return st, err
			}
			return mpi.Recv(c, buf[:st.Bytes()], st.Source, st.Tag)
		}},
	}
}

// Every mode in every form, received in every way, with every size. P2P-06: the forms that do not
// block among them.
func TestP2P12_ModesFormsSizes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		ok(t, mpi.BufferAttach(c, nil))
		const goTag = 1 << 20
		seed := uint64(0)
		for _, m := range modes() {
			for _, form := range []string{"blocking", "nonblocking", "persistent"} {
				for _, r := range receipts() {
					if m.name == "ready" && !r.posts {
						continue
					}
					for i, size := range sizes() {
						seed++
						if size > 300<<10 && seed%3 != 0 {
							continue // the long ones only sometimes
						}
						if c.Rank() == 0 {
							if r.posts {
								_, err := mpi.Recv(c, []byte{}, 1, goTag)
								ok(t, err)
							}
							b := payload(size, seed)
							if err := m.forms()[form](c, b, 1, i); err != nil {
								t.Fatalf("%s %s %d bytes to %s: %v", form, m.name, size, r.name, err)
							}
							clear(b) // the program may write to it again
							continue
						}
						b := make([]byte, size+size%2) // sometimes longer than the message
						st, err := r.receive(c, b, 0, i, func() { ok(t, mpi.Send(c, []byte{}, 0, goTag)) })
						if err != nil {
							t.Fatalf("%s of %s %s %d bytes: %v", r.name, form, m.name, size, err)
						}
						wantStatus(t, st, 0, i, size)
						wantPayload(t, b[:size], size, seed)
					}
				}
			}
		}
		_, err := mpi.BufferDetach(c)
		ok(t, err)
	})
}

// A synchronous send completes only after a receive has matched, in each form.
func TestP2P08_SynchronousWaitsForMatch(t *testing.T) {
	for _, size := range []int{0, 8, 5000, 70_000, 400_000} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			const later = 7
			if c.Rank() == 0 {
				b := payload(size, 1)
				s, p := mpi.Issend(c, b, 1, 0), mpi.SsendInit(c, b, 1, 0)
				ok(t, p.Start())
				returned := make(chan error, 1)
				go func() { returned <- mpi.Ssend(c, b, 1, 0) }()
				// The receiver answers this while nothing is matched: its service has processed
				// everything that was sent before.
				for range 100 {
					if _, done, err := s.Test(); done || err != nil {
						t.Fatalf("Issend of %d bytes is complete before a receive: %v", size, err)
					}
					if _, done, err := p.Test(); done || err != nil {
						t.Fatalf("SsendInit of %d bytes is complete before a receive: %v", size, err)
					}
				}
				_, err := mpi.Sendrecv(c, []byte{}, 1, later, []byte{}, 1, later)
				ok(t, err)
				if _, done, _ := s.GetStatus(); done {
					t.Fatalf("Issend of %d bytes is complete before a receive", size)
				}
				select {
				case err := <-returned:
					t.Fatalf("Ssend of %d bytes has returned before a receive: %v", size, err)
				default:
				}
				ok(t, mpi.Send(c, []byte{}, 1, later))
				_, err = s.Wait()
				ok(t, err)
				_, err = p.Wait()
				ok(t, err)
				ok(t, p.Free())
				ok(t, <-returned)
				return
			}
			_, err := mpi.Sendrecv(c, []byte{}, 0, later, []byte{}, 0, later)
			ok(t, err)
			_, err = mpi.Recv(c, []byte{}, 0, later)
			ok(t, err)
			for range 3 {
				b := make([]byte, size)
				_, err := mpi.Recv(c, b, 0, 0)
				ok(t, err)
				wantPayload(t, b, size, 1)
			}
		})
	}
}

// After a blocking send the program may reuse the buffer: what it writes later is not sent.
func TestTRM05_BlockingSendThenOverwrite(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		ok(t, mpi.BufferAttach(c, nil))
		sends := []func(*mpi.Comm, []byte, int, int) error{mpi.Send[byte], mpi.Ssend[byte], mpi.Bsend[byte]}
		for i, size := range sizes() {
			for k, send := range sends {
				seed := uint64(3*i + k)
				if c.Rank() == 0 {
					b := payload(size, seed)
					ok(t, send(c, b, 1, 0))
					fill(b, 1<<40)
					continue
				}
				b := make([]byte, size)
				_, err := mpi.Recv(c, b, 0, 0)
				ok(t, err)
				wantPayload(t, b, size, seed)
			}
		}
		_, err := mpi.BufferDetach(c)
		ok(t, err)
	})
}

// The buffer of a pending send may be read. CHG-09.
func TestP2P07_SendBufferMayBeRead(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const size = 300_000
		if c.Rank() == 0 {
			b := payload(size, 9)
			r := mpi.Isend(c, b, 1, 0)
			for done := false; !done; {
				wantPayload(t, b, size, 9)
				var err error
				_, done, err = r.Test()
				ok(t, err)
			}
			return
		}
		b := make([]byte, size)
		_, err := mpi.Recv(c, b, 0, 0)
		ok(t, err)
		wantPayload(t, b, size, 9)
	})
}
