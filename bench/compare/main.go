package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == limitsArg {
		printLimits(os.Args[2:], os.Stdout)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == strangerArg {
		beStranger()
		return
	}
	os.Exit(compare(os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	rounds int
	more   int // further rounds, of rows that are undecided
	only   string
	mpis   []string
	dir    string
	page   string // also written as a page of the documentation
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&o.rounds, "rounds", 5, "run everything `N` times; fewer than 5 are not for quoting")
	fs.IntVar(&o.more, "more", 8, "then run those rows `N` times more whose bar lies between the second and the last but one of their ratios")
	fs.StringVar(&o.only, "only", "", "only the rows whose name contains `TEXT`, such as latency or \"barrier 4\"; growth: those of the chart of growth")
	quick := fs.Bool("quick", false, "one round, to see that everything works")
	mpis := fs.String("mpi", strings.Join(columns(), ","), "the columns, a `LIST` of names with commas between them")
	fs.StringVar(&o.dir, "o", "", "write results.md, ratios.svg, growth.svg and rounds.jsonl to `DIR` (default bench/results)")
	fs.StringVar(&o.page, "page", "", "write the report to the page `FILE` of the documentation, with the date, and the charts beside it")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("compare takes no arguments but flags, not %q", fs.Arg(0))
	}
	if *quick {
		o.rounds, o.more = 1, 0
	}
	if o.rounds < 1 {
		return nil, fmt.Errorf("-rounds wants at least 1, not %d", o.rounds)
	}
	if o.more < 0 {
		return nil, fmt.Errorf("-more wants at least 0, not %d", o.more)
	}
	o.mpis = strings.Split(*mpis, ",")
	for i, name := range o.mpis {
		if !isColumn(name) {
			return nil, fmt.Errorf("-mpi knows %s, not %q", strings.Join(columns(), ", "), name)
		}
		for _, before := range o.mpis[:i] {
			if before == name {
				return nil, fmt.Errorf("-mpi names %s twice", name)
			}
		}
	}
	if len(selectRows(allRows(), o.only)) == 0 {
		return nil, fmt.Errorf("-only %q matches no row; the rows are:\n  %s", o.only, strings.Join(rowNames(allRows()), "\n  "))
	}
	return o, nil
}

// compare is main without the process: it returns the exit status.
func compare(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if err == flag.ErrHelp {
		return 0
	}
	if err == nil {
		err = o.run(stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "compare:", err)
		return 1
	}
	return 0
}

func (o *options) run(stdout, stderr io.Writer) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if o.dir == "" {
		o.dir = filepath.Join(root, "bench", "results")
	}
	bin, err := os.MkdirTemp("", "halo-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	// After an interrupt no process must be left: the ranks get the terminal's
	// signal themselves, and the run in progress fails here.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)

	load := machineLoad() // before the compilers run
	var mpis []*implementation
	for _, name := range o.mpis {
		m, err := prepare(name, root, bin, stderr)
		if err != nil {
			return err
		}
		mpis = append(mpis, m)
	}
	r := newResults(selectRows(allRows(), o.only), o.mpis)
	r.machine, r.load, r.began, r.revision = describeMachine(mpis), load, time.Now(), revision()
	measure := func(rows []row, what string) error {
		r.startRound()
		for _, j := range jobsOf(rows) {
			fmt.Fprintf(stderr, "%s: %s\n", what, j)
			before, err := measureLimits(limitNames(rows, j))
			if err != nil {
				r.remark(err.Error())
			}
			for _, m := range mpis {
				remark, runs := m.about(j)
				r.remark(remark)
				if !runs {
					continue
				}
				r.attempt(m.name, j)
				lines, err := besideStrangers(j.strangers, func() ([]line, error) { return m.run(j, runtime.NumCPU()) })
				select {
				case <-interrupted:
					return fmt.Errorf("interrupted")
				default:
				}
				if err != nil {
					r.fail(m.name, j, err)
				}
				r.add(m.name, j.strangers, lines)
			}
			after, err := measureLimits([]string{line64})
			if err != nil {
				r.remark(err.Error())
			}
			r.addLimits(j, before, after)
		}
		return r.write(o.dir) // whatever may happen in the next round
	}
	for round := range o.rounds {
		if err := measure(r.rows, fmt.Sprintf("round %d of %d", round+1, o.rounds)); err != nil {
			return err
		}
	}
	// Undecided rows are chosen once and measured equally often, so that no row stops at a favourable result.
	if again := r.undecided(); len(again) > 0 {
		for round := range o.more {
			r.further++
			if err := measure(again, fmt.Sprintf("round %d of %d of %d undecided rows", round+1, o.more, len(again))); err != nil {
				return err
			}
		}
	}
	fmt.Fprint(stdout, r.text())
	if o.page != "" {
		if err := r.writePage(o.page); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "\nwritten: %s\nall of it took %v\n", filepath.Join(o.dir, "{results.md,ratios.svg,growth.svg,rounds.jsonl}"), time.Since(r.began).Round(time.Second))
	if failures := r.unexcused(); len(failures) > 0 {
		return fmt.Errorf("%d runs failed, the first: %s", len(failures), failures[0])
	}
	return nil
}

// moduleRoot is the directory of go.mod at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "bench", "halobench.c")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("bench/halobench.c is not at or above %s: run this inside the source tree", dir)
		}
	}
}
