package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

type options struct {
	in, out string
	steps   int
	tol     float64
	halo    way
	help    bool // was asked for and has been printed

	checkpoint, restart string
}

const usage = `Usage: heat [-steps N] [-tol X] [-halo HOW] [-checkpoint FILE] [-o FILE] [PICTURE]
       heat -restart FILE [...]

Lets the brightness of a PNG or JPEG spread like heat. Without PICTURE it takes
one of its own. With -restart it continues from a checkpoint.
`

// ways are the names of the ways to fill the halo.
func ways() []string {
	return []string{"messages", "rma-fence", "rma-pscw", "rma-lock", "notify", "sync-counters", "neighbor", "neighbor-persistent"}
}

// parse reads the arguments; it prints to out only if asked for help.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("heat", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.IntVar(&o.steps, "steps", 1000, "stop after `N` steps")
	flags.Float64Var(&o.tol, "tol", 0.01, "stop when no cell changes by more than `X` of 255 in a step")
	flags.Func("halo", "swap edges by `HOW`: messages, rma-fence, rma-pscw, rma-lock, notify, sync-counters, neighbor, or neighbor-persistent (default messages)", func(name string) error {
		how := slices.Index(ways(), name)
		if how < 0 {
			return fmt.Errorf("want one of %s", strings.Join(ways(), ", "))
		}
		o.halo = way(how)
		return nil
	})
	flags.StringVar(&o.checkpoint, "checkpoint", "", "write the state to `FILE` every 50 steps")
	flags.StringVar(&o.restart, "restart", "", "begin with the state in `FILE`, which any number of ranks has written")
	flags.StringVar(&o.out, "o", "heat.png", "write the result to `FILE`")

	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		flags.SetOutput(out)
		flags.PrintDefaults()
		o.help = true
		return o, nil
	case err != nil:
	case flags.NArg() > 1:
		err = fmt.Errorf("one picture at a time, not %d: options come before it", flags.NArg())
	case o.restart != "" && flags.NArg() > 0:
		err = errors.New("-restart has the picture: name no other one")
	case o.steps < 0:
		err = fmt.Errorf("-steps is %d, must not be negative", o.steps)
	case !(o.tol >= 0): // so that NaN is caught too
		err = fmt.Errorf("-tol is %v, must not be negative", o.tol)
	}
	if err != nil {
		return o, fmt.Errorf("heat: %w; heat -help lists the options", err)
	}
	o.in = flags.Arg(0)
	return o, nil
}
