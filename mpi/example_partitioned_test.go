package mpi_test

import (
	"fmt"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// Four goroutines fill one message, each a quarter of it, and say when their quarter may go. The
// receiver takes the message in halves, and uses each half as soon as it is there.
func ExamplePsendInit() {
	mpi.Run(2, func(world *mpi.Comm) error {
		data := make([]int, 8)
		if world.Rank() == 0 {
			send := mpi.PsendInit(world, data, 4, 1, 0)
			if err := send.Start(); err != nil {
				return err
			}
			var workers sync.WaitGroup
			for w := range 4 {
				workers.Go(func() {
					data[2*w], data[2*w+1] = 2*w, 2*w+1
					if err := send.Pready(w); err != nil {
						fmt.Println(err)
					}
				})
			}
			_, err := send.Wait()
			workers.Wait()
			if err != nil {
				return err
			}
			return send.Free()
		}
		recv := mpi.PrecvInit(world, data, 2, 0, 0)
		if err := recv.Start(); err != nil {
			return err
		}
		for half := 0; half < 2; {
			there, err := recv.Parrived(half)
			if err != nil {
				return err
			}
			if there {
				fmt.Println(data[4*half : 4*half+4])
				half++
			}
		}
		if _, err := recv.Wait(); err != nil {
			return err
		}
		return recv.Free()
	})
	// Output:
	// [0 1 2 3]
	// [4 5 6 7]
}
