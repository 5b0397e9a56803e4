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

	text, err := input(world, opt)
	if err != nil {
		return err
	}
	if err := agree(world, create(world, opt.out)); err != nil {
		return err
	}
	start := mpi.Wtime()
	before := summarize(text)
	texts, err := exchange(world, text)
	if err != nil {
		return err
	}
	after, err := output(world, texts, opt.out)
	var all summary
	var fullest uint64
	if err == nil { // on all ranks, or on none
		all, fullest, err = verify(world, before, after)
	}
	if err := settle(world, opt.out, err); err != nil {
		return err
	}
	seconds := mpi.Wtime() - start

	if world.Rank() != 0 {
		return nil
	}
	shares := float64(fullest) * float64(world.Size()) / float64(max(all.bytes, 1))
	fmt.Fprintf(out, "%d lines of %d bytes sorted on %d ranks in %.2f s; the fullest rank has %.2f shares\n",
		all.lines, all.bytes, world.Size(), seconds, shares)
	fmt.Fprintf(out, "verified: no line is lost, all are in order, checksum %016x\n", all.hash)
	if opt.out != "" {
		fmt.Fprintf(out, "wrote %s\n", opt.out)
	}
	return nil
}

// errElsewhere means that another rank has failed, which reports why.
var errElsewhere = errors.New("samplesort: another rank has failed")

// agree exchanges whether the ranks can continue. If one calls it with an error,
// all get one: the first of the failed ranks its own, the others
// errElsewhere. It is a barrier, too: nobody goes on before all have come.
func agree(world *mpi.Comm, err error) error {
	failed := world.Size()
	if err != nil && !errors.Is(err, errElsewhere) {
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
	in, out string
	lines   int
	seed    uint64
	help    bool
}

const usage = `Usage: samplesort [-o OUTPUT] [-lines N] [-seed S] [FILE]

Sorts the lines of FILE by their bytes, and writes them to OUTPUT, which may be
FILE itself. Without FILE it makes N lines of its own, 250,000 unless told,
others for another S. While it writes, OUTPUT is called OUTPUT.part.
`

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("samplesort", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // every rank parses, but only one reports an error
	flags.StringVar(&o.out, "o", "", "")
	flags.IntVar(&o.lines, "lines", 250_000, "")
	flags.Uint64Var(&o.seed, "seed", 1, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		o.help = true
		return o, nil
	case err != nil:
	case flags.NArg() > 1:
		err = fmt.Errorf("one file at a time, not %d: options come before it", flags.NArg())
	case o.lines < 0:
		err = fmt.Errorf("-lines is %d, must not be negative", o.lines)
	}
	if err != nil {
		return o, fmt.Errorf("samplesort: %w; samplesort -help explains", err)
	}
	o.in = flags.Arg(0)
	return o, nil
}
