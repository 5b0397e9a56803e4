package benchmark

import (
	"fmt"
	"io"
)

// A Result is one line of output. Of the last three fields the one that the
// benchmark measures is set.
type Result struct {
	Bench  string
	Fabric string
	Ranks  int
	Size   int    // bytes; the depth for matching; meaningless for barrier and init
	Queue  string // matching: unexpected or posted
	Layout string // pack and unpack
	US     float64
	MBps   float64 // 10^6 bytes a second
	Rate   float64 // messages a second
}

// JSON is the result as one object without a newline; the same as bench/halobench.c prints.
func (r Result) JSON() string {
	s := fmt.Sprintf(`{"bench":%q,"fabric":%q,"ranks":%d`, r.Bench, r.Fabric, r.Ranks)
	switch r.Bench {
	case "matching":
		s += fmt.Sprintf(`,"depth":%d,"queue":%q`, r.Size, r.Queue)
	case "pack", "unpack":
		s += fmt.Sprintf(`,"size":%d,"layout":%q`, r.Size, r.Layout)
	case "barrier", "init":
	default:
		s += fmt.Sprintf(`,"size":%d`, r.Size)
	}
	switch r.Bench {
	case "bw", "bibw":
		return s + fmt.Sprintf(`,"mbps":%.1f}`, r.MBps)
	case "msgrate":
		return s + fmt.Sprintf(`,"mrate":%.0f}`, r.Rate)
	}
	return s + fmt.Sprintf(`,"us":%.4f}`, r.US)
}

// A Report writes results as they come: as JSON, or as a table with a head.
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
		if _, err = fmt.Fprintf(p.Out, "%s over %s, %d ranks\n%s\n", r.Bench, r.Fabric, r.Ranks, head(r.Bench)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(p.Out, r.row())
	return err
}

func head(bench string) string {
	switch bench {
	case "bw", "bibw":
		return fmt.Sprintf("%12s %12s", "bytes", "MB/s")
	case "msgrate":
		return fmt.Sprintf("%12s %12s", "bytes", "messages/s")
	case "matching":
		return fmt.Sprintf("%12s %12s %12s", "queue", "depth", "us")
	case "pack", "unpack":
		return fmt.Sprintf("%-14s %12s %12s", "layout", "bytes", "us")
	case "barrier":
		return fmt.Sprintf("%12s", "us")
	case "init":
		return fmt.Sprintf("%12s", "ms")
	}
	return fmt.Sprintf("%12s %12s", "bytes", "us")
}

func (r Result) row() string {
	switch r.Bench {
	case "bw", "bibw":
		return fmt.Sprintf("%12d %12.1f", r.Size, r.MBps)
	case "msgrate":
		return fmt.Sprintf("%12d %12.0f", r.Size, r.Rate)
	case "matching":
		return fmt.Sprintf("%12s %12d %12.3f", r.Queue, r.Size, r.US)
	case "pack", "unpack":
		return fmt.Sprintf("%-14s %12d %12.3f", r.Layout, r.Size, r.US)
	case "barrier":
		return fmt.Sprintf("%12.3f", r.US)
	case "init":
		return fmt.Sprintf("%12.1f", r.US/1e3)
	}
	return fmt.Sprintf("%12d %12.3f", r.Size, r.US)
}
