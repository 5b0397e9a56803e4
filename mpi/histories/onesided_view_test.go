package histories_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// viewing is the properties of a view. The first view of a window is the window itself, with
// process scope and without order.
type viewing struct {
	thread  bool // flushes cover only operations on the view itself
	ordered bool // operations to a target complete there in order
}

// viewsMax is the maximum number of views of a window.
const viewsMax = 4

// allViews means that a synchronisation covers all views.
const allViews = -1

// views makes the views of a window.
func (m *maker) views() []viewing {
	all := make([]viewing, 1, viewsMax)
	for range m.IntN(viewsMax) {
		all = append(all, viewing{m.one(2), m.one(2)})
	}
	return all
}

// view is a random view of the window.
func (m *roundMaker) view() int { return m.IntN(len(m.phase.win.views)) }

// through issues o on a random view of the window, or of a memory handle of the target.
func (m *roundMaker) through(o *rmaOp) {
	o.slot = m.IntN(len(m.phase.win.slots[o.target]))
	view := m.view()
	if opened := m.handlesOf(o.origin, o.target); len(opened) > 0 && !m.one(3) {
		view = opened[m.IntN(len(opened))]
	}
	m.by(o, view)
}

// by issues o on a view.
func (m *roundMaker) by(o *rmaOp, view int) {
	o.view, o.begin = view, 0
	o.order = m.phase.viewing(view).ordered
	o.agent = m.agent(o.origin, view)
	if h := m.phase.handle(view); h != nil {
		o.slot, o.begin = h.slot, h.off
	}
}

// streamed records the operation after which the next one on an ordered view may be placed.
func (m *roundMaker) streamed(o *rmaOp) {
	if o.order && o.typed && o.kind < isAccumulate && o.target >= 0 {
		m.streams[[3]int{int(o.agent), o.target, o.view}] = o
	}
}

// behind makes o, a put or get, access what the last put or get on its view has accessed, if
// there was one: nothing but the order separates the two.
func (m *roundMaker) behind(o *rmaOp) bool {
	last := m.streams[[3]int{int(o.agent), o.target, o.view}]
	if last == nil {
		return false
	}
	o.typed, o.slot, o.disp, o.at, o.there = true, last.slot, last.disp, last.at, last.there
	if o.kind == isPut {
		o.data = o.there
	} else {
		o.result = o.there
	}
	return true
}

// agent is the agent that does the steps of a member on a view: the member, or its goroutine for
// that view. An agent does its steps one after the other, so that it knows what it has done
// before.
func (m *roundMaker) agent(member, view int) int16 {
	if !m.round.threads {
		view = 0
	}
	return int16(member*(viewsMax+handlesMax) + view)
}

// flush adds a flush on a view. If the view is one of a memory handle, target is the member that
// owns the memory, or -1.
func (m *roundMaker) flush(member, view, target int, local bool) {
	do := doFlush
	switch {
	case local && target < 0:
		do = doFlushLocalAll
	case local:
		do = doFlushLocal
	case target < 0:
		do = doFlushAll
	}
	m.add(rmaStep{do: do, member: member, target: target, view: view})
	if local {
		return
	}
	covered := allViews
	if m.phase.viewing(view).thread {
		covered = view
	}
	if h := m.phase.handle(view); h != nil {
		target = h.owner
	}
	m.completed(m.agent(member, view), target, covered)
}

// completed records that operations of an agent at a target, -1 for all, are complete: those on
// one view, or on all.
func (m *roundMaker) completed(agent int16, target, view int) {
	m.claims.flushed(agent, target, view)
	for t := range m.members() {
		if target >= 0 && t != target {
			continue
		}
		at := [2]int{int(agent), t}
		m.group[at]++
		left := m.open[at][:0]
		for _, o := range m.open[at] {
			if view == allViews || o.view == view {
				o.doneAt = m.group[at]
			} else {
				left = append(left, o)
			}
		}
		m.open[at] = left
	}
}

// duplicate makes the duplicates of a window.
func (l *live) duplicate() error {
	l.views = []*mpi.Window{l.win}
	for _, v := range l.window.views[1:] {
		info := mpi.NewInfo()
		if v.ordered {
			if err := info.Set("mpi_win_order", "true"); err != nil {
				return err
			}
		}
		if v.thread {
			if err := info.Set("mpi_win_scope", "thread"); err != nil {
				return err
			}
		}
		// Duplicates of duplicates are equivalent to those of the window.
		d, err := l.views[len(l.views)/2].Untyped().Dup(info)
		if err != nil {
			return err
		}
		if !v.ordered { // not the value of the window that it was made from
			info.Set("mpi_win_order", "false")
		}
		if !v.thread {
			info.Set("mpi_win_scope", "process")
		}
		if err := d.SetInfo(info); err != nil {
			return err
		}
		l.views = append(l.views, d.Window)
	}
	return nil
}

// free frees the window before its duplicates, or after them.
func (l *live) free() error {
	last := 0
	if l.slots[0][0].seed%2 == 0 {
		last = 1 // the same order on all members
	}
	for i := range l.views {
		k := (i + last) % len(l.views)
		if err := l.views[k].Free(); err != nil {
			return fmt.Errorf("view %d: %w", k, err)
		}
	}
	return nil
}

// covers reports whether a flush on a view covers operations on another one.
func (ph *phase) covers(view, other int) bool { return !ph.viewing(view).thread || view == other }

// through is the view of a step.
func (s *rmaStep) through() int {
	if s.do == doOp {
		return s.op.view
	}
	return s.view
}

// threads does the steps of a round with goroutines, one for each view.
func (r *phaseRun) threads(round *round) error {
	runs := make([]*phaseRun, len(r.views))
	ended := make(chan error, len(runs))
	for v := range runs {
		runs[v] = &phaseRun{live: r.live, phase: r.phase, x: r.x, stored: r.stored, handles: r.handles}
		go func() {
			err := runs[v].stepsOf(round, func(s *rmaStep) bool { return s.through() == v })
			if err != nil {
				err = fmt.Errorf("goroutine of view %d: %w", v, err)
			}
			ended <- err
		}()
	}
	var err error
	for range runs {
		err = errors.Join(err, <-ended)
	}
	for _, run := range runs {
		r.open = append(r.open, run.open...)
	}
	return err
}
