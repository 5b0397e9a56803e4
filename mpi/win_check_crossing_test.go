package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// crossing is two conflicting accesses to one place: the first by rank 0, the second by rank 2,
// or by rank 0 itself.
type crossing struct {
	stage, first, second string
	place                string
	self                 bool
}

// crossings are the conflicts of two operations (RC-10), in each kind of epoch and with each
// call.
var crossings = []crossing{
	{stage: "fence", first: "put", second: "put"},
	{stage: "fence", first: "put", second: "get"},
	{stage: "fence", first: "get", second: "put"},
	{stage: "fence", first: "put", second: "sum"},
	{stage: "fence", first: "sum", second: "get"},
	{stage: "fence", first: "get", second: "fetch"},
	{stage: "fence", first: "put", second: "put", self: true},
	{stage: "fence", first: "put", second: "get", self: true},
	{stage: "fence", first: "column", second: "put"},
	{stage: "fence", first: "put", second: "getcolumn"},
	{stage: "fence", first: "sum", second: "halves"},
	{stage: "fence", first: "sum", second: "floats"},
	{stage: "fence", first: "floats", second: "sum", self: true},
	{stage: "post", first: "put", second: "put"},
	{stage: "post", first: "get", second: "put"},
	{stage: "post", first: "put", second: "sum"},
	{stage: "post", first: "swap", second: "get"},
	{stage: "post", first: "getcolumn", second: "put"},
	{stage: "post", first: "put", second: "get", self: true},
	{stage: "all", first: "put", second: "put"},
	{stage: "all", first: "put", second: "get"},
	{stage: "all", first: "get", second: "put"},
	{stage: "all", first: "get", second: "sum"},
	{stage: "all", first: "getsum", second: "put"},
	{stage: "all", first: "put", second: "fetch"},
	{stage: "all", first: "put", second: "read"},
	{stage: "all", first: "swap", second: "put"},
	{stage: "all", first: "put", second: "swap"},
	{stage: "all", first: "rput", second: "get"},
	{stage: "all", first: "rget", second: "put"},
	{stage: "all", first: "rsum", second: "get"},
	{stage: "all", first: "sumcolumn", second: "put"},
	{stage: "all", first: "halves", second: "sum"},
	{stage: "all", first: "sum", second: "floats"},
	{stage: "all", first: "fetch", second: "floats"},
	{stage: "all", first: "sum", second: "floats", self: true},
	{stage: "all", first: "sum", second: "halves", self: true},
	{stage: "all", first: "put", second: "put", self: true},
	{stage: "all", first: "get", second: "sum", self: true},
	{stage: "all", first: "sum", second: "max", place: "same op"},
	{stage: "all", first: "read", second: "sum", place: "same op"},
	{stage: "all", first: "put", second: "get", place: "create"},
	{stage: "all", first: "sum", second: "put", place: "create"},
	{stage: "lock", first: "put", second: "put"},
	{stage: "lock", first: "sum", second: "put"},
	{stage: "lock", first: "put", second: "column", place: "create"},
}

// RC-10, E4-01: the second of two conflicting operations is reported, with both calls, ranks and the
// bytes, and is not carried out. Operations with a synchronisation between them, or on other
// bytes, are not reported.
func TestRC10_OperationsThatConflict(t *testing.T) {
	var all []planted
	for _, x := range crossings {
		name := x.stage + ": " + x.first + " and " + x.second
		if x.self {
			name += " of one rank"
		}
		all = append(all, planted{name, mpi.ErrRMAConflict, x.place, func(p *plot) { x.run(p) }})
	}
	runPlanted(t, all)
}

func (x crossing) run(p *plot) {
	s, by := stages[x.stage], 2
	if x.self {
		by = 0
	}
	here, there := spot{4, 4}, spot{5, 2}
	if x.first == "fetch" || x.first == "swap" || x.first == "read" || x.first[max(0, len(x.first)-6):] == "column" {
		here.disp = 5
	}
	s.open(p)
	p.meet()
	var q mpi.Request
	if p.is(0) {
		var err error
		q, err = accesses[x.first](p, here)
		p.ok(err)
	}
	if !p.bad {
		if p.is(by) { // elsewhere it may follow at once
			_, err := accesses[x.second](p, spot{32, 2})
			p.ok(err)
		}
		p.meet()
		if p.is(0) {
			p.ok(waitFor(q))
			q = mpi.Request{}
		}
		s.complete(p)
	}
	p.meet()
	if p.is(by) {
		r, err := accesses[x.second](p, there)
		if err == nil {
			err = waitFor(r)
		}
		p.last(err, "bytes 40 to ", "of rank 1 (displacement 5", "by rank 0 at ")
	}
	p.meet()
	if p.is(0) {
		p.ok(waitFor(q))
	}
	s.close(p)
}

// RC-10: in an epoch of Post all accesses are concurrent until Wait has returned, including
// those of an origin whose Complete has returned, even if a message orders later accesses. The
// order of arrival does not matter.
func TestRC10_AllOfAnEpochOfPost(t *testing.T) {
	var all []planted
	for _, x := range []struct{ first, second string }{
		{"get", "put"}, {"put", "get"}, {"get", "sum"}, {"sum", "get"}, {"sum", "floats"}, {"getcolumn", "put"},
	} {
		all = append(all, planted{x.first + " and " + x.second, mpi.ErrRMAConflict, "", func(p *plot) {
			here := spot{5, 1}
			openPost(p)
			if p.is(0) {
				_, err := accesses[x.first](p, here)
				p.ok(err)
				p.ok(p.Complete())
			}
			if !p.bad {
				if p.is(2) {
					p.ok(p.Complete())
				} else if p.is(1) {
					p.ok(p.Win.Wait())
				}
				p.meet()
				if p.is(1) {
					p.ok(p.Post(p.group(2), 0))
				} else if p.is(2) {
					p.ok(p.Start(p.group(1), 0))
				}
			}
			p.meet()
			if p.is(2) {
				_, err := accesses[x.second](p, here)
				p.last(err, "bytes 40 to ", "by rank 0 at ", "in the same epoch of Post")
				p.ok(p.Complete())
			}
			if p.is(1) {
				p.ok(p.Win.Wait())
			}
		}})
	}
	runPlanted(t, all)
}
