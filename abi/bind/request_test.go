package bind

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Calls that complete requests return MPI_ERR_ARG if any of their results has no address. With
// all addresses and no requests they succeed.
func TestNowhereToSayWhatIsComplete(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		numbers := map[string]int{}
		for i, p := range procedures {
			numbers[p.String()] = i
		}
		place := unmoved[[2]int32]()
		somewhere := uintptr(unsafe.Pointer(place))
		for name, results := range map[string][]int{
			"MPI_Testall": {2}, "MPI_Testany": {2, 3}, "MPI_Testsome": {2}, "MPI_Waitany": {2}, "MPI_Waitsome": {2},
			"MPI_Request_get_status_all": {2}, "MPI_Request_get_status_any": {2, 3}, "MPI_Request_get_status_some": {2},
		} {
			for _, without := range append(results, -1) {
				words := new([5]uintptr)
				for _, i := range results {
					if i != without {
						words[i] = somewhere
					}
				}
				want := int(mpi.ErrArg)
				if without < 0 {
					want = 0
				}
				if got := l.Call(numbers[name], false, unsafe.Pointer(words)); got != want {
					t.Errorf("%s without result %d is %v, want %v", name, without, mpi.Class(got), mpi.Class(want))
				}
			}
		}
	})
}
