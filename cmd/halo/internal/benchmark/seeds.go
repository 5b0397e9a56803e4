package benchmark

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// A Point is one measurement of `halo bench seeds`: of one experiment, over one fabric.
type Point struct {
	Exp    string  `json:"exp"` // the id of an Experiment
	Fabric string  `json:"fabric"`
	Series string  `json:"series"`
	X      float64 `json:"x"`  // bytes, goroutines, or an index of Experiment.Groups
	US     float64 `json:"us"` // per operation
}

// An Experiment repeats one of the paper "Quo Vadis MPI RMA?", with whose figures it is compared.
// The data of the paper's plots are lost; Claim is from its text.
type Experiment struct {
	ID        string
	Figure    string // name of the figure in the paper, and of the one in the report
	Title     string
	Claim     string // of the paper
	Criterion string // what Halo must reach
	XLabel    string
	Groups    []string // X is an index of these; nil: X is a number, and its axis logarithmic
	Limit     float64  // in us, drawn as a line; 0: none
}

const (
	busyTime    = 300 // ms that the target of EXP-2 computes
	busyOps     = 10000
	busyEach    = busyTime * 1000 / busyOps // us for each operation; a longer time means no progress
	seedWorkers = 32                        // goroutines of EXP-3b and EXP-6
)

// Experiments returns the experiments that `halo bench seeds` repeats, in order.
func Experiments() []Experiment {
	const bytes, workers = "bytes", "goroutines (threads in C)"
	return []Experiment{
		{"EXP-1", "figure 4", "Put and flush by kind of window",
			"Latencies of allocated windows are similar; for short messages dynamic windows take from 1.5 times (MPICH, MVAPICH) to 3 times (Open MPI) as long.",
			"Our dynamic windows lose no larger factor against our allocated ones than the peers' do.", bytes, nil, 0},
		{"EXP-2", "figure 5", "A target that computes and does not call MPI",
			"Average latency of put and flush beyond t/n = 30 us says that nothing is done before the target comes back: so with dynamic windows of MPICH and MVAPICH; those of Open MPI progress, and are slower.",
			fmt.Sprintf("Less than t/n = %d us for all windows over both fabrics. (Here t is %d ms and n is %d.)", busyEach, busyTime, busyOps),
			"window", []string{"allocated", "dynamic", "memory handle"}, busyEach},
		{"EXP-3a", "figure 8a", "Put and flush by one worker, by scope",
			"Mostly similar; process scope somewhat slower.", "Process scope takes at most 1.5 times as long as thread scope.", bytes, nil, 0},
		{"EXP-3b", "figure 8b", fmt.Sprintf("Put and flush by %d workers at once, by scope", seedWorkers),
			"For short messages thread scope takes about a tenth of the time of MPICH and MVAPICH, and about a hundredth of Open MPI's process scope; for long ones half.",
			"Thread scope is never slower than process scope.", bytes, nil, 0},
		{"EXP-4", "figure 9", "Put of one byte and flush by number of workers",
			"With thread scope latency stays low as threads are added.", fmt.Sprintf("The time of thread scope grows no more with workers than that of process scope; over tcp %d workers do together at least 4 times as much as one.", seedWorkers), workers, nil, 0},
		{"EXP-5", "figure 10", "Puts with a flush each, with order, and without",
			"Order adds some latency to unflushed puts, and costs significantly less than a flush for each.", fmt.Sprintf("unflushed <= ordered << flushed, that is at least %d times cheaper than a flush for each.", muchLess), bytes, nil, 0},
		{"EXP-6", "figure 11", fmt.Sprintf("Put and flush by %d workers, with order and without", seedWorkers),
			"With process scope order reduces latency: all goes by one endpoint.", "Order costs nothing in process scope.", bytes, nil, 0},
		{"EXP-7", "figure 12", "Windows of memory handles",
			"The difference between handles and allocated windows is negligible; making and freeing the window each time adds about 1 us, and is still significantly below dynamic windows.",
			"A handle costs at most 5 % or 3 ns more than an allocated window over shm; made and freed each time at most 1 us more. A duplicate costs at most 5 % or 3 ns more than its window.", bytes, nil, 0},
		{"EXP-8", "no figure", "Accumulates that are asserted to be intrinsic",
			"Single-element accumulates become faster.", "fetch_and_op, and accumulates of any length, take no longer with the assertion than without.", bytes, nil, 0},
		{"EXP-9", "listings 1 and 2", "Signalling a put: by a flush, and by order",
			"Order saves at least a round trip.", "Listing 2 takes less time than listing 1.", bytes, nil, 0},
	}
}

// ReadPoints reads the points that the ranks have written.
func ReadPoints(in io.Reader) ([]Point, error) {
	var all []Point
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		var p Point
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("output %q: %w", sc.Text(), err)
		}
		all = append(all, p)
	}
	return all, sc.Err()
}

// Write writes p as one line of JSON.
func (p Point) Write(out io.Writer) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", b)
	return err
}

// Merge replaces the points of one measurement by their median, in the order of their first
// occurrence.
func Merge(points []Point) []Point {
	us := map[Point][]float64{}
	var keys []Point
	for _, p := range points {
		key := p
		key.US = 0
		if us[key] == nil {
			keys = append(keys, key)
		}
		us[key] = append(us[key], p.US)
	}
	for i := range keys {
		keys[i].US = median(us[keys[i]])
	}
	return keys
}
