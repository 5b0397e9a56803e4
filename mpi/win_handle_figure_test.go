package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// The seed's figure 6, and listing 5's way of sending: into room for the longest handle. The
// origin has signalled when its window is freed, without a flush (QV-28, QV-34).
func TestQV28_QV34_FigureSix(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		parent, err := c.WinCreateDynamic(nil)
		ok(t, err)
		ok(t, parent.LockAll(0))
		const a, b = 0, 2
		for round := range 20 {
			switch c.Rank() {
			case a:
				memory, err := mpi.AllocMem[int32](c, 5000, nil)
				ok(t, err)
				handle, err := mpi.MemhandleCreate(parent, memory, nil)
				ok(t, err)
				ok(t, mpi.Send(c, handle, b, 0))
				ok(t, second(mpi.Recv(c, []byte{}, b, 0)))
				for i, v := range memory {
					if v != int32(i+round) {
						t.Fatalf("element %d is %d in round %d", i, v, round)
					}
				}
				ok(t, parent.MemhandleRelease(handle))
				ok(t, mpi.FreeMem(c, memory))
			case b:
				handle := make([]byte, mpi.MaxMemoryHandleSize)
				ok(t, second(mpi.Recv(c, handle, a, 0)))
				win, err := mpi.WinFromMemhandle[int32](parent, handle, a, nil)
				ok(t, err)
				data := make([]int32, 5000)
				for i := range data {
					data[i] = int32(i + round)
				}
				ok(t, win.Put(data, a, 0))
				ok(t, win.Free())
				ok(t, mpi.Send(c, []byte{}, a, 0))
			}
		}
		ok(t, parent.UnlockAll())
		ok(t, parent.Free())
	})
}
