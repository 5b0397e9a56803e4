package benchmark

import (
	"fmt"
	"io"
)

// A Result is one line of output. A benchmark sets those of US, MBps, Rate and KiB that it measures.
//
// Layout is the layout in pack and unpack, the call in type, the stencil and the way in neighbor, the way and
// the memory in partitioned, the step and the kind in memory, Plan.Uneven in phases, the calls in guideline, the way in
// waitsome, and the access in file-....
type Result struct {
	Bench  string
	Fabric string
	Ranks  int
	Size   int    // bytes; the depth for matching; processes for spawn and pool; us for phases; requests for waitsome; meaningless for barrier, dup, init, connect and proxy
	Queue  string // matching: unexpected or posted
	Layout string // pack, unpack, type, neighbor, partitioned, memory, guideline, waitsome and file-...: see above
	US     float64
	MBps   float64 // 10^6 bytes a second
	Rate   float64 // messages or operations a second
	KiB    float64 // memory: of a rank

	Win     string // one-sided communication: the kind of window
	Type    string // acc, getacc, fop and cas: of the elements
	Lock    string // lock: exclusive or shared
	Workers int    // mtflush, partitioned
	Scope   string // mtflush: Plan.Scope
	Order   bool   // mtflush

	Op string // passive, phases: the operation; proxy: the application; mtflush: Plan.WorkerOp

	// Of phases, in us; US is the median.
	P99, Mean float64
	Processor float64 // of a rank in a step, beyond the computation
	Whole     float64 // us of a whole step, computation included

	// Of passive; US is the latency with the busy target.
	Busy        int // goroutines that compute at the target
	Ops, Early  int // operations done; operations that were complete while the target was busy
	AttentiveUS float64
}

// JSON returns the result as one object without a newline, in the format of bench/halobench.c.
func (r Result) JSON() string {
	s := fmt.Sprintf(`{"bench":%q,"fabric":%q,"ranks":%d`, r.Bench, r.Fabric, r.Ranks)
	switch form(r.Bench) {
	case "matching":
		s += fmt.Sprintf(`,"depth":%d,"queue":%q`, r.Size, r.Queue)
	case "pack", "unpack", "type", "neighbor", "file", "memory", "guideline", "waitsome":
		s += fmt.Sprintf(`,"size":%d,"layout":%q`, r.Size, r.Layout)
	case "partitioned":
		s += fmt.Sprintf(`,"size":%d,"layout":%q,"workers":%d`, r.Size, r.Layout, r.Workers)
	case "barrier", "dup", "init", "connect":
	case "passive":
		return s + fmt.Sprintf(`,"win":%q,"op":%q,"busy":%d,"ops":%d,"early":%d,"busy_us":%.4f,"attentive_us":%.4f}`,
			r.Win, r.Op, r.Busy, r.Ops, r.Early, r.US, r.AttentiveUS)
	case "proxy":
		s += fmt.Sprintf(`,"op":%q`, r.Op)
	case "phases":
		return s + fmt.Sprintf(`,"op":%q,"layout":%q,"size":%d,"us":%.4f,"p99_us":%.4f,"mean_us":%.4f,"processor_us":%.4f,"step_us":%.4f}`,
			r.Op, r.Layout, r.Size, r.US, r.P99, r.Mean, r.Processor, r.Whole)
	case "mtflush":
		s += fmt.Sprintf(`,"win":%q`, r.Win)
		if r.Scope != "" {
			s += fmt.Sprintf(`,"scope":%q`, r.Scope)
		}
		if r.Order {
			s += `,"order":true`
		}
		if r.Op != "" {
			s += fmt.Sprintf(`,"op":%q`, r.Op)
		}
		return s + fmt.Sprintf(`,"workers":%d,"us":%.4f,"mrate":%.0f}`, r.Workers, r.US, r.Rate)
	default:
		for _, l := range [][2]string{{"win", r.Win}, {"type", r.Type}, {"lock", r.Lock}} {
			if l[1] != "" {
				s += fmt.Sprintf(`,%q:%q`, l[0], l[1])
			}
		}
		s += fmt.Sprintf(`,"size":%d`, r.Size)
	}
	switch r.Bench {
	case "put", "get":
		return s + fmt.Sprintf(`,"us":%.4f,"mbps":%.1f,"mrate":%.0f}`, r.US, r.MBps, r.Rate)
	case "bw", "bibw":
		return s + fmt.Sprintf(`,"mbps":%.1f}`, r.MBps)
	case "memory":
		return s + fmt.Sprintf(`,"kib":%.1f}`, r.KiB)
	case "msgrate":
		return s + fmt.Sprintf(`,"mrate":%.0f}`, r.Rate)
	}
	return s + fmt.Sprintf(`,"us":%.4f}`, r.US)
}

// A Report writes each result at once: as JSON, or as a row of a table with a head.
type Report struct {
	Out    io.Writer
	JSON   bool
	Silent bool // drops everything: for all ranks but 0
	begun  bool
}

// Add writes one result.
func (p *Report) Add(r Result) error {
	if p.Silent {
		return nil
	}
	var err error
	if p.JSON {
		_, err = fmt.Fprintln(p.Out, r.JSON())
		return err
	}
	if !p.begun {
		p.begun = true
		_, err = fmt.Fprintf(p.Out, "%s over %s, %d ranks\n%s\n", r.Bench, r.Fabric, r.Ranks, head(r.Bench))
		if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(p.Out, r.row())
	return err
}

// form returns the name by which the output of a benchmark is chosen: "file" for all benchmarks of files,
// else its own name.
func form(bench string) string {
	if isFile(bench) {
		return "file"
	}
	return bench
}

func head(bench string) string {
	switch form(bench) {
	case "bw", "bibw":
		return fmt.Sprintf("%12s %12s", "bytes", "MB/s")
	case "msgrate":
		return fmt.Sprintf("%12s %12s", "bytes", "messages/s")
	case "matching":
		return fmt.Sprintf("%12s %12s %12s", "queue", "depth", "us")
	case "partitioned":
		return fmt.Sprintf("%-18s %8s %12s %12s", "way", "workers", "bytes", "us")
	case "pack", "unpack", "type", "neighbor", "file", "guideline":
		return fmt.Sprintf("%-24s %12s %12s", "layout", "bytes", "us")
	case "waitsome":
		return fmt.Sprintf("%-24s %12s %12s", "way", "requests", "us")
	case "proxy":
		return fmt.Sprintf("%-12s %12s", "application", "ms")
	case "memory":
		return fmt.Sprintf("%-24s %12s", "after", "KiB")
	case "put", "get":
		return fmt.Sprintf("%-14s %12s %12s %12s %12s", "window", "bytes", "us", "MB/s", bench+"s/s")
	case "acc", "getacc", "fop", "cas":
		return fmt.Sprintf("%-14s %-8s %12s %12s", "window", "type", "bytes", "us")
	case "fence", "pscw", "rput":
		return fmt.Sprintf("%-14s %12s %12s", "window", "bytes", "us")
	case "lock", "lockget":
		return fmt.Sprintf("%-14s %-10s %12s %12s", "window", "lock", "bytes", "us")
	case "mtflush":
		return fmt.Sprintf("%-14s %8s %12s %12s", "window", "workers", "us", "puts/s")
	case "passive":
		return fmt.Sprintf("%-14s %-4s %5s %8s %8s %12s %12s", "window", "op", "busy", "ops", "early", "busy us", "attentive us")
	case "phases":
		return fmt.Sprintf("%-12s %12s %12s %12s %12s %12s %12s", "operation", "computed us", "median us", "p99 us", "mean us", "processor us", "step us")
	case "barrier", "dup", "connect":
		return fmt.Sprintf("%12s", "us")
	case "spawn", "pool":
		return fmt.Sprintf("%12s %12s", "processes", "us")
	case "init":
		return fmt.Sprintf("%12s", "ms")
	}
	return fmt.Sprintf("%12s %12s", "bytes", "us")
}

func (r Result) row() string {
	switch form(r.Bench) {
	case "bw", "bibw":
		return fmt.Sprintf("%12d %12.1f", r.Size, r.MBps)
	case "msgrate":
		return fmt.Sprintf("%12d %12.0f", r.Size, r.Rate)
	case "matching":
		return fmt.Sprintf("%12s %12d %12.3f", r.Queue, r.Size, r.US)
	case "partitioned":
		return fmt.Sprintf("%-18s %8d %12d %12.3f", r.Layout, r.Workers, r.Size, r.US)
	case "pack", "unpack", "type", "neighbor", "file", "guideline":
		return fmt.Sprintf("%-24s %12d %12.3f", r.Layout, r.Size, r.US)
	case "waitsome":
		return fmt.Sprintf("%-24s %12d %12.4f", r.Layout, r.Size, r.US)
	case "proxy":
		return fmt.Sprintf("%-12s %12.3f", r.Op, r.US/1e3)
	case "memory":
		return fmt.Sprintf("%-24s %12.1f", r.Layout, r.KiB)
	case "put", "get":
		return fmt.Sprintf("%-14s %12d %12.3f %12.1f %12.0f", r.Win, r.Size, r.US, r.MBps, r.Rate)
	case "acc", "getacc", "fop", "cas":
		return fmt.Sprintf("%-14s %-8s %12d %12.3f", r.Win, r.Type, r.Size, r.US)
	case "fence", "pscw", "rput":
		return fmt.Sprintf("%-14s %12d %12.3f", r.Win, r.Size, r.US)
	case "lock", "lockget":
		return fmt.Sprintf("%-14s %-10s %12d %12.3f", r.Win, r.Lock, r.Size, r.US)
	case "mtflush":
		return fmt.Sprintf("%-14s %8d %12.3f %12.0f", r.Win, r.Workers, r.US, r.Rate)
	case "passive":
		return fmt.Sprintf("%-14s %-4s %5d %8d %8d %12.3f %12.3f", r.Win, r.Op, r.Busy, r.Ops, r.Early, r.US, r.AttentiveUS)
	case "phases":
		return fmt.Sprintf("%-12s %12d %12.3f %12.3f %12.3f %12.3f %12.3f", r.Op, r.Size, r.US, r.P99, r.Mean, r.Processor, r.Whole)
	case "barrier", "dup", "connect":
		return fmt.Sprintf("%12.3f", r.US)
	case "init":
		return fmt.Sprintf("%12.1f", r.US/1e3)
	}
	return fmt.Sprintf("%12d %12.3f", r.Size, r.US)
}
