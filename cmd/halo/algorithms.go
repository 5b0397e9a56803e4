package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
)

// printAlgorithms writes by which algorithms collectives are carried out: those that
// the environment chooses, or else the defaults.
func printAlgorithms(out io.Writer, get func(string) string) error {
	c, err := choice.FromEnv(get)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `
Collectives, each set by its environment variable, alike for all ranks: algorithms
for messages with the limits below which they apply, the first that does. Limits are
size (bytes of the buffer, or of one block), share (size / ranks), ranks, and node
(the members share memory). "*" marks what is set. Where the members share memory,
blocking Barrier, Bcast, Allreduce, Allgather and Alltoall, and Reduce of up to %d bytes, go
through a slot instead.

`, slot.Payload)
	tunables := choice.Tunables()
	width := 0
	for _, t := range tunables {
		width = max(width, len(t.Env()))
	}
	for _, t := range tunables {
		mark := " "
		if get(t.Env()) != "" {
			mark = "*"
		}
		fmt.Fprintf(out, "%s %-*s  %s\n  %*s  %s\n", mark, width, t.Env(), strings.ReplaceAll(t.Value(&c), ",", ", "), width, "", t.Doc())
	}
	return nil
}

// algorithmsMain is the last part of halo info: algorithms, operations and datatypes.
func algorithmsMain() int {
	err := printAlgorithms(os.Stdout, os.Getenv)
	if err == nil {
		err = printOperations(os.Stdout, os.Getenv)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo:", err)
		return 1
	}
	printTypes(os.Stdout)
	return 0
}
