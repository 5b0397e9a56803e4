package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == strangerArg {
		beStranger(os.Args[2])
		return
	}
	quick := flag.Bool("quick", false, "few samples, to see that everything works")
	flag.Parse()
	if err := report(os.Stdout, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "loadedcore:", err)
		os.Exit(1)
	}
}

// strangerArg is the first argument of a process that computes on a core until it is killed; the second is the core.
const strangerArg = "-stranger"

// A row is one line of the table: samples of how long something takes. It has none if it needs more cores than there are.
type row struct {
	what    string
	samples []time.Duration
}

// print prints median and 99th percentile in microseconds.
func (r *row) print(out io.Writer) {
	if len(r.samples) == 0 {
		fmt.Fprintf(out, "%-*s %10s %10s %8d\n", width, r.what, "-", "-", 0)
		return
	}
	sorted := slices.Sorted(slices.Values(r.samples))
	at := func(percent int) float64 { return float64(sorted[(len(sorted)-1)*percent/100]) / 1e3 }
	fmt.Fprintf(out, "%-*s %10.2f %10.2f %8d\n", width, r.what, at(50), at(99), len(sorted))
}

// width is that of the first column.
const width = 62

// report measures everything, and prints a table.
func report(out io.Writer, quick bool) error {
	began := time.Now()
	rows, err := measure(quick)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%-*s %10s %10s %8s\n", machine(), width, "microseconds", "median", "p99", "samples")
	for _, r := range rows {
		r.print(out)
	}
	fmt.Fprintf(out, "all of it took %.1f s\n", time.Since(began).Seconds())
	return nil
}
