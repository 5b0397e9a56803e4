package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// TRM-10: named objects that need no process exist before Init.
var (
	early        = mpi.Max
	earlyHandler = mpi.ErrorsReturn
	earlyGroup   = mpi.GroupEmpty
)

// CHG-06.
func TestTRM10_NamedObjectsBeforeInit(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		sum := make([]int32, 1)
		if err := mpi.Allreduce(world, []int32{int32(world.Rank())}, sum, early); err != nil || sum[0] != 1 {
			t.Errorf("maximum %v, %v", sum, err)
		}
		if err := world.SetErrhandler(earlyHandler); err != nil {
			t.Error(err)
		}
		if c, err := world.Create(earlyGroup); c != nil || err != nil {
			t.Errorf("communicator of nobody: %v, %v", c, err)
		}
	})
}

// TRM-02: an argument that is not significant at a process may have any value there.
func TestTRM02_InsignificantArguments(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		const root = 1
		mine := []int64{int64(world.Rank())}
		odd := [][]int64{nil, {7}, make([]int64, 100)}[world.Rank()] // invalid wherever it is significant
		recv, counts, displs := odd, []int{-7}, []int{1 << 40}
		if world.Rank() == root {
			recv, counts, displs = make([]int64, 3), []int{1, 1, 1}, []int{0, 1, 2}
		}
		send := recv
		for _, call := range []struct {
			name string
			do   func() error
		}{
			{"Gather", func() error { return mpi.Gather(world, mine, recv, root) }},
			{"Gatherv", func() error { return mpi.Gatherv(world, mine, recv, counts, displs, root) }},
			{"Scatter", func() error { return mpi.Scatter(world, send, make([]int64, 1), root) }},
			{"Scatterv", func() error { return mpi.Scatterv(world, send, counts, displs, make([]int64, 1), root) }},
			{"Reduce", func() error { return mpi.Reduce(world, mine, recv[:min(len(recv), 1)], mpi.Sum, root) }},
		} {
			if err := call.do(); err != nil {
				t.Errorf("%s: %v", call.name, err)
			}
		}
	})
}

// TRM-08: a call with a null handle is the error for its kind, or does what the standard says.
func TestTRM08_NullHandles(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		var null *mpi.Comm
		buf := make([]int32, 1)
		wantClass(t, mpi.Send(null, buf, 0, 0), mpi.ErrComm)
		_, err := mpi.Recv(null, buf, 0, 0)
		wantClass(t, err, mpi.ErrComm)
		_, err = null.Dup()
		wantClass(t, err, mpi.ErrComm)
		wantClass(t, null.Barrier(), mpi.ErrComm)
		wantClass(t, mpi.Allreduce(world, buf, make([]int32, 1), mpi.OpNull), mpi.ErrOp)
		wantClass(t, mpi.SetAttr(world, mpi.Keyval[*mpi.Comm, int]{}, 1), mpi.ErrKeyval)
		wantClass(t, world.SetErrhandler(mpi.Errhandler{}), mpi.ErrErrhandler)
		var message mpi.Message
		_, err = mpi.Mrecv(&message, buf)
		wantClass(t, err, mpi.ErrRequest)
		var request mpi.Request
		if st, err := request.Wait(); err != nil || st.Source != mpi.AnySource || st.Tag != mpi.AnyTag || st.Bytes() != 0 {
			t.Errorf("wait for no request: %+v, %v", st, err)
		}
		wantClass(t, request.Cancel(), mpi.ErrRequest)
		var info *mpi.Info
		wantClass(t, info.Set("key", "value"), mpi.ErrInfo)
	})
}

// ST-01: a status is a value; a copy keeps its count. ST-05: statuses are returned only where
// they are requested.
func TestST01_StatusIsAValue(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		if world.Rank() == 0 {
			for tag := range 4 {
				if err := mpi.Send(world, make([]float64, 3), 1, tag); err != nil {
					t.Error(err)
				}
			}
			return
		}
		buf := make([]float64, 10)
		st, err := mpi.Recv(world, buf, mpi.AnySource, 0)
		if err != nil {
			t.Error(err)
		}
		keep := st
		st = mpi.Status{}
		if keep.Source != 0 || keep.Tag != 0 || mpi.Count[float64](keep) != 3 || mpi.Count[float64](st) != 0 {
			t.Errorf("copied status %+v with %d elements", keep, mpi.Count[float64](keep))
		}
		requests := []mpi.Request{mpi.Irecv(world, buf, 0, 1), mpi.Irecv(world, buf[5:], 0, 2)}
		if err := mpi.Waitall(requests, nil); err != nil {
			t.Errorf("Waitall without statuses: %v", err)
		}
		some := []mpi.Request{mpi.Irecv(world, buf, 0, 3)}
		if n, err := mpi.Waitsome(some, make([]int, 1), nil); n != 1 || err != nil {
			t.Errorf("Waitsome without statuses: %d, %v", n, err)
		}
	})
}
