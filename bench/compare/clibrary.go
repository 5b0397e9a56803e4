package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// clibrary is the column of Halo's C library: the peers' program, built with it.
const clibrary = "halo-c"

// perCall is how much a call from C may take beyond one from Go, in us.
const perCall = 0.13

// isPeer reports whether a column is that of another MPI.
func isPeer(column string) bool { return column != "halo" && column != clibrary && column != fortran }

// buildLibrary builds Halo's launcher and C library in bin, and the program with them.
func buildLibrary(root, bin, program string) error {
	library := filepath.Join(bin, "libmpi_abi.so.1")
	for _, args := range [][]string{
		{"go", "build", "-o", filepath.Join(bin, "halo"), "./cmd/halo"},
		{"go", "build", "-buildmode=c-shared", "-o", library, "./abi/lib"},
		{"gcc", "-O2", "-std=gnu11", "-pthread", "-I", "abi/include", "-o", program, "bench/halobench.c", library, "-Wl,-rpath," + bin},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// launchLibrary is the command that starts the program. It binds ranks as halo bench does, so that
// the placement of threads is the same.
func launchLibrary(bin string, j job, cores int) []string {
	return []string{filepath.Join(bin, "halo"), "run", "-bind", bindTo(j, cores), "-n", strconv.Itoa(j.ranks), "-fabric", j.fabric}
}

// calls is the number of consecutive calls of MPI in the time that a row shows; 0
// if it is not defined.
func (r *row) calls() float64 {
	switch r.bench {
	case "file-at", "file-rows", "file-strided":
		return 1
	case "file-gap", "file-array", "file-blocks", "file-shared":
		return math.Ceil(float64(r.ranks) / float64(runtime.NumCPU()))
	case "file-overlap":
		return 2
	case "barrier", "bcast", "allreduce", "allgather", "alltoall": // one on each rank, of which some share a core
		return math.Ceil(float64(r.ranks) / float64(runtime.NumCPU()))
	case "window", "dup": // the object is made and freed
		return 2 * math.Ceil(float64(r.ranks)/float64(runtime.NumCPU()))
	case "guideline":
		each := 1.0
		if r.variant == "messages" {
			each = 2*4 + 1
		} else if strings.Contains(r.variant, "+") {
			each = 2
		}
		return each * math.Ceil(float64(r.ranks)/float64(runtime.NumCPU()))
	case "neighbor":
		each := 1.0
		switch points, how, _ := strings.Cut(r.variant, " "); {
		case how == "persistent":
			each = 2
		case how == "messages" && points == "5-point":
			each = 2*4 + 1
		case how == "messages":
			each = 2*26 + 1
		}
		return each * math.Ceil(float64(r.ranks)/float64(runtime.NumCPU()))
	case "reduce_local", "pack", "unpack":
		return 1
	case "across", "connect":
		return 2
	case "beside":
		return 4
	case "latency", "section": // a Send and a Recv on both sides, halved
		return 2
	case "put", "get", "acc", "getacc", "fop", "cas", "mtflush", "passive", "fence":
		if r.unit == "us" {
			return 2
		}
	case "lock", "lockget":
		return 3
	case "partitioned": // one for each partition, Start and Wait; with more workers than cores they wait for each other
		return 66
	case "rput":
		return 2
	case "type":
		if r.variant == "made" {
			return 3
		}
		return 1
	case "pscw": // Start, Put and Complete here, Post and Wait there
		return 5
	}
	return 0
}

// clibraryNotes say whether the C library meets its bars: those of rows, and no call slower than
// from Go by more than perCall. The extra time of a call is the difference within a round, divided
// by the calls of the row. A row is certainly above the bar if it is in every round; if it is in
// most of them it may be noise.
func (r *results) clibraryNotes() []string {
	if r.figures[clibrary] == nil {
		return nil
	}
	var notes, always, mostly []string
	within, worst := 0, math.Inf(-1)
	for i := range r.rows {
		rw := &r.rows[i]
		if q := median(r.ratios(clibrary, i)); rw.library != 0 && !math.IsNaN(q) {
			has := "takes %s x the best peer's time"
			if rw.more {
				has = "has %s x the best peer's rate"
			}
			notes = append(notes, fmt.Sprintf("%s: %s "+has+", the bar is %g.", clibrary, rw.name, number(q), rw.library))
		}
		more := r.morePerCall(i)
		m := median(more)
		low, _ := spread(more)
		says := fmt.Sprintf("%s (%s us, %s; %g calls)", rw.name, number(m), ranged(more), rw.calls())
		switch {
		case math.IsNaN(m):
		case m <= perCall:
			within++
			worst = max(worst, m)
		case low > perCall:
			always = append(always, says)
		default:
			mostly = append(mostly, says)
		}
	}
	all := within + len(always) + len(mostly)
	if all == 0 {
		return notes
	}
	s := fmt.Sprintf("%s: %d of %d rows take at most %g us a call more than from Go", clibrary, within, all, perCall)
	if within > 0 {
		s += fmt.Sprintf(" (the most of them %s)", number(worst))
	}
	if len(always) > 0 {
		s += fmt.Sprintf("; %d take more in every round (median, min-max): %s", len(always), strings.Join(always, ", "))
	}
	if len(mostly) > 0 {
		s += fmt.Sprintf("; %d take more in the median, but not in every round: %s", len(mostly), strings.Join(mostly, ", "))
	}
	return append(notes, s+".")
}

// morePerCall is what a call from C took beyond one from Go, in each round; nil of rows that
// are not made of calls.
func (r *results) morePerCall(i int) (more []float64) {
	c, halo, n := r.figuresOf(clibrary, i), r.figuresOf("halo", i), r.rows[i].calls()
	if n == 0 || r.rows[i].more || halo == nil {
		return nil
	}
	for k := range c {
		more = append(more, (c[k]-halo[k])/n)
	}
	return more
}
