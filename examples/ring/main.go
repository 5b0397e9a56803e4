// Command ring sends a token round all ranks. Every rank adds its own share
// and checks that nobody's was lost on the way.
//
//	go run ./cmd/halo run -n 4 ./examples/ring -laps 1000
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	laps := flag.Int("laps", 100, "how often the token goes round")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error {
		start := mpi.Wtime()
		token, err := ring(world, *laps)
		if err != nil || world.Rank() != 0 {
			return err
		}
		hop := (mpi.Wtime() - start) / float64(max(1, *laps*world.Size()))
		_, err = fmt.Fprintf(os.Stdout, "%d laps round %d ranks: the token is %d, %.2f us a hop\n",
			*laps, world.Size(), token, hop*1e6)
		return err
	})
}

const tag = 0 // there is only one kind of message

// ring returns the token as this rank last saw it.
func ring(world *mpi.Comm, laps int) (int64, error) {
	rank, size := world.Rank(), world.Size()
	next, prev := (rank+1)%size, (rank+size-1)%size

	// Rank i adds i+1, so one lap is worth 1 + 2 + ... + size.
	lap := int64(size) * int64(size+1) / 2
	mine := int64(rank+1) * int64(rank+2) / 2 // what a lap is worth once this rank has added

	token := []int64{0}
	for i := range int64(laps) {
		want := i*lap + mine
		if rank == 0 {
			// Sends and receives in one call: two calls would wait for
			// each other for ever if rank 0 were alone in the ring.
			token[0]++
			if _, err := mpi.SendrecvReplace(world, token, next, tag, prev, tag); err != nil {
				return 0, err
			}
			want = (i + 1) * lap
		} else {
			if _, err := mpi.Recv(world, token, prev, tag); err != nil {
				return 0, err
			}
			token[0] += int64(rank + 1)
			if err := mpi.Send(world, token, next, tag); err != nil {
				return 0, err
			}
		}
		if token[0] != want {
			return 0, fmt.Errorf("ring: rank %d holds %d in lap %d, want %d", rank, token[0], i, want)
		}
	}
	return token[0], nil
}
