package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		err := run(world, os.Args[1:], os.Stdout)
		if errors.Is(err, errElsewhere) {
			return nil // Main reports the error of the other rank, and ends the job
		}
		return err
	})
}

// run is the program on one rank.
func run(world *mpi.Comm, args []string, out io.Writer) error {
	opt, err := parse(args)
	if err := agree(world, err); err != nil {
		return err
	}
	if opt.help {
		if world.Rank() == 0 {
			fmt.Fprint(out, usage)
		}
		return nil
	}

	// What rank 0 finds now is what is counted, even if a file is growing.
	sizes := make([]int64, len(opt.files))
	if world.Rank() == 0 {
		err = measure(opt.files, sizes)
	}
	if err := agree(world, err); err != nil {
		return err
	}
	if err := mpi.Bcast(world, sizes, 0); err != nil {
		return err
	}

	words := map[string]int{}
	err = countPart(opt.files, sizes, world.Rank(), world.Size(), words)
	if err := agree(world, err); err != nil {
		return err
	}
	table, err := merge(world, words)
	if err != nil || world.Rank() != 0 {
		return err
	}
	return report(out, table, opt.top, world.Size())
}

// errElsewhere means that another rank has failed, which reports why.
var errElsewhere = errors.New("wordcount: another rank has failed")

// agree exchanges whether the ranks can continue. If one calls it with an error,
// all get one: the first of the failed ranks its own, the others
// errElsewhere. A rank that simply returned would leave the others waiting for it.
func agree(world *mpi.Comm, err error) error {
	failed := world.Size()
	if err != nil {
		failed = world.Rank()
	}
	first, broken := mpi.AllreduceOne(world, failed, mpi.Min)
	switch {
	case broken != nil:
		return broken
	case first == world.Rank():
		return err
	case first < world.Size():
		return errElsewhere
	}
	return nil
}

type options struct {
	files []string
	top   int
	help  bool
}

const usage = `Usage: wordcount [-top N] [FILE...]

Counts the words of files and prints the N most frequent ones, 10 unless told.
Without files it counts a text of its own.
`

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("wordcount", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // every rank parses, but only one reports an error
	flags.IntVar(&o.top, "top", 10, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		o.help = true
		return o, nil
	case err == nil && o.top < 0:
		err = fmt.Errorf("-top is %d, must not be negative", o.top)
	}
	if err != nil {
		return o, fmt.Errorf("wordcount: %w; wordcount -help explains", err)
	}
	o.files = flags.Args()
	if len(o.files) == 0 {
		o.files = []string{ownText}
	}
	return o, nil
}
