package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/benchmark"
	"github.com/halo-mpi/halo/mpi"
)

// initRuns is how often `halo bench init` starts the job; the median counts.
const initRuns = 5

// benchPlan is the command line of `halo bench`.
type benchPlan struct {
	benchmark.Plan
	ranks int
	bind  string
	list  string // -sizes as given
}

func parseBench(args []string, stderr io.Writer) (*benchPlan, error) {
	p := &benchPlan{}
	fs := flag.NewFlagSet("halo bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "usage: halo bench [flags] NAME\n\nMeasures this machine. NAME is one of\n\n%s\nFlags:\n", benchmark.Describe())
		fs.PrintDefaults()
	}
	fs.IntVar(&p.ranks, "n", 2, "start `N` ranks")
	fs.StringVar(&p.Fabric, "fabric", defaultFabric(), "`shm` or tcp: what carries the messages")
	fs.StringVar(&p.bind, "bind", "", "`core` or none (default core as long as there is one for each rank)")
	fs.StringVar(&p.list, "sizes", "", "message sizes in bytes, for matching depths: a `LIST` such as 8,64,4096")
	fs.BoolVar(&p.JSON, "json", false, "print one JSON object a line")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() == 0 {
		return nil, fmt.Errorf("which benchmark? One of\n%s", benchmark.Describe())
	}
	p.Name = fs.Arg(0)
	// Flags may stand behind the name as well.
	if err := fs.Parse(fs.Args()[1:]); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("one benchmark at a time: %s or %s", p.Name, fs.Arg(0))
	}
	if p.Fabric != "shm" && p.Fabric != "tcp" {
		return nil, fmt.Errorf("-fabric is shm or tcp, not %q", p.Fabric)
	}
	if p.bind == "" {
		p.bind = "none"
		if p.ranks <= runtime.NumCPU() {
			p.bind = "core"
		}
	}
	if p.bind != "core" && p.bind != "none" {
		return nil, fmt.Errorf("-bind is core or none, not %q", p.bind)
	}
	if p.list != "" {
		var err error
		if p.Sizes, err = benchmark.ParseSizes(p.list); err != nil {
			return nil, err
		}
	}
	return p, p.Check(p.ranks)
}

func defaultFabric() string {
	if runtime.GOOS == "linux" {
		return "shm"
	}
	return "tcp" // there is no shared memory fabric elsewhere
}

// runArgs are the arguments of `halo run` that start the ranks.
func (p *benchPlan) runArgs(self string) []string {
	args := []string{"-n", strconv.Itoa(p.ranks), "-fabric", p.Fabric, "-bind", p.bind, self, "bench", "-rank", "-fabric", p.Fabric}
	if p.list != "" {
		args = append(args, "-sizes", p.list)
	}
	if p.JSON {
		args = append(args, "-json")
	}
	return append(args, p.Name)
}

// benchMain is `halo bench`: it launches this very program as the ranks, with a
// first argument -rank, which is not for people.
func benchMain(args []string) int {
	if len(args) > 0 && args[0] == "-rank" {
		return benchRank(args[1:])
	}
	p, err := parseBench(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var self string
	if err == nil {
		self, err = os.Executable()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo bench:", strings.TrimSpace(err.Error()))
		return 2
	}
	if p.Name != "init" {
		return runMain(p.runArgs(self))
	}
	if err := p.timeInit(self, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "halo bench:", err)
		return 1
	}
	return 0
}

// timeInit takes the time from before the launcher's start to after its exit.
func (p *benchPlan) timeInit(self string, out io.Writer) error {
	var ms []time.Duration
	for range initRuns {
		cmd := exec.Command(self, append([]string{"run"}, p.runArgs(self)...)...)
		cmd.Stderr = os.Stderr
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
		}
		ms = append(ms, time.Since(start))
	}
	slices.Sort(ms)
	report := benchmark.Report{Out: out, JSON: p.JSON}
	return report.Add(benchmark.Result{Bench: p.Name, Fabric: p.Fabric, Ranks: p.ranks, US: float64(ms[initRuns/2]) / 1e3})
}

// benchRank is one rank of `halo bench`.
func benchRank(args []string) int {
	p := benchmark.Plan{}
	fs := flag.NewFlagSet("halo bench -rank", flag.ContinueOnError)
	fs.StringVar(&p.Fabric, "fabric", defaultFabric(), "label of the output")
	list := fs.String("sizes", "", "as of halo bench")
	fs.BoolVar(&p.JSON, "json", false, "as of halo bench")
	err := fs.Parse(args)
	if err == nil && fs.NArg() != 1 {
		err = fmt.Errorf("want one benchmark, not %q", fs.Args())
	}
	if err == nil && *list != "" {
		p.Sizes, err = benchmark.ParseSizes(*list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo bench -rank:", err)
		return 2
	}
	p.Name = fs.Arg(0)
	mpi.Main(func(world *mpi.Comm) error {
		if p.Name == "init" {
			return nil
		}
		return benchmark.Run(world, &p, os.Stdout)
	})
	return 0
}
