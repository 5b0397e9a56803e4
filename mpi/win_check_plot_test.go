package mpi_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// plot is one rank's part in a planted conflict of three ranks: of ranks 0 and 2, or of one of
// them twice, in the memory of rank 1. bad means that it must conflict; the repaired plot
// differs only in what avoids the conflict.
type plot struct {
	t testing.TB
	c *mpi.Comm
	mpi.Win[int64]
	bad   bool
	told  *reports
	class mpi.Class
	name  string
}

// reports is the records that the ranks of a plot share.
type reports struct {
	mu    sync.Mutex
	sites []string
	found int // errors of the expected class
}

// note records the place in the source of the call whose error it gets: the two are on one line.
func (p *plot) note(err error) error {
	p.noteCaller()
	return err
}

// begun is note for a request.
func (p *plot) begun(q mpi.Request) mpi.Request {
	p.noteCaller()
	return q
}

func (p *plot) noteCaller() {
	_, file, line, _ := runtime.Caller(2)
	p.told.mu.Lock()
	p.told.sites = append(p.told.sites, fmt.Sprintf("%s:%d", filepath.Base(file), line))
	p.told.mu.Unlock()
}

// ok checks that there is no error.
func (p *plot) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Errorf("%s: rank %d: %v", p.name, p.c.Rank(), err)
	}
}

// last checks that there is an error, unless the plot is repaired, which names the window and
// all recorded calls, and contains all of text.
func (p *plot) last(err error, text ...string) {
	p.t.Helper()
	if !p.bad {
		p.ok(err)
		return
	}
	if !errors.Is(err, p.class) {
		p.t.Errorf("%s: rank %d: %v, want %v", p.name, p.c.Rank(), err, p.class)
		return
	}
	p.told.mu.Lock()
	defer p.told.mu.Unlock()
	p.told.found++
	for _, s := range append(append(text, "on field"), p.told.sites...) {
		if !strings.Contains(err.Error(), s) {
			p.t.Errorf("%s: %v\ndoes not say %q", p.name, err, s)
		}
	}
}

// meet is a barrier.
func (p *plot) meet() { p.ok(p.c.Barrier()) }

// is reports whether this is one of the ranks.
func (p *plot) is(ranks ...int) bool {
	for _, r := range ranks {
		if p.c.Rank() == r {
			return true
		}
	}
	return false
}

// group is the group of some ranks.
func (p *plot) group(ranks ...int) mpi.Group {
	g, err := p.Group()
	p.ok(err)
	g, err = g.Incl(ranks)
	p.ok(err)
	return g
}

// A stage is a kind of epoch in which ranks 0 and 2 access rank 1.
type stage struct {
	name        string
	open, close func(p *plot)
	complete    func(p *plot) // completes the first of two accesses: all ranks call it
}

func fences(p *plot) { p.ok(p.Fence(0)) }

func openPost(p *plot) {
	if p.is(1) {
		p.ok(p.Post(p.group(0, 2), 0))
	}
	p.meet()
	if p.is(0, 2) {
		p.ok(p.Start(p.group(1), 0))
	}
}

func closePost(p *plot) {
	if p.is(0, 2) {
		p.ok(p.Complete())
	} else {
		p.ok(p.Win.Wait())
	}
}

var stages = map[string]stage{
	"fence": {"Fence", fences, fences, fences},
	"post":  {"Post", openPost, closePost, func(p *plot) { closePost(p); p.meet(); openPost(p) }},
	"all": {"LockAll", func(p *plot) { p.ok(p.LockAll(0)) }, func(p *plot) { p.ok(p.UnlockAll()) },
		func(p *plot) { p.ok(p.FlushAll()) }},
	"lock": {"Lock", func(p *plot) {
		if p.is(0, 2) {
			p.ok(p.Lock(mpi.LockShared, 1, 0))
		}
	}, func(p *plot) {
		if p.is(0, 2) {
			p.ok(p.Unlock(1))
		}
	}, func(p *plot) {
		if p.is(0) {
			p.ok(p.Flush(1))
		}
	}},
}

// spot is some elements of the window.
type spot struct{ disp, n int }

// An access accesses rank 1 by a call, and records the place of the call.
type access func(p *plot, x spot) (mpi.Request, error)

var accesses = map[string]access{
	"put": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Put(make([]int64, x.n), 1, x.disp))
	},
	"get": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Get(make([]int64, x.n), 1, x.disp))
	},
	"sum": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Accumulate(make([]int64, x.n), 1, x.disp, mpi.Sum))
	},
	"max": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Accumulate(make([]int64, x.n), 1, x.disp, mpi.Max))
	},
	"halves": func(p *plot, x spot) (q mpi.Request, err error) { // with elements of another size
		int32s, _ := mpi.TypeOf[int32]()
		return q, p.note(p.Untyped().Accumulate(mpi.Buf(make([]int32, 2*x.n)), 1, int64(x.disp), 2*x.n, int32s, mpi.Sum))
	},
	"floats": func(p *plot, x spot) (q mpi.Request, err error) { // with other elements of the same size
		float64s, _ := mpi.TypeOf[float64]()
		return q, p.note(p.Untyped().Accumulate(mpi.Buf(make([]float64, x.n)), 1, int64(x.disp), x.n, float64s, mpi.Sum))
	},
	"getsum": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.GetAccumulate(make([]int64, x.n), make([]int64, x.n), 1, x.disp, mpi.Sum))
	},
	"fetch": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.FetchAndOp(new(int64), new(int64), 1, x.disp, mpi.Replace))
	},
	"read": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.FetchAndOp(nil, new(int64), 1, x.disp, mpi.NoOp))
	},
	"swap": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.CompareAndSwap(new(int64), new(int64), new(int64), 1, x.disp))
	},
	"rput": func(p *plot, x spot) (q mpi.Request, err error) {
		return p.begun(p.Rput(make([]int64, x.n), 1, x.disp)), nil
	},
	"rget": func(p *plot, x spot) (q mpi.Request, err error) {
		return p.begun(p.Rget(make([]int64, x.n), 1, x.disp)), nil
	},
	"rsum": func(p *plot, x spot) (q mpi.Request, err error) {
		return p.begun(p.Raccumulate(make([]int64, x.n), 1, x.disp, mpi.Sum)), nil
	},
	// A column of four elements, one of which others access, too.
	"column": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Untyped().Put(mpi.Buf(make([]int64, 4)), 1, int64(x.disp-4), 1, columnOf(p)))
	},
	"getcolumn": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Untyped().Get(mpi.Buf(make([]int64, 4)), 1, int64(x.disp-4), 1, columnOf(p)))
	},
	"sumcolumn": func(p *plot, x spot) (q mpi.Request, err error) {
		return q, p.note(p.Untyped().Accumulate(mpi.Buf(make([]int64, 4)), 1, int64(x.disp-4), 1, columnOf(p), mpi.Sum))
	},
}

// columnOf is four elements, four apart.
func columnOf(p *plot) mpi.Datatype {
	long, err := mpi.TypeOf[int64]()
	p.ok(err)
	column, err := mpi.TypeVector(4, 1, 4, long)
	p.ok(err)
	p.ok(column.Commit())
	return column
}

// winMaker makes the window of a plot.
type winMaker func(c *mpi.Comm) (mpi.Win[int64], error)

// winPlaces are kinds of window memory, each of which operations access by another path.
var winPlaces = map[string]winMaker{
	"allocate": func(c *mpi.Comm) (mpi.Win[int64], error) { return mpi.WinAllocate[int64](c, 64) },
	"create":   func(c *mpi.Comm) (mpi.Win[int64], error) { return mpi.WinCreate(c, make([]int64, 64)) },
	"same op": func(c *mpi.Comm) (mpi.Win[int64], error) {
		i := mpi.NewInfo()
		if err := i.Set("accumulate_ops", "same_op"); err != nil {
			return mpi.Win[int64]{}, err
		}
		return mpi.WinAllocate[int64](c, 64, i)
	},
}

// planted runs a plot on all fabrics, with the conflict and repaired.
type planted struct {
	name  string
	class mpi.Class
	place string // "" is allocate
	run   func(p *plot)
}

func runPlanted(t *testing.T, all []planted) {
	t.Setenv("HALO_CHECK", "1")
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@010", "shm@010") {
		t.Run(fabric, func(t *testing.T) {
			notes := make([]reports, 2*len(all))
			mpitest.On(t, fabric, 3, func(t testing.TB, c *mpi.Comm) {
				for i, x := range all {
					for k, bad := range []bool{true, false} {
						p := &plot{t: t, c: c, bad: bad, told: &notes[2*i+k], class: x.class, name: x.name}
						if !bad {
							p.name += ", repaired"
						}
						if x.place == "" {
							x.place = "allocate"
						}
						w, err := winPlaces[x.place](c)
						ok(t, err)
						ok(t, w.SetName("field"))
						p.Win = w
						x.run(p)
						p.meet()
						p.told.mu.Lock()
						if found := p.told.found; c.Rank() == 0 && (found > 0) != bad {
							t.Errorf("%s: %d reports", p.name, found)
						}
						p.told.mu.Unlock()
						ok(t, w.Free())
					}
				}
			})
		})
	}
}

// waitFor waits for a request, unless it is null.
func waitFor(q mpi.Request) error {
	_, err := q.Wait()
	return err
}
