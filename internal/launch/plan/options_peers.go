package plan

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// peerOptions are options of other launchers that scripts use, and rare options of the
// standard. Most are other names for options of this launcher. Those that ask for its default, or
// for parts that it does not have, are accepted and ignored.
func peerOptions() []option {
	table := []option{
		{names: []string{"soft"}, args: []string{"SET"}, block: true,
			help: "start the largest number of ranks of SET, such as 2:16:2 or 1,4,16, that is at most N",
			set:  func(p *parser, a []string) (err error) { p.soft, err = ParseSoft(a[0]); return err }},
		{names: []string{"arch"}, args: []string{"NAME"}, block: true,
			help: "refuse to run on an architecture other than NAME, as uname -m or Go calls it",
			set: func(_ *parser, a []string) error {
				if names := archNames(runtime.GOARCH); !slices.Contains(names, strings.ToLower(a[0])) {
					return fmt.Errorf("this host is %s, not %q", names[0], a[0])
				}
				return nil
			}},
		{names: []string{"initial-errhandler"}, args: []string{"NAME"}, block: true,
			help: "sets HALO_INITIAL_ERRHANDLER",
			set: func(p *parser, a []string) error {
				switch a[0] {
				case "mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return":
					p.block.Env = append(p.block.Env, "HALO_INITIAL_ERRHANDLER="+a[0])
					return nil
				}
				return fmt.Errorf("%q is not one of mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return", a[0])
			}},
		{names: []string{"memory-alloc-kinds", "memory-allocation-kinds"}, args: []string{"LIST"}, block: true,
			help: "the kinds of memory that the program asks for, such as mpi,system; sets HALO_MEMORY_ALLOC_KINDS",
			set: func(p *parser, a []string) error {
				p.block.Env = append(p.block.Env, "HALO_MEMORY_ALLOC_KINDS="+a[0])
				return nil
			}},
		{names: []string{"envlist"}, args: []string{"NAMES"}, block: true,
			help: "-x for each of NAMES, separated by commas",
			set: func(p *parser, a []string) error {
				for name := range strings.SplitSeq(a[0], ",") {
					if err := p.pass(name); err != nil {
						return err
					}
				}
				return nil
			}},
		{names: []string{"genv"}, args: []string{"NAME", "VALUE"},
			help: "-env for all programs",
			set: func(p *parser, a []string) error {
				v, err := variable(a[0], a[1])
				p.general = append(p.general, v)
				return err
			}},
		{names: []string{"genvlist"}, args: []string{"NAMES"},
			help: "-envlist for all programs",
			set: func(p *parser, a []string) error {
				outer := p.block.Env
				p.block.Env = nil
				for name := range strings.SplitSeq(a[0], ",") {
					if err := p.pass(name); err != nil {
						return err
					}
				}
				p.general, p.block.Env = append(p.general, p.block.Env...), outer
				return nil
			}},
		{names: []string{"prefix"}, args: []string{"DIR"},
			help: "-halo DIR/bin/halo",
			set: func(p *parser, a []string) error {
				if !filepath.IsAbs(a[0]) {
					return fmt.Errorf("%q is not an absolute path", a[0])
				}
				p.spec.Agent = filepath.Join(a[0], "bin", "halo")
				return nil
			}},
		{names: []string{"stdin"}, args: []string{"RANK"},
			help: "the rank that reads the standard input (default 0); none: no rank does",
			set: func(p *parser, a []string) error {
				rank, err := strconv.Atoi(a[0])
				switch {
				case a[0] == "none":
					p.spec.NoStdin = true
				case err != nil || rank < 0:
					return fmt.Errorf("%q is neither a rank nor none: one rank can read the standard input", a[0])
				default:
					p.spec.Reader = rank
				}
				return nil
			}},
		{names: []string{"ppn", "N", "npernode", "perhost"}, args: []string{"K"},
			help: "place K ranks on each host; without -n as many as that makes",
			set: func(p *parser, a []string) (err error) {
				p.perHost, err = parseSlots(a[0])
				return err
			}},
		{names: []string{"pernode"}, help: "-ppn 1", set: func(p *parser, _ []string) error { p.perHost = 1; return nil }},
		{names: []string{"bind-to"}, args: []string{"WHAT"},
			help: "none, machine and board: -bind none; core, cpu and hwthread: -bind core; parts of a host that have several cores: -bind auto",
			set: func(p *parser, a []string) error {
				what, _, _ := strings.Cut(strings.ToLower(a[0]), ":")
				switch what {
				case "none", "machine", "board", "user":
					p.spec.Bind = "none"
				case "core", "cpu", "hwthread":
					p.spec.Bind = "core"
				case "socket", "package", "numa", "l1cache", "l2cache", "l3cache", "rr":
					p.spec.Bind = "auto"
				default:
					return fmt.Errorf("%q is not known; see -bind", a[0])
				}
				return nil
			}},
		{names: []string{"byslot"}, help: "-map-by slot", set: func(p *parser, _ []string) error { p.spec.MapBy = "slot"; return nil }},
		{names: []string{"bynode", "rr"}, help: "-map-by node", set: func(p *parser, _ []string) error { p.spec.MapBy = "node"; return nil }},
	}
	idle := func(names string, args ...string) {
		for _, name := range strings.Fields(names) {
			table = append(table, option{names: []string{name}, args: args, idle: true,
				set: func(p *parser, a []string) error {
					p.spec.Ignored = append(p.spec.Ignored, strings.Join(append([]string{"-" + name}, a...), " "))
					return nil
				}})
		}
	}
	idle("allow-run-as-root nooversubscribe no-oversubscribe display-allocation display-devel-map use-hwthread-cpus " +
		"genvall envall disable-recovery q quiet")
	idle("launcher bootstrap rmk rank-by memory-alloc-kinds", "WHAT")
	idle("mca gmca prtemca pmixmca", "NAME", "VALUE")
	return table
}

// mapBy parses the argument of -map-by. Other launchers accept after a ':' whether hosts may
// take more ranks than slots, and how many cores a rank has; here these are -oversubscribe and
// -bind.
func (p *parser) mapBy(how string) error {
	words := strings.Split(strings.ToLower(how), ":")
	switch words[0] {
	case "node":
		p.spec.MapBy = "node"
	case "slot", "core", "hwthread", "l1cache", "l2cache", "l3cache", "numa", "socket", "package", "board":
		p.spec.MapBy = "slot"
	case "ppr":
		if len(words) < 3 || words[2] != "node" {
			return fmt.Errorf("%q is not ppr:K:node", how)
		}
		k, err := parseSlots(words[1])
		p.perHost = k
		return err
	default:
		return fmt.Errorf("%q is not one of slot, node, ppr:K:node", how)
	}
	p.spec.Oversubscribe = p.spec.Oversubscribe || slices.Contains(words[1:], "oversubscribe")
	return nil
}

// archNames returns the names of an architecture; the first is Go's.
func archNames(arch string) []string {
	names := []string{arch}
	switch arch {
	case "amd64":
		names = append(names, "x86_64", "x86-64")
	case "arm64":
		names = append(names, "aarch64")
	}
	return names
}

// A SoftSet is the argument of -soft: a list of FIRST:LAST:STEP.
type SoftSet [][3]int

// ParseSoft reads a list of FIRST, FIRST:LAST or FIRST:LAST:STEP, separated by commas.
func ParseSoft(text string) (set SoftSet, err error) {
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Split(part, ":")
		if len(words) > 3 {
			return nil, fmt.Errorf("%q is not FIRST:LAST:STEP", part)
		}
		triple := [3]int{0, 0, 1}
		for i, w := range words {
			triple[i], err = strconv.Atoi(w)
			if err != nil {
				return nil, fmt.Errorf("%q is not FIRST:LAST:STEP, three numbers", part)
			}
		}
		if len(words) == 1 {
			triple[1] = triple[0]
		}
		if triple[2] == 0 {
			return nil, fmt.Errorf("%q has steps of 0", part)
		}
		set = append(set, triple)
	}
	return set, nil
}

// Within returns the largest number of the set from 1 to n, 0 if there is none.
func (s SoftSet) Within(n int) (best int) {
	for _, t := range s {
		first, last, step := t[0], t[1], t[2]
		if step < 0 { // the same numbers in ascending order
			steps := (first - last) / -step
			if first < last {
				continue
			}
			first, last, step = first+steps*step, first, -step
		}
		if top := min(last, n); top >= first {
			best = max(best, first+(top-first)/step*step)
		}
	}
	return best
}
