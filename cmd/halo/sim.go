package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/replay"
)

const simHelp = `Predict how long a collective takes on a network that this machine does not have.

Usage:
  halo sim [OPTIONS] COLLECTIVE

COLLECTIVE is barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, scan, exscan or
reducescatterblock. The rounds of messages are those that programs carry out. The network is a model,
LogGP: a process is busy for the overhead of each message that it sends or takes; a message of k bytes
leaves at the earliest max(gap, k * per-byte) after the one before, and arrives k * per-byte + latency
later. Copies and reductions take no time, and long messages are not announced.

Options:
  -n N             ranks, up to 1000000 (default 1024); rows for the powers of two below it, too
  -bytes N         length of the buffer of a bcast, of an operand, or of the block for or from each
                   member, in bytes (default 8)
  -root RANK       of bcast, reduce, gather and scatter (default 0)
  -algorithm NAME  one of those of halo info; by default the one that programs would choose
  -per-host N      ranks on each host (default 1); they send messages to each other, too
  -latency TIME, -overhead TIME, -gap TIME
                   between hosts (default 1us, 200ns, 0)
  -per-byte NS     nanoseconds for each byte between hosts (default 0.1: 10 GB/s)
  -node-latency TIME, -node-overhead TIME, -node-gap TIME, -node-per-byte NS
                   on one host (default 100ns, 50ns, 0, 0.05)
  -goal FILE       write the rounds of N ranks in GOAL, for LogGOPSim and other simulators, to FILE

Exit status: 0; 1 if FILE cannot be written; 2 for a wrong command line.
`

// maxSimulated bounds the memory of halo sim.
const maxSimulated = 1_000_000

// simulation is a command line of halo sim.
type simulation struct {
	kind      coll.Kind
	algorithm choice.Algorithm // Auto: what programs would choose
	n, bytes  int
	root      int
	perHost   int
	near, far sim.Link
	goal      string
	name      string // of the algorithm of the last tracer
}

func simMain(args []string) int {
	s, err := parseSimulation(args, os.Getenv)
	switch {
	case err == flag.ErrHelp:
		fmt.Print(simHelp)
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "halo sim:", err)
		return 2
	}
	if err := s.run(os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "halo sim:", err)
		return 1
	}
	return 0
}

func parseSimulation(args []string, get func(string) string) (*simulation, error) {
	s := &simulation{}
	fs := flag.NewFlagSet("sim", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&s.n, "n", 1024, "")
	fs.IntVar(&s.bytes, "bytes", 8, "")
	fs.IntVar(&s.root, "root", 0, "")
	fs.IntVar(&s.perHost, "per-host", 1, "")
	algorithm := fs.String("algorithm", "", "")
	fs.StringVar(&s.goal, "goal", "", "")
	link := func(l *sim.Link, prefix string, d sim.Link) {
		fs.DurationVar(&l.Latency, prefix+"latency", d.Latency, "")
		fs.DurationVar(&l.Overhead, prefix+"overhead", d.Overhead, "")
		fs.DurationVar(&l.Gap, prefix+"gap", d.Gap, "")
		fs.Float64Var(&l.PerByte, prefix+"per-byte", d.PerByte, "")
	}
	link(&s.far, "", sim.Link{Latency: time.Microsecond, Overhead: 200 * time.Nanosecond, PerByte: 0.1})
	link(&s.near, "node-", sim.Link{Latency: 100 * time.Nanosecond, Overhead: 50 * time.Nanosecond, PerByte: 0.05})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() != 1 {
		return nil, fmt.Errorf("want one collective, such as barrier, not %q; options stand before it", fs.Args())
	}
	if err := s.choose(fs.Arg(0), *algorithm); err != nil {
		return nil, err
	}
	switch {
	case s.n < 2 || s.n > maxSimulated:
		return nil, fmt.Errorf("-n wants 2 to %d ranks, not %d", maxSimulated, s.n)
	case s.bytes < 0 || s.bytes > 1<<30/s.n:
		return nil, fmt.Errorf("-bytes wants 0 to %d with %d ranks, not %d", 1<<30/s.n, s.n, s.bytes)
	case s.root < 0 || s.root >= s.n:
		return nil, fmt.Errorf("-root wants a rank below %d, not %d", s.n, s.root)
	case s.perHost < 1:
		return nil, fmt.Errorf("-per-host wants at least 1, not %d", s.perHost)
	}
	for _, l := range []*sim.Link{&s.near, &s.far} {
		if min(l.Latency, l.Overhead, l.Gap) < 0 || !(l.PerByte >= 0 && l.PerByte < 1e9) {
			return nil, fmt.Errorf("times of the network must not be negative: %+v", *l)
		}
	}
	_, err := s.tracer(s.n, get)
	return s, err
}

// choose sets the kind and the algorithm from their names.
func (s *simulation) choose(kind, algorithm string) error {
	for k := range coll.Kinds {
		s.kind = coll.Kind(k)
		if !strings.EqualFold(s.kind.String(), kind) {
			continue
		}
		if algorithm == "" {
			return nil
		}
		var names []string
		for _, a := range choice.Algorithms(s.kind) {
			s.algorithm = a
			if a.Name() == algorithm {
				return nil
			}
			names = append(names, a.Name())
		}
		return fmt.Errorf("the algorithms of %v are %s, not %q", s.kind, strings.Join(names, ", "), algorithm)
	}
	return fmt.Errorf("there is no collective %q; halo sim -help lists them", kind)
}

// tracer returns the rounds among n ranks.
func (s *simulation) tracer(n int, get func(string) string) (*coll.Tracer, error) {
	a := s.algorithm
	if a == choice.Auto {
		c, err := choice.FromEnv(get)
		if err != nil {
			return nil, err
		}
		a = c.Apart(s.kind, n, s.bytes)
	}
	t, err := coll.NewTracer(a, n, min(s.root, n-1), s.bytes)
	if err != nil {
		return nil, fmt.Errorf("%w; name another one by -algorithm", err)
	}
	s.name = a.Name()
	return t, nil
}

// link returns the model of the way between two ranks.
func (s *simulation) link(a, b int) *sim.Link {
	if a/s.perHost == b/s.perHost {
		return &s.near
	}
	return &s.far
}

// run prints a row for each number of ranks.
func (s *simulation) run(out io.Writer, get func(string) string) error {
	fmt.Fprintf(out, "%v of %d bytes\n%10s %20s %14s %10s\n", s.kind, s.bytes, "ranks", "algorithm", "us", "messages")
	for n := 2; ; n = min(2*n, s.n) {
		t, err := s.tracer(n, get)
		if err != nil {
			return err
		}
		r := replay.Run(n, s.link, t.Round)
		fmt.Fprintf(out, "%10d %20s %14.3f %10d\n", n, s.name, float64(r.Last.Nanoseconds())/1000, r.Events/2)
		if n == s.n {
			break
		}
	}
	if s.goal == "" {
		return nil
	}
	t, err := s.tracer(s.n, get)
	if err != nil {
		return err
	}
	f, err := os.Create(s.goal)
	if err != nil {
		return err
	}
	if err := replay.Goal(f, s.n, 0, t.Round); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
