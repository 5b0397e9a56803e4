// Command hello prints a line from every rank.
//
//	go run ./cmd/halo run -n 4 ./examples/hello
package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

func main() { mpi.Main(hello) }

func hello(world *mpi.Comm) error {
	_, err := fmt.Printf("Hello from rank %d of %d on %s\n",
		world.Rank(), world.Size(), mpi.GetProcessorName())
	return err
}
