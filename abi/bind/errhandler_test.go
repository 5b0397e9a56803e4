package bind

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// procedureCalls returns a function that calls procedures by their names.
func procedureCalls(l *Lib) func(name string, words ...uintptr) mpi.Class {
	numbers := map[string]int{}
	for i, p := range procedures {
		numbers[p.String()] = i
	}
	return func(name string, words ...uintptr) mpi.Class {
		return mpi.Class(l.Call(numbers[name], false, unsafe.Pointer(&words[0])))
	}
}

// An invalid error handler is an error on the communicator or window, and its present
// handler is called (section 9.3). Errors name the procedure of C; the error of a request
// names the call that started it.
func TestErrorsHaveNamesOfC(t *testing.T) {
	engine.NameCalls(nameOf)
	defer engine.NameCalls(nil)
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		call := procedureCalls(l)
		c, err := world.Dup()
		ok(t, err)
		heard := func(want mpi.Class, name string, c *mpi.Comm, do func() mpi.Class) {
			t.Helper()
			var got *mpi.Error
			ok(t, c.SetErrhandler(mpi.CreateCommErrhandler(func(on *mpi.Comm, e *mpi.Error) {
				if on == c {
					got = e
				}
			})))
			if is := do(); is != want || got == nil || got.Call != name || !errors.Is(got, want) {
				t.Errorf("%s gives %v, and the handler hears %v; want %v of %s", name, is, got, want, name)
			}
		}
		h, place, b := l.addComm(c), unmoved[memory](), unmoved[[8]byte]()
		out := func(i int) uintptr { return uintptr(unsafe.Pointer(&place[i])) }
		buf := uintptr(unsafe.Pointer(&b[0]))
		const mpiByte = 0x247
		heard(mpi.ErrErrhandler, "MPI_Comm_set_errhandler", c, func() mpi.Class { return call("MPI_Comm_set_errhandler", h, 0xdeadbeef0) })
		heard(mpi.ErrErrhandler, "MPI_Comm_set_errhandler", c, func() mpi.Class { return call("MPI_Comm_set_errhandler", h, errhandlerNull) })
		heard(mpi.ErrRank, "MPI_Send", c, func() mpi.Class { return call("MPI_Send", buf, 8, mpiByte, 7, 0, h) })
		heard(mpi.ErrRank, "MPI_Ssend_init", c, func() mpi.Class { return call("MPI_Ssend_init", buf, 8, mpiByte, 7, 0, h, out(0)) })
		heard(mpi.ErrRoot, "MPI_Bcast", c, func() mpi.Class { return call("MPI_Bcast", buf, 8, mpiByte, 7, h) })
		heard(mpi.ErrKeyval, "MPI_Comm_set_attr", c, func() mpi.Class { return call("MPI_Comm_set_attr", h, 99999, 0) })
		heard(mpi.ErrTruncate, "MPI_Irecv", c, func() mpi.Class {
			for _, is := range []mpi.Class{call("MPI_Irecv", buf, 4, mpiByte, 0, 0, h, out(0)), call("MPI_Send", buf, 8, mpiByte, 0, 0, h)} {
				if is != mpi.Success {
					return is
				}
			}
			return call("MPI_Wait", out(0), 0)
		})
	})
}

// Freeing a keyval again by a copy of its number is no error as long as it has attributes
// (section 7.7): the keyval exists until the last attribute is deleted.
func TestKeyvalsAreFreedTwice(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		call := procedureCalls(l)
		keys := unmoved[[3]int32]()
		at := func(i int) uintptr { return uintptr(unsafe.Pointer(&keys[i])) }
		is := func(got, want mpi.Class) {
			t.Helper()
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
		is(call("MPI_Comm_create_keyval", 0, 0, at(0), 0), mpi.Success)
		keys[1], keys[2] = keys[0], keys[0]
		number := uintptr(keys[0])
		is(call("MPI_Comm_set_attr", commSelf, number, 0), mpi.Success)
		is(call("MPI_Type_free_keyval", at(0)), mpi.ErrKeyval)
		is(call("MPI_Comm_free_keyval", at(0)), mpi.Success)
		is(call("MPI_Comm_free_keyval", at(1)), mpi.Success)
		is(call("MPI_Comm_free_keyval", at(1)), mpi.ErrKeyval)
		is(call("MPI_Comm_delete_attr", commSelf, number), mpi.Success)
		is(call("MPI_Comm_free_keyval", at(2)), mpi.ErrKeyval)
		if keys[0] != 0 || keys[1] != 0 || keys[2] != int32(number) {
			t.Errorf("keyvals are %d", *keys)
		}
	})
}
