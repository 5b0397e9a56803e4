package bind

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A request calls its hooks once for each start and completion, whatever call finds it complete, and
// the last when it ends. Without requests in progress all is done at once.
func TestHooksOfRequests(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		const started, completed, destroyed = 0x10000, 0x20000, 0x30000
		var calls []string
		note := func(name string) func([]uintptr) int {
			return func(words []uintptr) int {
				if words[0] != 77 {
					t.Errorf("%s with %d", name, words[0])
				}
				calls = append(calls, name)
				return 0
			}
		}
		l := New(hooksOfGo(t, map[uintptr]func([]uintptr) int{started: note("start"), completed: note("complete"), destroyed: note("destroy")}))
		l.testStart(world)
		l.state.Store(running)
		numbers := map[string]int{}
		for i, p := range procedures {
			numbers[p.String()] = i
		}
		at := unmoved[handle]()
		flag := unmoved[int32]()
		call := func(name string, want mpi.Class, words ...uintptr) {
			t.Helper()
			all := new([5]uintptr)
			copy(all[:], words)
			if got := l.Call(numbers[name], false, unsafe.Pointer(all)); got != int(want) {
				t.Fatalf("%s is %v, want %v", name, mpi.Class(got), want)
			}
		}
		expect := func(what string, want ...string) {
			t.Helper()
			if !slices.Equal(calls, want) {
				t.Fatalf("%s: %q, want %q", what, calls, want)
			}
			calls = nil
		}
		request, where := uintptr(unsafe.Pointer(at)), uintptr(unsafe.Pointer(flag))
		buffer := []int32{0}
		receive := func(q mpi.Request, start uintptr) {
			t.Helper()
			*at = l.requests.add(q)
			call("MPIX_Request_add_hooks", 0, *at, start, completed, destroyed, 77)
			call("MPIX_Request_add_hooks", mpi.ErrRequest, *at, start, completed, destroyed, 77)
			expect("before")
		}
		world.SetErrhandler(mpi.ErrorsReturn)
		world.Self().SetErrhandler(mpi.ErrorsReturn)
		send := func() { ok(t, mpi.Send(world, buffer, 0, 0)) }

		receive(mpi.Irecv(world, buffer, 0, 0), 0)
		call("MPI_Test", 0, request, where, 0)
		expect("incomplete")
		send()
		call("MPI_Request_get_status", 0, *at, where, 0)
		expect("looked at", "complete")
		call("MPI_Wait", 0, request, 0)
		expect("waited for", "destroy")

		receive(mpi.RecvInit(world, buffer, 0, 0), started)
		for range 2 {
			call("MPI_Start", 0, request)
			expect("started", "start")
			send()
			call("MPI_Waitall", 0, 1, request, 0)
			expect("complete", "complete")
			call("MPI_Waitall", 0, 1, request, 0)
			call("MPI_Test", 0, request, where, 0)
			expect("inactive")
		}
		call("MPI_Startall", 0, 1, request)
		expect("started with others", "start")
		send()
		call("MPI_Waitany", 0, 1, request, where, 0)
		expect("any", "complete")
		call("MPI_Request_free", 0, request)
		expect("freed", "destroy")

		receive(mpi.Irecv(world, buffer, 0, 0), 0)
		call("MPI_Request_free", 0, request)
		send()
		expect("freed in the middle")

		call("MPIX_Request_add_hooks", 0, requestDone, 0, completed, destroyed, 77)
		expect("complete at once", "complete", "destroy")
		if n := l.hooked.count.Load(); n != 0 || len(l.hooked.all) != 0 {
			t.Errorf("%d hooks are left", n)
		}
	})
}
