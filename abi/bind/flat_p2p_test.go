package bind

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// messages holds the calls that send and receive.
type messages struct {
	send     func(buf uintptr, n int, d handle, dest, tag int) error
	recv     func(buf uintptr, n int, d handle, source, tag int) (mpi.Status, error)
	isend    func(buf uintptr, n int, d handle, dest, tag int) mpi.Request
	irecv    func(buf uintptr, n int, d handle, source, tag int) mpi.Request
	sendrecv func(from uintptr, n int, to uintptr, room int, d handle, peer, tag int) (mpi.Status, error)
}

// asC returns the calls as C makes them; byBuffers returns those of package mpi with Buffers.
func asC(l *Lib, c *mpi.Comm, into *status) messages {
	return messages{
		send: func(buf uintptr, n int, d handle, dest, tag int) error { return l.send(c, buf, n, d, dest, tag) },
		recv: func(buf uintptr, n int, d handle, source, tag int) (mpi.Status, error) {
			words := [...]uintptr{buf, uintptr(n), d, uintptr(source), uintptr(tag), commWorld, uintptr(unsafe.Pointer(into))}
			err := l.recv(args{unsafe.Pointer(&words), false, 0})
			return into.load(), err
		},
		isend: func(buf uintptr, n int, d handle, dest, tag int) mpi.Request {
			return l.isend(c, buf, n, d, dest, tag)
		},
		irecv: func(buf uintptr, n int, d handle, source, tag int) mpi.Request {
			return l.irecv(c, buf, n, d, source, tag)
		},
		sendrecv: func(from uintptr, n int, to uintptr, room int, d handle, peer, tag int) (mpi.Status, error) {
			return l.sendrecv(c, from, n, d, peer, tag, to, room, d, peer, tag)
		},
	}
}

func byBuffers(l *Lib, c *mpi.Comm) messages {
	at := func(buf uintptr, n int, d handle) mpi.Buffer { return l.buf(buf, n, l.datatype(d)) }
	return messages{
		send: func(buf uintptr, n int, d handle, dest, tag int) error { return c.Send(at(buf, n, d), dest, tag) },
		recv: func(buf uintptr, n int, d handle, source, tag int) (mpi.Status, error) {
			return c.Recv(at(buf, n, d), source, tag)
		},
		isend: func(buf uintptr, n int, d handle, dest, tag int) mpi.Request {
			return c.Isend(at(buf, n, d), dest, tag)
		},
		irecv: func(buf uintptr, n int, d handle, source, tag int) mpi.Request {
			return c.Irecv(at(buf, n, d), source, tag)
		},
		sendrecv: func(from uintptr, n int, to uintptr, room int, d handle, peer, tag int) (mpi.Status, error) {
			return c.Sendrecv(at(from, n, d), peer, tag, at(to, room, d), peer, tag)
		},
	}
}

// Messages on the contiguous fast path arrive like messages from Buffers, with the same
// statuses and errors: of every predefined type, with invalid counts, addresses, ranks and
// tags, without elements, too long for the receiver, and to MPI_PROC_NULL.
func TestShortWayOfMessagesDoesWhatBuffersDo(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.startTypes()
		l.world.Store(world)
		l.startFlat()
		if _, _, ok := l.dataAt(firstPage, 1, 0x247); !ok { // MPI_BYTE
			t.Fatal("nothing takes the short way")
		}
		const room, tag, other = 1 << 10, 3, 4
		drain := fieldOf(t, world, 0, room)
		held := fieldOf(t, world, 0, int(unsafe.Sizeof(status{})))
		into := (*status)(unsafe.Pointer(&held[0]))
		type way func(m *messages, from, to uintptr, n, room int, d handle, peer, tag int) (mpi.Status, error)
		ways := map[string]way{
			"irecv, send": func(m *messages, from, to uintptr, n, room int, d handle, peer, tag int) (mpi.Status, error) {
				q := m.irecv(to, room, d, peer, tag)
				if q.Err() != nil {
					return q.Wait()
				}
				if err := m.send(from, n, d, peer, tag); err != nil {
					_ = q.Cancel()
					_, _ = q.Wait()
					return mpi.Status{}, err
				}
				return q.Wait()
			},
			"isend, recv": func(m *messages, from, to uintptr, n, room int, d handle, peer, tag int) (mpi.Status, error) {
				q := m.isend(from, n, d, peer, tag)
				if q.Err() != nil {
					return q.Wait()
				}
				st, err := m.recv(to, room, d, peer, tag)
				if _, found, _ := world.Iprobe(0, tag); found {
					_, _ = mpi.Recv(world, drain, 0, tag)
				}
				if _, failed := q.Wait(); err == nil {
					err = failed
				}
				return st, err
			},
			"sendrecv": func(m *messages, from, to uintptr, n, room int, d handle, peer, tag int) (mpi.Status, error) {
				return m.sendrecv(from, n, to, room, d, peer, tag)
			},
		}
		both := [2]messages{asC(l, world, into), byBuffers(l, world)}
		from := fieldOf(t, world, 1, room)
		to := [2][]byte{fieldOf(t, world, 0, room), fieldOf(t, world, 0, room)}
		same := func(name string, do way, n, space int, d handle, peer, tag int, null bool) {
			var errs [2]error
			var sts [2]mpi.Status
			for i := range both {
				ok(t, mpi.Send(world, []byte{7}, 0, other)) // do must not receive this message
				for k := range room {
					to[i][k] = byte(k*5) & 0x3f
				}
				*into = status{}
				a, b := address(from), address(to[i])
				if null {
					a, b = 0, 0
				}
				sts[i], errs[i] = do(&both[i], a, b, n, space, d, peer, tag)
				sts[i].Err = nil
				st, err := mpi.Recv(world, drain, mpi.AnySource, mpi.AnyTag)
				if err != nil || st.Tag != other || drain[0] != 7 {
					t.Errorf("%s, %d of %#x: a message of tag %d is left, %v", name, n, d, st.Tag, err)
				}
			}
			if code(errs[0]) != code(errs[1]) || sts[0] != sts[1] {
				t.Errorf("%s, %d of %#x into %d, rank %d, tag %d, null %v: %v, %+v, by Buffers %v, %+v",
					name, n, d, space, peer, tag, null, errs[0], sts[0], errs[1], sts[1])
			}
			if !bytes.Equal(to[0], to[1]) {
				t.Errorf("%s, %d of %#x into %d: other memory than by Buffers", name, n, d, space)
			}
		}
		for name, do := range ways {
			for _, p := range predefinedTypes {
				for _, null := range []bool{false, true} {
					for _, n := range [][2]int{{3, 3}, {2, 3}, {3, 2}, {0, 3}, {0, 0}, {3, 0}, {-1, 3}, {3, -1}} {
						same(name, do, n[0], n[1], p.handle, 0, tag, null)
					}
				}
				for _, peer := range []int{1, -7, mpi.ProcNull} {
					same(name, do, 3, 3, p.handle, peer, tag, false)
				}
				same(name, do, 3, 3, p.handle, 0, -5, false)
			}
			same(name, do, 3, 3, typeNull, 0, tag, false)
			same(name, do, 0, 0, typeNull, 0, tag, false)
			same(name, do, 0, 0, lastPredefined+1, 0, tag, false)
		}
	})
}
