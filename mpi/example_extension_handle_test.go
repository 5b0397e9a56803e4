package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// The seed's figure 6: process A gives B access to its memory, and B puts data there and tells
// A.
func Example_memoryHandle() {
	mpi.Run(2, func(world *mpi.Comm) error {
		parent, err := world.WinCreateDynamic()
		if err != nil {
			return err
		}
		defer parent.Free()
		parent.LockAll(0)
		defer parent.UnlockAll()
		if world.Rank() == 0 {
			memory := make([]int32, 4)
			handle, _ := mpi.MemhandleCreate(parent, memory, nil)
			mpi.Send(world, handle, 1, 0)
			_, err = mpi.Recv(world, []byte{}, 1, 0)
			parent.MemhandleRelease(handle)
			fmt.Println(memory)
			return err
		}
		handle := make([]byte, mpi.MaxMemoryHandleSize)
		mpi.Recv(world, handle, 0, 0)
		win, err := mpi.WinFromMemhandle[int32](parent, handle, 0)
		win.Put([]int32{5, 6}, 0, 1)
		win.Free() // now it is there
		mpi.Send(world, []byte{}, 0, 0)
		return err
	})
	// Output: [0 5 6 0]
}
