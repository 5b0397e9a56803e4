package benchmark

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/halo-mpi/halo/mpi"
)

// memory prints how much memory a rank takes, the mean of all: after Init, after a message to the next rank
// on a ring, and after an exchange of 8 bytes between all. Private memory is that of the process alone. In
// all counts its share, too, of what several processes map: libraries, and the memory in which they
// communicate.
func memory(world *mpi.Comm, p *Plan, size int, report *Report) error {
	n, me := world.Size(), world.Rank()
	var taken [3][2]float64 // after each step: private and all memory in KiB
	for i, step := range []func() error{
		func() error { return nil },
		func() error {
			_, err := mpi.Sendrecv(world, written[byte](size), (me+1)%n, tagData, written[byte](size), (me+n-1)%n, tagData)
			return err
		},
		func() error { return mpi.Alltoall(world, written[byte](n*size), written[byte](n*size)) },
	} {
		if err := step(); err != nil {
			return err
		}
		var err error
		taken[i][0], taken[i][1], err = memoryOfProcess()
		if err != nil {
			return err
		}
	}
	for i, step := range []string{"init", "ring", "alltoall"} {
		for k, kind := range []string{"private", "in all"} {
			sum, err := mpi.AllreduceOne(world, taken[i][k], mpi.Sum)
			if err != nil {
				return err
			}
			if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: n, Size: size, Layout: step + " " + kind, KiB: sum / float64(n)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// memoryOfProcess returns the private memory of this process, and that with its share of shared memory, in
// KiB.
func memoryOfProcess() (private, all float64, err error) {
	const file = "/proc/self/smaps_rollup"
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, fmt.Errorf("memory can be measured on Linux only: %w", err)
	}
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if len(words) != 3 || string(words[2]) != "kB" {
			continue
		}
		kib, err := strconv.ParseFloat(string(words[1]), 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		switch string(words[0]) {
		case "Private_Clean:", "Private_Dirty:":
			private += kib
		case "Pss:":
			all = kib
		}
	}
	return private, all, nil
}
