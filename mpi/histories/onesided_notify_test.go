package histories_test

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// Operations notify a counter of their target, and the target waits for all operations of a
// burst together: then it must see what they have put, and may use the memory. Each burst has a
// separate counter, so that notifications that no member waits for do not matter.

// burst is the notifications that a target has not waited for.
type burst struct {
	counter int
	ops     []*rmaOp
}

// awaitable reports whether members can wait within the round. They cannot if a member that has
// to notify them may wait for a lock that they hold, or for their post.
func (ph *phase) awaitable() bool { return ph.kind == byFence || ph.kind == byLockAll }

// notifies makes o notify its target, sometimes.
func (m *roundMaker) notifies(o *rmaOp) {
	if o.kind >= isUpdate || o.target < 0 || !m.one(3) {
		return
	}
	b := m.bursts[o.target]
	if b == nil {
		m.counters++
		b = &burst{counter: m.counters}
		if m.one(8) {
			b.counter = mpi.NotifyMax - m.counters
		}
		m.bursts[o.target] = b
	}
	o.notify = b.counter + 1
	b.ops = append(b.ops, o)
}

// await makes a member wait for its burst.
func (m *roundMaker) await(member int) {
	b := m.bursts[member]
	if b == nil || !m.phase.awaitable() {
		return
	}
	delete(m.bursts, member)
	view := 0
	if m.round.threads {
		view = m.view()
	}
	s := rmaStep{do: doAwait, member: member, arg: b.counter, view: view}
	for _, o := range b.ops {
		if m.claims.notified(o, m.agent(member, view)) && o.kind == isPut {
			s.looks = append(s.looks, o)
		}
	}
	m.add(s)
}

// signal makes a member signal an object of another one, or of itself, which waits for the
// signal.
func (m *roundMaker) signal(origin, target int) {
	w := m.phase.win
	number := w.signals[target]
	w.signals[target]++
	m.add(rmaStep{do: doSignal, member: origin, target: target, arg: number})
	m.completed(m.agent(origin, 0), target, allViews)
	m.add(rmaStep{do: doHeed, member: target, target: origin, arg: number})
	m.claims.hand(m.agent(origin, 0), m.agent(target, 0), target)
}

// issued records which operation accessed the target's bytes last.
func (c *claims) issued(o *rmaOp) {
	if o.target < 0 || o.kind > isGet {
		return
	}
	b := c.bytes[claimed{o.target, o.slot}]
	o.each(func(off, size int64) bool {
		for i := range size {
			b[off+i].last = o.id
		}
		return true
	})
}

// notified transfers what o has accessed to the agent that learns of it, and reports whether all
// of it was still as o had left it.
func (c *claims) notified(o *rmaOp, agent int16) bool {
	if o.kind > isGet {
		return false
	}
	all, b := true, c.bytes[claimed{o.target, o.slot}]
	o.each(func(off, size int64) bool {
		for i := range size {
			if k := &b[off+i]; k.last == o.id && k.owner == o.agent {
				k.owner, k.clean = agent, true
			} else {
				all = false
			}
		}
		return true
	})
	return all
}

// awaited is the number of notifications that a step waits for: those earlier in the round. The
// program may have been shrunk.
func (r *round) awaited(s *rmaStep) (n int) {
	for _, before := range r.steps {
		if before == s {
			return n
		}
		if before.do == doOp && before.op.target == s.member && before.op.notify == s.arg+1 {
			n++
		}
	}
	return n
}

// await waits for notifications, in one of several ways, and reads what was put.
func (r *phaseRun) await(round *round, s *rmaStep) error {
	n, w := round.awaited(s), r.views[s.view]
	var err error
	switch s.arg % 4 {
	case 0:
		q := w.IwaitNotify(s.arg, n)
		_, err = q.Wait()
	case 1:
		q := []mpi.Request{{}, w.IwaitNotify(s.arg, n), {}}
		err = mpi.Waitall(q, nil)
	case 2:
		q := w.NotifyInit(s.arg, n)
		err = q.Start()
		if err == nil {
			for done := false; !done && err == nil; {
				_, done, err = q.Test()
			}
			if err == nil {
				err = q.Free()
			}
		}
	case 3:
		q := w.NotifyReach(s.arg, int64(n))
		_, err = q.Wait()
	}
	if err != nil {
		return err
	}
	seen := r.x.seen[s]
	for i, o := range s.looks {
		seen[i] = o.there.packed(r.mine[o.slot], o.at)
	}
	return nil
}

// saw compares what a member has seen after a wait with the oracle.
func (c *checker) saw(r *round, s *rmaStep) error {
	for i, o := range s.looks {
		if !slices.ContainsFunc(r.steps, func(s *rmaStep) bool { return s.op == o }) {
			continue // the program was shrunk
		}
		if want := o.there.packed(c.memory[s.member][o.slot], o.at); !bytes.Equal(c.seen[s][i], want) {
			return fmt.Errorf("%v: when it was awaited there was not what it has put", o)
		}
	}
	return nil
}

// allocSignals makes the synchronisation objects of a window, and sends them to all members.
func (l *live) allocSignals() (err error) {
	l.own, err = l.win.AllocSyncObjects(l.signals[l.me], nil)
	if err != nil {
		return err
	}
	most := slices.Max(l.signals)
	if most == 0 {
		return nil
	}
	mine, all := make([]mpi.Sync, most), make([]mpi.Sync, most*len(l.members))
	copy(mine, l.own)
	if err := mpi.Allgather(l.comm, mine, all); err != nil {
		return err
	}
	for k := range l.members {
		l.objects = append(l.objects, all[k*most:][:most])
	}
	return nil
}

// heed waits for a signal.
func (r *phaseRun) heed(s *rmaStep) error {
	q := r.win.SyncObjectInit(r.own[s.arg], 1)
	if err := q.Start(); err != nil {
		return err
	}
	if _, err := q.Wait(); err != nil {
		return err
	}
	return q.Free()
}

// notifyBuffers calls the methods of Untyped that notify.
func (o *issued) notifyBuffers(w *mpi.Window, data, result mpi.Buffer, target int, disp int64, count int, d mpi.Datatype) (q mpi.Request, err error) {
	c := o.notify - 1
	switch {
	case o.kind == isPut && o.rmaOp.request:
		q = w.Untyped().RputNotify(data, target, disp, count, d, c)
	case o.kind == isPut:
		err = w.Untyped().PutNotify(data, target, disp, count, d, c)
	case o.kind == isGet && o.rmaOp.request:
		q = w.Untyped().RgetNotify(result, target, disp, count, d, c)
	case o.kind == isGet:
		err = w.Untyped().GetNotify(result, target, disp, count, d, c)
	case o.kind == isAccumulate && o.rmaOp.request:
		q = w.Untyped().RaccumulateNotify(data, target, disp, count, d, o.op, c)
	case o.kind == isAccumulate:
		err = w.Untyped().AccumulateNotify(data, target, disp, count, d, o.op, c)
	case o.kind == isGetAccumulate && o.rmaOp.request:
		q = w.Untyped().RgetAccumulateNotify(data, result, target, disp, count, d, o.op, c)
	case o.kind == isGetAccumulate:
		err = w.Untyped().GetAccumulateNotify(data, result, target, disp, count, d, o.op, c)
	case o.kind == isFetchAndOp:
		err = w.Untyped().FetchAndOpNotify(data, result, target, disp, o.op, c)
	case o.kind == isCompareAndSwap:
		err = w.Untyped().CompareAndSwapNotify(data, o.compare.buffer(), result, target, disp, c)
	}
	return q, err
}

// notifySlices calls the methods of Win that notify.
func notifySlices[T mpi.Elem](w mpi.Win[T], o *issued, data, result, compare numbers[T], disp int) (q mpi.Request, err error) {
	c, target := o.notify-1, o.target
	switch {
	case o.kind == isPut && o.rmaOp.request:
		q = w.RputNotify(data, target, disp, c)
	case o.kind == isPut:
		err = w.PutNotify(data, target, disp, c)
	case o.kind == isGet && o.rmaOp.request:
		q = w.RgetNotify(result, target, disp, c)
	case o.kind == isGet:
		err = w.GetNotify(result, target, disp, c)
	case o.kind == isAccumulate && o.rmaOp.request:
		q = w.RaccumulateNotify(data, target, disp, o.op, c)
	case o.kind == isAccumulate:
		err = w.AccumulateNotify(data, target, disp, o.op, c)
	case o.kind == isGetAccumulate && o.rmaOp.request:
		q = w.RgetAccumulateNotify(data, result, target, disp, o.op, c)
	case o.kind == isGetAccumulate:
		err = w.GetAccumulateNotify(data, result, target, disp, o.op, c)
	case o.kind == isFetchAndOp:
		err = w.FetchAndOpNotify(&data[0], &result[0], target, disp, o.op, c)
	case o.kind == isCompareAndSwap:
		err = w.CompareAndSwapNotify(&data[0], &compare[0], &result[0], target, disp, c)
	}
	return q, err
}
