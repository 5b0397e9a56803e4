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
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Args[1:], os.Stdout) })
}

type options struct {
	file       string
	top, steps int
	help       bool
}

const usage = `Usage: pagerank [-top N] [-steps N] [FILE]

Ranks the vertices of a graph: an edge list, or a database of Debian packages. It
prints the -top 20 of them after at most -steps 400 steps.
`

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("pagerank", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.top, "top", 20, "")
	flags.IntVar(&o.steps, "steps", 400, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		o.help = true
		return o, nil
	case err != nil:
	case o.top < 0 || o.steps < 0:
		err = fmt.Errorf("-top is %d and -steps is %d, neither may be negative", o.top, o.steps)
	case flags.NArg() > 1:
		err = fmt.Errorf("one graph at a time, not %d: options come before it", flags.NArg())
	}
	if err != nil {
		return o, fmt.Errorf("pagerank: %w; pagerank -help explains", err)
	}
	o.file = flags.Arg(0)
	return o, nil
}

// run is the program on one rank. Rank 0 alone reads arguments and graph, so that a
// mistake in them is reported once; Main then ends all ranks.
func run(world *mpi.Comm, args []string, out io.Writer) error {
	var opt options
	var g graph
	if world.Rank() == 0 {
		var err error
		opt, err = parse(args)
		if err != nil {
			return err
		}
		if opt.help {
			fmt.Fprint(out, usage)
		} else {
			g, err = load(opt.file)
			if err != nil {
				return err
			}
		}
	}
	plan := []int{len(g.names), len(g.to), opt.steps}
	if err := mpi.Bcast(world, plan, 0); err != nil {
		return err
	}
	if plan[0] == 0 {
		return nil // rank 0 was asked for help, or there is nothing to rank
	}
	p, err := deal(world, g, plan[0])
	if err != nil {
		return err
	}
	start := mpi.Wtime()
	steps, err := p.iterate(plan[2])
	if err != nil {
		return err
	}
	seconds := mpi.Wtime() - start
	ranks, err := p.collect()
	if err != nil || world.Rank() != 0 {
		return err
	}
	again, alone := serial(g, plan[2])
	if err := same(g, ranks, again, steps, alone); err != nil {
		return err
	}
	report(out, g, ranks, opt.top)
	_, err = fmt.Fprintf(out, "%d vertices, %d edges: %d steps on %d ranks in %.3f s, checked against a serial run\n",
		plan[0], plan[1], steps, world.Size(), seconds)
	return err
}
