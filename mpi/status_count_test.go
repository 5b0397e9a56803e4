package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Count and Elements of a message in units of a type. Count is Undefined if the message does not
// contain a whole number of them (MPI-5, 3.2.5 and 5.1.11, with its example: two numbers are one
// pair; three are not a whole number of pairs, but three elements).
func TestMPI5_3_2_5_CountInTypes(t *testing.T) {
	f32 := typ(t)(mpi.TypeOf[float32]())
	pair := typ(t)(mpi.TypeContiguous(2, f32))
	mixed := typ(t)(mpi.TypeStruct([]int{1, 2}, []int{0, 8}, []mpi.Datatype{typ(t)(mpi.TypeOf[int16]()), typ(t)(mpi.TypeOf[float64]())}))
	empty := typ(t)(mpi.TypeContiguous(0, f32))
	const none = mpi.Undefined
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, k := range []struct {
			bytes, floats, pairs, pairElements, mixed, mixedElements, empty int
		}{
			{0, 0, 0, 0, 0, 0, 0},
			{8, 2, 1, 2, none, none, none},
			{12, 3, none, 3, none, none, none},
			{10, none, none, none, none, 2, none},
			{2, none, none, none, none, 1, none},
			{18, none, none, none, 1, 3, none},
			{36, 9, none, 9, 2, 6, none},
			{7, none, none, none, none, none, none},
		} {
			if c.Rank() == 0 {
				ok(t, mpi.Send(c, make([]byte, k.bytes), 1, 0))
				continue
			}
			st, err := mpi.Recv(c, make([]byte, 40), 0, 0)
			ok(t, err)
			count := func(d mpi.Datatype) int {
				n, err := st.Count(d)
				ok(t, err)
				return n
			}
			elements := func(d mpi.Datatype) int {
				n, err := st.Elements(d)
				ok(t, err)
				return n
			}
			got := k
			got.floats, got.pairs, got.pairElements = count(f32), count(pair), elements(pair)
			got.mixed, got.mixedElements, got.empty = count(mixed), elements(mixed), count(empty)
			if got != k || elements(f32) != k.floats || count(mpi.Byte()) != k.bytes || elements(mpi.Packed()) != k.bytes {
				t.Errorf("%+v, want %+v", got, k)
			}
		}
	})
}
