package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A row is one figure that is compared.
type row struct {
	name    string
	bench   string
	fabric  string
	ranks   int
	args    string // further arguments of the run
	size    int    // bytes, or the depth for matching; -1 when there is none
	variant string // what else tells its line from others of the run
	unit    string // of the figure: ns, us, ms, MB/s, M/s or KiB
	more    bool   // more is better
	limit   string // the physical limit beside it, or ""
	bars    []bar
	library float64 // bar of the C library: at most so many times the best peer's figure (for rates: at least); 0: none

	of        string // which figure of the line: "attentive" of passive, "p99", "processor" or "step" of phases; or ""
	strangers int    // processes that compute meanwhile
}

// A bar is a requirement for Halo's figure: at most factor times the reference
// (for rates: at least).
type bar struct {
	factor float64
	of     string  // "best" peer, "limit", "us", or the name of another row of Halo's
	more   float64 // or so much more than the reference, in its unit
}

func (r *row) barText(b bar) string {
	sign := "<="
	if r.more {
		sign = ">="
	}
	if b.of == "us" {
		return fmt.Sprintf("%s %g us", sign, b.factor)
	}
	return fmt.Sprintf("%s %g x %s", sign, b.factor, b.of)
}

// allRows are the figures in the order of the report. Rows of the same benchmark, fabric,
// ranks and arguments that follow each other share one run.
func allRows() []row {
	return slices.Concat(baseRows(), growthRows(), neighborRows(), phaseRows(), guidelineRows(), proxyRows(), partitionedRows(), dynamicRows(), memoryRows(), oneSidedRows(), fortranRows(), fileRows())
}

// memoryRows are the memory of a rank among 64.
func memoryRows() (rows []row) {
	for _, step := range []string{"init", "ring", "alltoall"} {
		for _, kind := range []string{"private", "in all"} {
			what := step + " " + kind
			rows = append(rows, row{name: "memory 64 ranks " + what, bench: "memory", fabric: "shm", ranks: 64, size: 8, variant: what, unit: "KiB",
				bars: []bar{{factor: 0.5, of: "best"}}})
		}
	}
	return rows
}

// dynamicRows are processes that are started or connected while a program runs, and messages to them.
func dynamicRows() []row {
	rows := []row{
		{name: "spawn 1 process", bench: "spawn", fabric: "shm", ranks: 1, size: 1, unit: "ms", bars: []bar{{factor: 0.5, of: "best"}}},
		{name: "spawn 4 processes", bench: "spawn", fabric: "shm", ranks: 1, size: 4, unit: "ms", bars: []bar{{factor: 0.5, of: "best"}}},
		{name: "connect", bench: "connect", fabric: "shm", ranks: 2, size: -1, unit: "us", bars: []bar{{factor: 0.5, of: "best"}}},
	}
	for _, size := range []int{8, 4 << 10} {
		r := row{name: "across jobs " + bytesText(size), bench: "across", fabric: "shm", ranks: 1, size: size, unit: "us"}
		if size == 8 {
			r.bars = []bar{{factor: 1.1, of: "latency shm 8 B"}}
		}
		rows = append(rows, r)
	}
	return rows
}

// partitionedRows are messages of 64 partitions of 4 KiB that several goroutines, or threads, fill:
// as partitioned messages, and as one Isend for each partition.
func partitionedRows() []row {
	var rows []row
	for _, kind := range []string{"heap", "alloc"} {
		for _, workers := range []int{1, 8} {
			r := row{bench: "partitioned", fabric: "shm", ranks: 2, args: "-workers 1,8", size: 4 << 10, unit: "us"}
			isend := fmt.Sprintf("isend %s %d", kind, workers)
			r.name, r.variant = isend, isend
			rows = append(rows, r)
			whole := fmt.Sprintf("partitioned %s %d", kind, workers)
			r.name, r.variant = whole, whole
			if workers == 8 {
				of := map[string]float64{"heap": 1 / 1.3, "alloc": 0.5}[kind] // the kernel copies to memory that is not mapped
				r.bars = []bar{{factor: 0.5, of: "best"}, {factor: of, of: isend}}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// baseRows are the figures of messages, collectives, packing and the start of a job.
func baseRows() []row {
	best := func(f float64) []bar { return []bar{{factor: f, of: "best"}} }
	rows := []row{
		{name: "latency shm 8 B", bench: "latency", fabric: "shm", ranks: 2, size: 8, unit: "us", limit: "cache line",
			bars: []bar{{factor: 0.8, of: "best"}, {factor: 1.5, of: "limit"}}, library: 0.9},
		{name: "latency shm 64 KiB", bench: "latency", fabric: "shm", ranks: 2, size: 64 << 10, unit: "us", limit: "copy 64 KiB", bars: best(1)},
		{name: "bw shm 1 MiB", bench: "bw", fabric: "shm", ranks: 2, size: 1 << 20, unit: "MB/s", more: true, limit: "copy 1 MiB", bars: best(1)},
		{name: "msgrate shm 8 B", bench: "msgrate", fabric: "shm", ranks: 2, size: 8, unit: "M/s", more: true, bars: best(0.9), library: 1},
		{name: "latency tcp 8 B", bench: "latency", fabric: "tcp", ranks: 2, size: 8, unit: "us", limit: "sockets 8 B", bars: best(1)},
		{name: "bw tcp 1 MiB", bench: "bw", fabric: "tcp", ranks: 2, size: 1 << 20, unit: "MB/s", more: true, limit: "sockets 1 MiB", bars: best(1)},
		{name: "8 B beside 1 GiB tcp", bench: "beside", fabric: "tcp", ranks: 2, size: 1 << 30, unit: "us", bars: []bar{{factor: 100, of: "us"}}},
	}
	for _, queue := range []string{"unexpected", "posted"} {
		for _, depth := range []int{10, 1000, 10000, 50000} {
			m := row{name: fmt.Sprintf("matching %s %d", queue, depth), bench: "matching", fabric: "shm", ranks: 2,
				size: depth, variant: queue, unit: "us"}
			if queue == "unexpected" {
				m.limit = "map lookup"
			}
			if depth == 10 {
				m.bars, m.library = best(1.6), 1.6
			}
			if queue == "unexpected" && depth == 50000 {
				m.bars = []bar{{factor: 2, of: "matching unexpected 10"}}
			}
			rows = append(rows, m)
		}
	}
	for _, ranks := range []int{2, 4, 8} {
		limit := "barrier " + strconv.Itoa(ranks)
		rows = append(rows,
			row{name: fmt.Sprintf("barrier %d ranks", ranks), bench: "barrier", fabric: "shm", ranks: ranks, size: -1, unit: "us", limit: limit, bars: best(0.8)},
			row{name: fmt.Sprintf("allreduce 8 B %d ranks", ranks), bench: "allreduce", fabric: "shm", ranks: ranks, size: 8, unit: "us", limit: limit, bars: best(0.8)})
	}
	for _, bench := range []string{"bcast", "allreduce", "allgather", "alltoall"} {
		for _, ranks := range []int{2, 4, 8} {
			for _, size := range []int{8, 4 << 10, 64 << 10, 1 << 20, 4 << 20} {
				if bench == "allreduce" && size == 8 {
					continue // above, with a bar of its own
				}
				r := row{name: fmt.Sprintf("%s %s %d ranks", bench, bytesText(size), ranks), bench: bench,
					fabric: "shm", ranks: ranks, size: size, unit: "us", bars: best(1.25)}
				if size >= 64<<10 {
					r.bars = best(1)
				}
				rows = append(rows, r)
			}
		}
	}
	// In cache as fast as the best peer, and beyond it nearly as fast as memory.
	for _, size := range []int{64, 1 << 10, 16 << 10, 256 << 10, 64 << 20} {
		r := row{name: "reduce_local " + bytesText(size), bench: "reduce_local", fabric: "shm", ranks: 1, size: size, unit: "us"}
		switch size {
		case 64, 1 << 10, 16 << 10, 256 << 10:
			r.bars = best(1)
		case 64 << 20:
			r.limit, r.bars = "memory 64 MiB", []bar{{factor: 1.25, of: "limit"}} // 0.8 of the bandwidth
		}
		rows = append(rows, r)
	}
	// Short, in cache, and beyond. Packing contiguous data is the C library's copy there;
	// two copies differ by some percent from run to run.
	for _, bench := range []string{"pack", "unpack"} {
		for _, layout := range []string{"contiguous", "vector 1/2", "vector 8/16", "face of rows", "face of words", "structs"} {
			for _, size := range []int{1 << 10, 64 << 10, 4 << 20} {
				r := row{name: fmt.Sprintf("%s %s %s", bench, layout, bytesText(size)), bench: bench, fabric: "shm", ranks: 1,
					size: size, variant: layout, unit: "us", bars: best(1)}
				if layout == "contiguous" && size > 1<<10 {
					r.limit, r.bars = "copy "+bytesText(size), best(1.05)
				}
				rows = append(rows, r)
			}
		}
	}
	// What an array library does for each transfer.
	for _, what := range []string{"made", "size", "extent", "true extent"} {
		rows = append(rows, row{name: "type " + what, bench: "type", fabric: "shm", ranks: 1, size: 10, variant: what, unit: "us"})
	}
	return append(rows, row{name: "init 4 ranks", bench: "init", fabric: "shm", ranks: 4, size: -1, unit: "ms", limit: "exec 4", bars: best(0.5)})
}

// neighborRows are the figures of exchanges with the neighbours of a stencil.
func neighborRows() (rows []row) {
	for _, ranks := range []int{4, 8} {
		for _, points := range []string{"5-point", "27-point"} {
			for _, size := range []int{8, 1 << 10, 64 << 10} {
				name := func(how string) string {
					return fmt.Sprintf("neighbor %s%s %s %d ranks", points, how, bytesText(size), ranks)
				}
				for _, how := range []string{"", " persistent", " messages"} {
					r := row{name: name(how), bench: "neighbor", fabric: "shm", ranks: ranks, size: size, variant: points + how, unit: "us"}
					if how == "" {
						r.bars = []bar{{factor: 0.8, of: "best"}, {factor: 0.8, of: name(" messages")}}
					}
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

// bytesText is a number of bytes with its unit.
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

func rowNames(rows []row) []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

func selectRows(rows []row, only string) []row {
	var some []row
	for _, r := range rows {
		if strings.Contains(r.name, only) || only == onlyGrowth && inPanel(r.name) {
			some = append(some, r)
		}
	}
	return some
}

// A job is one run of the benchmark program.
type job struct {
	bench, fabric string
	ranks         int
	args          string
	strangers     int // see row
	sizes         []int
}

func (j job) String() string {
	s := fmt.Sprintf("%s %s, %d ranks", j.bench, j.fabric, j.ranks)
	if j.args != "" {
		s += ", " + j.args
	}
	if j.strangers > 0 {
		s += fmt.Sprintf(", %d strangers", j.strangers)
	}
	if len(j.sizes) > 0 {
		s += ", sizes " + j.sizeList()
	}
	return s
}

// from reports whether a row has its figure from a job.
func (r *row) from(j job) bool {
	return r.bench == j.bench && r.fabric == j.fabric && r.ranks == j.ranks && r.args == j.args && r.strangers == j.strangers
}

// oneSided says whether it is one of one-sided communication.
func (j job) oneSided() bool {
	return slices.Contains([]string{"put", "get", "acc", "getacc", "fop", "cas", "fence", "pscw", "lock", "lockget", "rput", "mtflush", "passive", "window"}, j.bench)
}

// spreads says whether a rank uses several cores at once, and is bound to none.
func (j job) spreads() bool {
	return j.bench == "mtflush" || j.bench == "partitioned" || j.bench == "passive" || j.bench == "file-overlap" || j.dynamic()
}

// dynamic reports whether the job starts or connects processes.
func (j job) dynamic() bool { return j.bench == "spawn" || j.bench == "connect" || j.bench == "across" }

func (j job) sizeList() string {
	var s []string
	for _, v := range j.sizes {
		s = append(s, strconv.Itoa(v))
	}
	return strings.Join(s, ",")
}

// jobsOf groups rows into runs. A run of matching gives both queues, one of pack all
// layouts.
func jobsOf(rows []row) []job {
	var jobs []job
	for _, r := range rows {
		n := len(jobs) - 1
		if n < 0 || !r.from(jobs[n]) {
			jobs = append(jobs, job{bench: r.bench, fabric: r.fabric, ranks: r.ranks, args: r.args, strangers: r.strangers})
			n++
		}
		seen := r.size < 0
		for _, v := range jobs[n].sizes {
			seen = seen || v == r.size
		}
		if !seen {
			jobs[n].sizes = append(jobs[n].sizes, r.size)
		}
	}
	return jobs
}

// A line is one object of the benchmark programs' JSON output.
type line struct {
	Bench  string  `json:"bench"`
	Fabric string  `json:"fabric"`
	Ranks  int     `json:"ranks"`
	Size   *int    `json:"size,omitempty"`
	Depth  *int    `json:"depth,omitempty"`
	Queue  string  `json:"queue,omitempty"`
	Layout string  `json:"layout,omitempty"`
	US     float64 `json:"us,omitempty"`
	MBps   float64 `json:"mbps,omitempty"`
	MRate  float64 `json:"mrate,omitempty"`
	KiB    float64 `json:"kib,omitempty"`

	Win         string  `json:"win,omitempty"`
	Type        string  `json:"type,omitempty"`
	Lock        string  `json:"lock,omitempty"`
	Workers     int     `json:"workers,omitempty"`
	Op          string  `json:"op,omitempty"`
	Busy        int     `json:"busy,omitempty"`
	Ops         int     `json:"ops,omitempty"`
	Early       int     `json:"early,omitempty"`
	BusyUS      float64 `json:"busy_us,omitempty"`
	AttentiveUS float64 `json:"attentive_us,omitempty"`

	P99       float64 `json:"p99_us,omitempty"`
	Mean      float64 `json:"mean_us,omitempty"`
	Processor float64 `json:"processor_us,omitempty"`
	Whole     float64 `json:"step_us,omitempty"`
}

// variant is what tells the line from others of the same benchmark and size.
func (l *line) variant() string {
	words := []string{l.Queue, l.Layout, l.Win, l.Type, l.Lock, l.Op}
	if l.Workers > 0 {
		words = append(words, strconv.Itoa(l.Workers))
	}
	switch {
	case l.Busy == 1:
		words = append(words, "busy")
	case l.Busy > 1:
		words = append(words, "all busy")
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return strings.Join(words, " ")
}

// figure is the line's value in the row's unit; false when it is not the row's.
func (r *row) figure(l line) (float64, bool) {
	size := -1
	if l.Size != nil {
		size = *l.Size
	} else if l.Depth != nil {
		size = *l.Depth
	}
	if l.Bench != r.bench || l.Fabric != r.fabric || l.Ranks != r.ranks || size != r.size || l.variant() != r.variant {
		return 0, false
	}
	var v float64
	switch r.unit {
	case "us":
		v = l.US
		switch {
		case r.of == "attentive":
			v = l.AttentiveUS
		case r.of == "p99":
			v = l.P99
		case r.of == "processor":
			v = l.Processor
		case r.of == "step":
			v = l.Whole
		case l.Bench == "passive" && l.Early < l.Ops:
			v = math.Inf(1) // not complete until the target called MPI again
		case l.Bench == "passive":
			v = l.BusyUS
		}
	case "ns":
		v = l.US * 1e3
	case "ms":
		v = l.US / 1e3
	case "MB/s":
		v = l.MBps
	case "M/s":
		v = l.MRate / 1e6
	case "KiB":
		v = l.KiB
	}
	return v, v > 0
}
