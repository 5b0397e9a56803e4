package benchmark

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

const (
	maxSize  = 1 << 30 // bytes of a message
	maxDepth = 1000000 // messages in a queue; each needs a tag of its own
	maxSizes = 64      // entries of a list of sizes

	maxPacked = 16 << 20 // packed bytes, from an array depth times as large
)

// A Plan describes what to run.
type Plan struct {
	Name   string
	Fabric string // for the output only: the launcher has chosen it
	Sizes  []int  // bytes, depths for matching; nil means the benchmark's own
	JSON   bool   // one JSON object per line instead of a table

	// Of one-sided communication; nil and 0 mean the benchmark's own.
	Wins    []string // kinds of windows
	Types   []string // acc, getacc, fop and cas: types of elements
	Workers []int    // mtflush, partitioned: goroutines at once
	Scope   string   // mtflush: of the window, process or thread; each goroutine then has a duplicate
	Order   bool     // mtflush: in a window in order
	// WorkerOp is what the goroutines of mtflush do: an entry of workerOps; "" means put. Of phases it is the
	// operation that is measured, an entry of phaseOps, and of proxy the application; "" means all.
	WorkerOp string
	Ops      int // passive: operations of a cell
	BusyMS   int // passive: how long the target computes at most

	Partitions int    // partitioned: of a message; 0 means the default
	Dir        string // file-...: where the file is; "" means in memory
	Uneven     string // phases: how the computations of the ranks differ; "" means that they do not

	Echo *pool.Func[int, int] // pool: what the workers do; every process of the program registers it

	// For tests, whose ranks share their memory: shorten divides the time of measurements, and
	// the last field ends the computation of passive's target when the origin is done.
	shorten time.Duration
	done    *atomic.Bool
}

// A kind describes one benchmark.
type kind struct {
	name  string
	does  string
	sizes []int
	ranks int // 1, 2: exactly so many; -2: an even number; 0: any
}

func kinds() []kind {
	sizes := []int{8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	moved := []int{1, 8, 64, 512, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	summed := []int{8, 64, 512, 4 << 10, 32 << 10, 64 << 10, 256 << 10}
	rates := []int{64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	packs := []int{1 << 10, 64 << 10, 4 << 20}
	return slices.Concat([]kind{
		{"latency", "half a round trip of one message", []int{0, 8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, 2},
		{"notify", "half a round trip of one notified put", []int{0, 8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, 2},
		{"bw", "bandwidth one way, 64 messages in flight", rates, 2},
		{"bibw", "bandwidth both ways at once, summed", rates, 2},
		{"beside", "a round trip of 8 bytes while one message of that size is sent on the same way", []int{1 << 30}, 2},
		{"msgrate", "small messages a second; rank i sends to i + n/2", []int{8}, -2},
		{"matching", "time to match one message in a queue, worst order", []int{10, 100, 1000, 10000, 50000, 100000}, 2},
		{"partitioned", "time of a message of 64 partitions of that size, which several goroutines fill", []int{4 << 10}, 2},
		{"barrier", "time of a barrier", []int{0}, 0},
		{"bcast", "time of a broadcast", sizes, 0},
		{"allreduce", "time of a sum of doubles over all ranks", sizes, 0},
		{"allgather", "time of collecting blocks of that size at all ranks", sizes, 0},
		{"alltoall", "time of exchanging blocks of that size between all ranks", sizes, 0},
		{"window", "time of allocating a window of that size at each rank, and freeing it", []int{8}, 0},
		{"dup", "time of duplicating the communicator of all ranks, and freeing the duplicate", []int{0}, 0},
		{"neighbor", "time of exchanging blocks of that size with all neighbours of two stencils", []int{8, 1 << 10, 64 << 10}, 0},
		{"reduce_local", "time of a sum of two slices of doubles, at every rank by itself", []int{8, 64, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20}, 0},
		{"pack", "time of packing doubles out of six layouts of that many bytes, at every rank by itself", packs, 0},
		{"unpack", "the other way round", packs, 0},
		{"type", "time of making, committing and freeing a subarray type of n x n doubles, and of what is asked of it", []int{10}, 0},
		{"put", "one-sided: a put and a flush; and many puts before one flush", moved, 2},
		{"get", "the same of gets", moved, 2},
		{"acc", "an accumulate (sum) and a flush", summed, 2},
		{"getacc", "a get_accumulate (sum) and a flush", summed, 2},
		{"fop", "a fetch_and_op (sum) and a flush", []int{8}, 2},
		{"cas", "a compare_and_swap and a flush", []int{8}, 2},
		{"fence", "an epoch of one put and a fence", []int{8}, 2},
		{"pscw", "an epoch of one put between start and complete, post and wait", []int{8}, 2},
		{"lock", "an epoch of one put between lock and unlock", []int{8}, 2},
		{"lockget", "an epoch of one get between lock and unlock", []int{8}, 2},
		{"rput", "a put with a request, and its wait", []int{8}, 2},
		{"mtflush", "puts of one byte, or other operations, and flushes in many goroutines at once", []int{1}, 2},
		{"passive", "operations on a target that computes and does not call Halo", []int{1}, 2},
		{"seeds", "the experiments of the paper on extensions: see -peers and -svg", []int{1}, 2},
		{"phases", "times of operations between computations of that many us: median, 99th percentile, mean, processor time, and a whole step", []int{5, 20, 60, 500}, 0},
		{"guideline", "time of a call, and of others with the same effect, for buffers that are written and read between calls", []int{8, 4 << 10, 1 << 20}, 0},
		{"waitsome", "time to complete one of that many receives, by Waitsome and by a Wait for each", []int{600, 6000, 60000}, -2},
		{"proxy", "wall time of small applications: cg, md, fft, wavefront, tasks, walk", []int{0}, 0},
		{"memory", "memory of a rank after Init, a ring, and an exchange of that many bytes between all", []int{8}, 0},
		{"init", "launch, Init, Finalize and exit of all ranks", []int{0}, 0},
		{"spawn", "time until that many spawned processes have sent a message, and have ended", []int{1, 4}, 1},
		{"connect", "time in which two processes connect at a port, and disconnect", []int{0}, 2},
		{"across", "half a round trip of one message to a spawned process", []int{0, 8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, 1},
		{"pool", "time in which a pool of that many processes starts, does a task for each, and ends", []int{4}, 1},
	}, fileKinds())
}

// Describe lists the benchmarks, one per line.
func Describe() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "  %-12s %s\n", k.name, k.does)
	}
	return b.String()
}

// ParseSizes reads a list of sizes, or of other numbers, such as 8,64,512.
func ParseSizes(list string) ([]int, error) {
	var sizes []int
	for s := range strings.SplitSeq(list, ",") {
		v, err := strconv.Atoi(s)
		if err != nil || v < 0 || v > maxSize || len(sizes) == maxSizes {
			return nil, fmt.Errorf("want up to %d numbers from 0 to %d with commas between them, not %q", maxSizes, maxSize, list)
		}
		sizes = append(sizes, v)
	}
	return sizes, nil
}

// Ranks is how many ranks the benchmark has if the user does not say.
func (p *Plan) Ranks() int {
	if i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == p.Name }); i >= 0 && kinds()[i].ranks == 1 {
		return 1
	}
	return 2
}

// Check returns an error if the plan cannot be run with so many ranks, and fills in
// the default sizes if the plan has none.
func (p *Plan) Check(ranks int) error {
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == p.Name })
	if i < 0 {
		var names []string
		for _, k := range all {
			names = append(names, k.name)
		}
		return fmt.Errorf("no benchmark %q; there are %s", p.Name, strings.Join(names, ", "))
	}
	k := all[i]
	if ranks < 1 {
		return fmt.Errorf("%s wants at least one rank, not %d", p.Name, ranks)
	}
	if k.ranks == 1 && ranks != 1 {
		return fmt.Errorf("%s takes exactly one rank, not %d", p.Name, ranks)
	}
	if k.ranks == 2 && ranks != 2 {
		return fmt.Errorf("%s takes exactly two ranks, not %d", p.Name, ranks)
	}
	if k.ranks == -2 && ranks%2 != 0 {
		return fmt.Errorf("%s takes an even number of ranks, not %d", p.Name, ranks)
	}
	if p.Sizes == nil || len(k.sizes) == 1 && k.sizes[0] < 2 || k.name == "fop" || k.name == "cas" {
		p.Sizes = k.sizes // these benchmarks have fixed sizes
	}
	if err := errors.Join(p.checkPartitioned(), p.checkPhases(), p.checkProxy()); err != nil {
		return err
	}
	if err := p.checkOneSided(); err != nil {
		return err
	}
	for _, s := range p.Sizes {
		if err := checkFile(p.Name, s); err != nil {
			return err
		}
		switch {
		case p.Name == "matching" && (s < 1 || s > maxDepth):
			return fmt.Errorf("matching takes depths from 1 to %d, not %d", maxDepth, s)
		case (p.Name == "allreduce" || p.Name == "reduce_local") && (s < 8 || s%8 != 0):
			return fmt.Errorf("%s takes sizes that are multiples of 8 from 8, not %d", p.Name, s)
		case strings.HasSuffix(p.Name, "pack") && (s < 64 || s%64 != 0 || s > maxPacked):
			return fmt.Errorf("%s takes sizes that are multiples of 64 from 64 to %d, not %d", p.Name, maxPacked, s)
		case (p.Name == "spawn" || p.Name == "pool") && (s < 1 || s > maxSpawned):
			return fmt.Errorf("%s takes numbers of processes from 1 to %d, not %d", p.Name, maxSpawned, s)
		case p.Name == "across" && s > maxEcho:
			return fmt.Errorf("across takes sizes to %d, not %d", maxEcho, s)
		case p.Name == "type" && (s < 1 || s > maxPart):
			return fmt.Errorf("type takes sizes from 1 to %d, not %d", maxPart, s)
		case (p.Name == "acc" || p.Name == "getacc") && (s < 8 || s%8 != 0):
			return fmt.Errorf("%s takes sizes that are multiples of 8 from 8, not %d", p.Name, s)
		case slices.Contains(oneSidedNames(), p.Name) && s < 1:
			return fmt.Errorf("%s takes sizes from 1, not %d", p.Name, s)
		case p.Name == "msgrate" && s < 1 || strings.HasSuffix(p.Name, "bw") && s < 1:
			return fmt.Errorf("%s takes sizes from 1, not %d", p.Name, s)
		}
	}
	return nil
}

// Run runs the plan on all ranks of world; rank 0 writes each result to out at once. The
// program that launches the ranks measures the benchmark init, not Run. In processes that a benchmark
// has spawned Run serves their parents.
func Run(world *mpi.Comm, p *Plan, out io.Writer) error {
	if parent := world.Parent(); parent != nil {
		return serve(parent)
	}
	if err := p.Check(world.Size()); err != nil {
		return err
	}
	if p.Name == "seeds" {
		return runSeeds(world, p, out)
	}
	report := &Report{Out: out, JSON: p.JSON, Silent: world.Rank() != 0}
	if slices.Contains(oneSidedNames(), p.Name) {
		return oneSided(world, p, report)
	}
	for _, size := range p.Sizes {
		var err error
		switch p.Name {
		case "matching":
			err = matching(world, p, size, report)
		case "beside":
			err = beside(world, p, size, report)
		case "notify":
			err = notifying(world, p, size, report)
		case "pack", "unpack":
			err = packing(world, p, size, report)
		case "neighbor":
			err = neighboring(world, p, size, report)
		case "partitioned":
			err = partitioning(world, p, size, report)
		case "phases":
			err = phases(world, p, size, report)
		case "guideline":
			err = guidelines(world, p, size, report)
		case "waitsome":
			err = completions(world, p, size, report)
		case "proxy":
			err = proxies(world, p, size, report)
		case "memory":
			err = memory(world, p, size, report)
		case "type":
			err = typing(world, p, size, report)
		default:
			measured := timing
			if isDynamic(p.Name) {
				measured = dynamic
			}
			if isFile(p.Name) {
				measured = filing
			}
			err = measured(world, p, size, report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// written returns memory that has been written before the measurement, as in the C program: all
// pages that were never written map the kernel's page of zeros, which stays in the first-level cache.
func written[T any](n int) []T {
	mem := make([]T, n)
	clear(mem)
	return mem
}

// timing measures one size of a benchmark that is a single loop.
func timing(world *mpi.Comm, p *Plan, size int, report *Report) error {
	l := &loops{
		world: world, rank: world.Rank(), ranks: world.Size(),
		send: written[byte](size), recv: written[byte](size),
		requests: make([]mpi.Request, 2*window),
	}
	var body func(n int) error
	switch p.Name {
	case "latency":
		body = l.latency
	case "bw", "msgrate":
		body = l.stream
	case "bibw":
		body = l.bothWays
	case "barrier":
		body = l.barrier
	case "allreduce":
		l.terms, l.sums = written[float64](size/8), written[float64](size/8)
		body = l.allreduce
	case "reduce_local":
		l.terms, l.sums = written[float64](size/8), written[float64](size/8)
		body = l.reduceLocal
	case "bcast":
		body = l.bcast
	case "allgather":
		l.recv = written[byte](l.ranks * size)
		body = l.allgather
	case "alltoall":
		l.send, l.recv = written[byte](l.ranks*size), written[byte](l.ranks*size)
		body = l.alltoall
	case "window":
		body = l.windows
	case "dup":
		body = l.duplicates
	default:
		return fmt.Errorf("%s cannot be run from inside a rank", p.Name)
	}
	us, err := p.measure(world, body)
	if err != nil {
		return err
	}
	r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: l.ranks, Size: size}
	way := window * float64(size) / us // bytes per us are MB/s
	switch p.Name {
	case "latency":
		r.US = us / 2
	case "bw":
		r.MBps = way
	case "bibw":
		r.MBps = 2 * way
	case "msgrate":
		r.Rate = float64(l.ranks/2) * window / us * 1e6
	default:
		r.US = us
	}
	return report.Add(r)
}
