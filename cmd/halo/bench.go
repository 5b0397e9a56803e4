package main

import (
	"context"
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

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

// initRuns is how often `halo bench init` starts the job; the median counts.
const initRuns = 5

// benchPlan is the command line of `halo bench`.
type benchPlan struct {
	benchmark.Plan
	ranks   int
	bind    string
	fabrics []string // one after the other; Fabric is the first
	args    []string // what the ranks are to measure, as given
	peers   bool     // seeds: run other MPIs, too
	svg     string   // seeds: where figures go
	note    string   // seeds: sentences about the machine
	points  string   // seeds: files with points that were measured before, instead of measuring
}

// lists are flags with a list of words, as given.
type lists struct{ sizes, wins, types, workers string }

// planFlags defines the flags that say what is measured: those of halo bench that its
// ranks get, too.
func planFlags(fs *flag.FlagSet, p *benchmark.Plan) *lists {
	l := &lists{}
	fs.StringVar(&l.sizes, "sizes", "", "message sizes in bytes, for matching depths: a `LIST` such as 8,64,4096")
	fs.StringVar(&l.wins, "win", "", "one-sided communication: `KINDS` of windows, allocate, shared, create, dynamic,\ncreate-heap, dynamic-heap, dup (default allocate, for passive all but dup)")
	fs.StringVar(&l.types, "types", "", "acc, getacc, fop and cas: `TYPES` of elements such as int8,uint64,float32\n(default float64, for fop and cas int64)")
	fs.StringVar(&l.workers, "workers", "", "mtflush, partitioned: a `LIST` of numbers of goroutines (default 1,2,4,8,16,32,\nfor partitioned 1,2,8)")
	fs.IntVar(&p.Partitions, "partitions", 0, "partitioned: a message has `N` partitions (default 64)")
	fs.StringVar(&p.Scope, "scope", "", "mtflush: a duplicate of the window of that `SCOPE`, process or thread, for each goroutine")
	fs.BoolVar(&p.Order, "order", false, "mtflush: the same, in order")
	fs.StringVar(&p.WorkerOp, "op", "", "mtflush: the `OPERATION` before each flush, put, get, fop or cas (default put);\nphases: that alone, exchange, stencil, allreduce, barrier, fence, lock, pscw or notify;\nproxy: that alone, cg, md, fft, wavefront, tasks or walk")
	fs.StringVar(&p.Uneven, "uneven", "", "phases: the computations are `HOW` uneven: varied, at random by 20 %; skewed, at rank 0\ntwice as long")
	fs.IntVar(&p.Ops, "ops", 0, "passive: `N` operations of each kind (default 20000)")
	fs.IntVar(&p.BusyMS, "busy-ms", 0, "passive: the target computes for `N` ms at most (default 500)")
	fs.StringVar(&p.Dir, "dir", "", "file-...: the file is in `DIR` (default in memory, /dev/shm)")
	fs.BoolVar(&p.JSON, "json", false, "print one JSON object a line")
	return l
}

// fill puts the lists into the plan.
func (l *lists) fill(p *benchmark.Plan) (err error) {
	if l.sizes != "" {
		p.Sizes, err = benchmark.ParseSizes(l.sizes)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
	}
	if l.workers != "" {
		p.Workers, err = benchmark.ParseSizes(l.workers)
		if err != nil {
			return fmt.Errorf("-workers: %w", err)
		}
	}
	if l.wins != "" {
		p.Wins = strings.Split(l.wins, ",")
	}
	if l.types != "" {
		p.Types = strings.Split(l.types, ",")
	}
	return nil
}

// benchFlags defines the flags of halo bench but for those of planFlags.
func benchFlags(p *benchPlan, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("halo bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "usage: halo bench [flags] [NAME]\n\nMeasures this machine. NAME is one of\n\n%s\nFlags:\n", describeBenchmarks())
		fs.PrintDefaults()
	}
	fs.IntVar(&p.ranks, "n", 0, "start `N` ranks (default 2, for spawn, across and pool 1)")
	fs.StringVar(&p.Fabric, "fabric", "", "`shm` or tcp: what carries the messages (default "+defaultFabric()+", for passive and seeds both)")
	fs.StringVar(&p.bind, "bind", "", "`core` or none (default core as long as there is one for each rank,\nbut none for mtflush, partitioned, passive and file-overlap)")
	fs.BoolVar(&p.peers, "peers", false, "seeds: run MPICH and Open MPI, too, where they are installed")
	fs.StringVar(&p.svg, "svg", "", "seeds: write figures into `DIR`")
	fs.StringVar(&p.note, "note", "", "seeds: `TEXT` to stand beside the description of the machine")
	fs.StringVar(&p.points, "points", "", "seeds: do not measure Halo, but read `FILES` that -json has written;\nof points that are in several of them the median counts")
	return fs
}

func parseBench(args []string, stderr io.Writer) (*benchPlan, error) {
	p := &benchPlan{}
	fs := benchFlags(p, stderr)
	l := planFlags(fs, &p.Plan)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() == 0 {
		return nil, fmt.Errorf("no benchmark is given, want one of\n%s", benchmark.Describe())
	}
	p.Name = fs.Arg(0)
	// Flags may follow the name.
	if err := fs.Parse(fs.Args()[1:]); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("two benchmarks are given, want one: %s or %s", p.Name, fs.Arg(0))
	}
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "n" })
	if !given {
		p.ranks = p.Plan.Ranks()
	}
	switch p.Fabric {
	case "shm", "tcp":
		p.fabrics = []string{p.Fabric}
	case "":
		p.fabrics = []string{defaultFabric()}
		if (p.Name == "passive" || p.Name == "seeds") && p.fabrics[0] != "tcp" {
			p.fabrics = append(p.fabrics, "tcp")
		}
		p.Fabric = p.fabrics[0]
	default:
		return nil, fmt.Errorf("-fabric is %q, want shm or tcp", p.Fabric)
	}
	if p.bind == "" {
		p.bind = "none"
		if p.ranks <= runtime.NumCPU() && !p.Spreads() {
			p.bind = "core"
		}
	}
	if p.bind != "core" && p.bind != "none" {
		return nil, fmt.Errorf("-bind is %q, want core or none", p.bind)
	}
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"n", "fabric", "bind", "peers", "svg", "points", "note"}, f.Name) {
			p.args = append(p.args, "-"+f.Name+"="+f.Value.String())
		}
	})
	if err := l.fill(&p.Plan); err != nil {
		return nil, err
	}
	if p.Name != "seeds" && (p.peers || p.svg != "" || p.points != "") {
		return nil, fmt.Errorf("%s is not an experiment: -peers, -svg and -points are for seeds only", p.Name)
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
func (p *benchPlan) runArgs(self, fabric string) []string {
	args := []string{"-n", strconv.Itoa(p.ranks), "-fabric", fabric, "-bind", p.bind, self, "bench", "-rank", "-fabric", fabric}
	return append(append(args, p.args...), p.Name)
}

// benchMain is `halo bench`: it launches this program as the ranks, with a first argument -rank,
// which is internal.
func benchMain(args []string) int {
	if len(args) > 0 && args[0] == "-rank" {
		return benchRank(args[1:])
	}
	self, err := os.Executable()
	var p *benchPlan
	if err == nil {
		if lines := pageArgs(args); lines != nil {
			return page(lines, self, os.Stdout, os.Stderr)
		}
		p, err = parseBench(args, os.Stderr)
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo bench:", strings.TrimSpace(err.Error()))
		return 2
	}
	return p.measure(self)
}

// measure runs the benchmark, and returns the exit status.
func (p *benchPlan) measure(self string) int {
	if p.Name == "seeds" {
		if err := p.seeds(self, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "halo bench:", err)
			return 1
		}
		return 0
	}
	if p.Name != "init" {
		for _, fabric := range p.fabrics {
			if status := runMain(p.runArgs(self, fabric)); status != 0 {
				return status
			}
		}
		return 0
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
		cmd := exec.Command(self, append([]string{"run"}, p.runArgs(self, p.Fabric)...)...)
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

// echo is what the workers of the benchmark pool do.
var echo = pool.Register("echo", func(_ context.Context, x int) (int, error) { return x, nil })

// benchRank is one rank of `halo bench`.
func benchRank(args []string) int {
	p := benchmark.Plan{Echo: echo}
	pool.Worker() // of the benchmark pool
	fs := flag.NewFlagSet("halo bench -rank", flag.ContinueOnError)
	fs.StringVar(&p.Fabric, "fabric", defaultFabric(), "label of the output")
	l := planFlags(fs, &p)
	err := fs.Parse(args)
	if err == nil && fs.NArg() != 1 {
		err = fmt.Errorf("want one benchmark, not %q", fs.Args())
	}
	if err == nil {
		err = l.fill(&p)
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
