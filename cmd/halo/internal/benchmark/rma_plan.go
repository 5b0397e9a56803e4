package benchmark

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	passiveOps    = 20000 // operations in a measurement of passive
	passiveBusyMS = 500   // how long the target of passive computes at most, in ms

	cell       = 64 // distance in bytes between the target locations of two workers
	maxWorkers = 64
	maxOps     = 10000000
	maxBusyMS  = 60000
)

// windowKinds returns the kinds of windows. The name of a kind says where the memory comes from (for
// create and dynamic: AllocMem, or the Go heap) and how the window is made.
func windowKinds() []string {
	return []string{"allocate", "shared", "create", "dynamic", "create-heap", "dynamic-heap", dupKind}
}

// dupKind is the kind of a duplicate of an allocated window.
const dupKind = "dup"

// oneSidedNames returns the benchmarks of one-sided communication.
func oneSidedNames() []string {
	return []string{"put", "get", "acc", "getacc", "fop", "cas", "fence", "pscw", "lock", "lockget", "rput", "mtflush", "passive"}
}

// Spreads reports whether a rank uses several cores at once, so that it should not be bound to one.
func (p *Plan) Spreads() bool {
	return p.Name == "mtflush" || p.Name == "partitioned" || p.Name == "passive" || p.Name == "seeds" || p.Name == "file-overlap" || isDynamic(p.Name)
}

// checkOneSided checks the fields that only one-sided communication uses, and fills in defaults.
func (p *Plan) checkOneSided() error {
	if !slices.Contains(oneSidedNames(), p.Name) {
		if p.Wins != nil || p.Types != nil || p.Workers != nil && p.Name != "partitioned" || p.Scope != "" || p.Order || p.WorkerOp != "" && p.Name != "phases" && p.Name != "proxy" || p.Ops != 0 || p.BusyMS != 0 {
			return fmt.Errorf("%s takes none of the options of one-sided communication", p.Name)
		}
		return nil
	}
	computes := p.Name == "acc" || p.Name == "getacc" || p.Name == "fop" || p.Name == "cas"
	if p.Types != nil && !computes {
		return fmt.Errorf("%s computes nothing at its target: -types is for acc, getacc, fop and cas", p.Name)
	}
	if p.Workers != nil && p.Name != "mtflush" {
		return fmt.Errorf("%s has one worker: -workers is for mtflush", p.Name)
	}
	if (p.Scope != "" || p.Order) && p.Name != "mtflush" {
		return fmt.Errorf("%s has one worker: -scope and -order are for mtflush", p.Name)
	}
	if p.Scope != "" && p.Scope != "process" && p.Scope != "thread" {
		return fmt.Errorf("mtflush takes scope process or thread, not %q", p.Scope)
	}
	if p.WorkerOp != "" && p.Name != "mtflush" {
		return fmt.Errorf("%s has one operation: -op is for mtflush", p.Name)
	}
	if p.WorkerOp != "" && !slices.Contains(workerOps(), p.WorkerOp) {
		return fmt.Errorf("mtflush has no operation %q; there are %s", p.WorkerOp, strings.Join(workerOps(), ", "))
	}
	if (p.Ops != 0 || p.BusyMS != 0) && p.Name != "passive" {
		return fmt.Errorf("%s takes as long as it takes: -ops and -busy-ms are for passive", p.Name)
	}
	switch {
	case p.Wins != nil:
	case p.Name != "passive":
		p.Wins = []string{"allocate"}
	default: // all kinds, except shared without shared memory, and kinds equal to another one
		p.Wins = slices.DeleteFunc(windowKinds(), func(k string) bool { return k == dupKind || k == "shared" && p.Fabric == "tcp" })
	}
	for _, k := range p.Wins {
		if !slices.Contains(windowKinds(), k) {
			return fmt.Errorf("no kind of window %q; there are %s", k, strings.Join(windowKinds(), ", "))
		}
	}
	if p.Types == nil && computes {
		p.Types = []string{"float64"}
		if p.Name == "fop" || p.Name == "cas" {
			p.Types = []string{"int64"}
		}
	}
	known := elementTypes()
	for _, t := range p.Types {
		if known[t] == nil || p.Name == "cas" && strings.HasPrefix(t, "float") {
			return fmt.Errorf("%s has no elements of type %q; there are %s", p.Name, t, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if p.Workers == nil && p.Name == "mtflush" {
		p.Workers = []int{1, 2, 4, 8, 16, 32}
	}
	for _, w := range p.Workers {
		if w < 1 || w > maxWorkers {
			return fmt.Errorf("mtflush takes 1 to %d workers, not %d", maxWorkers, w)
		}
	}
	if p.Name == "passive" {
		p.Ops, p.BusyMS = cmp.Or(p.Ops, passiveOps), cmp.Or(p.BusyMS, passiveBusyMS)
		if p.Ops < 1 || p.Ops > maxOps || p.BusyMS < 1 || p.BusyMS > maxBusyMS {
			return fmt.Errorf("passive takes 1 to %d operations and 1 to %d ms, not %d and %d", maxOps, maxBusyMS, p.Ops, p.BusyMS)
		}
	}
	return nil
}
