// Command records has all ranks append records to one log, each at its own pace, and sorts the log.
//
//	go run ./cmd/halo run -n 4 ./examples/records [-records N] [-seed S] [-o FILE]
//
// Records go to the shared file pointer: each call takes the next free place, whichever rank makes it,
// and no rank waits for another one. Then all ranks read the log in parts, send each
// record to the rank that has its part of the keys, and write them back in the order of the ranks, sorted.
// Without -o the log is a temporary file; on several hosts it must be in a directory that they share.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	count := flag.Int("records", 20_000, "records that each rank appends")
	seed := flag.Uint64("seed", 1, "other records for another one")
	path := flag.String("o", "", "the log, which is kept; without it a temporary one")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *count, *seed, *path, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, count int, seed uint64, path string, out io.Writer) error {
	l, err := open(world, count, path)
	if err != nil {
		if world.Rank() > 0 {
			return nil // all ranks have this error: rank 0 reports it, and Main ends the job
		}
		return err
	}
	start := mpi.Wtime()
	before, calls, err := l.appendAll(count, seed)
	if err != nil {
		return err
	}
	if err := l.settle(); err != nil {
		return err
	}
	appended := mpi.Wtime()
	if err := l.sort(); err != nil {
		return err
	}
	if err := l.settle(); err != nil {
		return err
	}
	seconds := mpi.Wtime() - appended
	after, err := l.verify()
	if err != nil {
		return err
	}
	sums := []int64{before.count, before.hash, int64(calls), after.count, after.hash, after.descents}
	if err := mpi.Allreduce(world, sums, sums, mpi.Sum); err != nil {
		return err
	}
	if sums[0] != sums[3] || sums[1] != sums[4] || sums[5] != 0 {
		return fmt.Errorf("records: of %d records %d are in the log, %d of them in the wrong order, checksum %x, want %x", sums[0], sums[3], sums[5], sums[4], sums[1])
	}
	if err := l.file.Close(); err != nil || world.Rank() > 0 {
		return err
	}
	fmt.Fprintf(out, "%d records of %d ranks, appended by %d calls in %.3f s, sorted in %.3f s: none is lost, verified\n",
		sums[0], world.Size(), sums[2], appended-start, seconds)
	if path != "" {
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	return nil
}
