package histories_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// steps does the steps of a round that belong to this member.
func (r *phaseRun) steps(round *round) error {
	if round.threads {
		return r.threads(round)
	}
	return r.stepsOf(round, func(*rmaStep) bool { return true })
}

// stepsOf does those of them that mine selects.
func (r *phaseRun) stepsOf(round *round, mine func(*rmaStep) bool) error {
	for i, s := range round.steps {
		if s.member != r.me || !mine(s) {
			continue
		}
		if err := r.step(round, s); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, s, err)
		}
	}
	return nil
}

func (r *phaseRun) step(round *round, s *rmaStep) error {
	switch s.do {
	case doOp:
		return r.issue(r.x.ops[s.op.id])
	case doLock:
		assert := mpi.Assert(0)
		if round.shared {
			assert = r.noCheck()
		}
		return r.win.Lock([]mpi.LockType{mpi.LockShared, mpi.LockExclusive}[s.arg], s.target, assert)
	case doUnlock:
		if s.arg == 0 {
			if err := r.settle(s.target, 0); err != nil {
				return err
			}
		}
		if err := errors.Join(r.win.Unlock(s.target), r.completed(s.target, 0)); err != nil {
			return err
		}
		return r.settle(s.target, 1) // a request may remain pending after its epoch
	case doFlush:
		return errors.Join(r.views[s.view].Flush(s.target), r.completed(s.target, s.view))
	case doFlushAll:
		return errors.Join(r.views[s.view].FlushAll(), r.completed(r.phase.flushed(s.view), s.view))
	case doFlushLocal:
		return errors.Join(r.views[s.view].FlushLocal(s.target), r.completed(s.target, s.view))
	case doFlushLocalAll:
		return errors.Join(r.views[s.view].FlushLocalAll(), r.completed(r.phase.flushed(s.view), s.view))
	case doSync:
		return r.views[s.view].Sync()
	case doAwait:
		return r.await(round, s)
	case doSignal:
		return errors.Join(r.win.Signal(s.target, mpi.ModeWinAll, r.objects[s.target][s.arg]), r.completed(s.target, 0))
	case doHeed:
		return r.heed(s)
	case doGrant:
		return r.grant(s.arg, s.target)
	case doOpen:
		return r.receive(s.arg)
	case doClose:
		return errors.Join(r.close(s.arg), mpi.Send(r.comm, []byte{}, s.target, handleTag+s.arg))
	case doRelease:
		if _, err := mpi.Recv(r.comm, []byte{}, s.target, handleTag+s.arg); err != nil {
			return err
		}
		return r.release(s.arg)
	case doWait:
		return r.settle(nobody, s.arg)
	case doHand:
		return mpi.Send(r.comm, []byte{}, s.target, 0)
	case doTake:
		_, err := mpi.Recv(r.comm, []byte{}, s.target, 0)
		return err
	}
	return nil
}

// settle waits for the requests of operations to a target, or to all for nobody.
func (r *phaseRun) settle(target, way int) error {
	var all []mpi.Request
	var of []*issued
	for _, o := range r.open {
		if o.pending && (target == nobody || o.target == target || o.target == nobody) {
			all, of = append(all, o.request), append(of, o)
		}
	}
	switch way {
	case 0:
		if err := mpi.Waitall(all, nil); err != nil {
			return err
		}
	case 1:
		for i := range all {
			if _, err := all[i].Wait(); err != nil {
				return err
			}
		}
	case 2:
		for i := range all {
			for done := false; !done; {
				var err error
				_, done, err = all[i].Test()
				if err != nil {
					return err
				}
			}
		}
	}
	for _, o := range of {
		o.pending = false
		if err := o.complete(); err != nil {
			return err
		}
	}
	r.prune()
	return nil
}

// prune removes operations that are complete.
func (r *phaseRun) prune() {
	kept := r.open[:0]
	for _, o := range r.open {
		if !o.done {
			kept = append(kept, o)
		}
	}
	r.open = kept
}

// issue makes the call for an operation.
func (r *phaseRun) issue(o *issued) error {
	if err := o.lay(); err != nil {
		return err
	}
	if o.kind == isUpdate {
		return r.update(o)
	}
	r.open = append(r.open, o)
	if o.kind == isStorm {
		o.storm = newStorm(o.elem)
		return o.storm.run(r.views[o.view], o.rmaOp, r.disp(o.rmaOp), r.phase.unitOf(o.rmaOp))
	}
	var err error
	if o.typed {
		any := o.data
		if any == nil {
			any = o.result
		}
		o.request, err = any.endpoint.(slicer).oneSided(r.views[o.view], o, int(r.disp(o.rmaOp)))
	} else {
		o.request, err = r.byBuffers(o)
	}
	o.pending = o.rmaOp.request
	return err
}

// buffer is the Buffer of a side, the zero Buffer if there is none.
func (m *placed) buffer() mpi.Buffer {
	if m == nil {
		return mpi.Buffer{}
	}
	return m.buf()
}

// byBuffers calls the methods of Untyped.
func (r *phaseRun) byBuffers(o *issued) (q mpi.Request, err error) {
	d, err := datatypeOf(o.there.spec)
	if err != nil {
		return q, err
	}
	if err := d.Commit(); err != nil {
		return q, err
	}
	w, target, disp, count := r.views[o.view], o.target, r.disp(o.rmaOp), int(o.there.count)
	data, result := o.data.buffer(), o.result.buffer()
	switch {
	case o.notify > 0:
		q, err = o.notifyBuffers(w, data, result, target, disp, count, d)
	case o.kind == isPut && o.rmaOp.request:
		q = w.Untyped().Rput(data, target, disp, count, d)
	case o.kind == isPut:
		err = w.Untyped().Put(data, target, disp, count, d)
	case o.kind == isGet && o.rmaOp.request:
		q = w.Untyped().Rget(result, target, disp, count, d)
	case o.kind == isGet:
		err = w.Untyped().Get(result, target, disp, count, d)
	case o.kind == isAccumulate && o.rmaOp.request:
		q = w.Untyped().Raccumulate(data, target, disp, count, d, o.op)
	case o.kind == isAccumulate:
		err = w.Untyped().Accumulate(data, target, disp, count, d, o.op)
	case o.kind == isGetAccumulate && o.rmaOp.request:
		q = w.Untyped().RgetAccumulate(data, result, target, disp, count, d, o.op)
	case o.kind == isGetAccumulate:
		err = w.Untyped().GetAccumulate(data, result, target, disp, count, d, o.op)
	case o.kind == isFetchAndOp:
		err = w.Untyped().FetchAndOp(data, result, target, disp, o.op)
	case o.kind == isCompareAndSwap:
		err = w.Untyped().CompareAndSwap(data, o.compare.buffer(), result, target, disp)
	}
	if o.there.spec.Combiner != dtype.CombinerNamed && err == nil {
		err = d.Free() // the operation does not need the handle any more
	}
	return q, err
}

// slicer is memory that is a slice of numbers.
type slicer interface {
	oneSided(w *mpi.Window, o *issued, disp int) (mpi.Request, error)
}

// sliceIn is a side as a slice, nil if there is none.
func sliceIn[T mpi.Elem](m *placed) numbers[T] {
	if m == nil {
		return nil
	}
	return m.endpoint.(numbers[T])
}

// oneSided calls the methods of Win.
func (numbers[T]) oneSided(window *mpi.Window, o *issued, disp int) (q mpi.Request, err error) {
	w, target := mpi.Win[T]{Window: window}, o.target
	data, result, compare := sliceIn[T](o.data), sliceIn[T](o.result), sliceIn[T](o.compare)
	switch {
	case o.notify > 0:
		q, err = notifySlices(w, o, data, result, compare, disp)
	case o.kind == isPut && o.rmaOp.request:
		q = w.Rput(data, target, disp)
	case o.kind == isPut:
		err = w.Put(data, target, disp)
	case o.kind == isGet && o.rmaOp.request:
		q = w.Rget(result, target, disp)
	case o.kind == isGet:
		err = w.Get(result, target, disp)
	case o.kind == isAccumulate && o.rmaOp.request:
		q = w.Raccumulate(data, target, disp, o.op)
	case o.kind == isAccumulate:
		err = w.Accumulate(data, target, disp, o.op)
	case o.kind == isGetAccumulate && o.rmaOp.request:
		q = w.RgetAccumulate(data, result, target, disp, o.op)
	case o.kind == isGetAccumulate:
		err = w.GetAccumulate(data, result, target, disp, o.op)
	case o.kind == isFetchAndOp:
		err = w.FetchAndOp(&data[0], &result[0], target, disp, o.op)
	case o.kind == isCompareAndSwap:
		err = w.CompareAndSwap(&data[0], &compare[0], &result[0], target, disp)
	}
	return q, err
}

// update adds to elements without an atomic operation, under an exclusive lock: sometimes in
// memory, if they are this member's.
func (r *phaseRun) update(o *issued) error {
	d := types.Type(o.elem)
	there, err := mpi.Predefined(d.Name())
	if err != nil {
		return err
	}
	if err := r.win.Flush(o.target); err != nil { // the last update may have put to them
		return err
	}
	e, n, size := elementOf(o.elem), int(o.there.count), elementOf(o.elem).size
	if o.target == r.me && o.seed%2 == 0 {
		for range o.times {
			r.add(e, r.mine[o.slot][o.at:][:n*size], o.values)
		}
		o.done = true
		o.scramble()
		return nil
	}
	disp := r.disp(o.rmaOp)
	for k := range o.times {
		if k > 0 {
			if err := r.win.Flush(o.target); err != nil {
				return err
			}
		}
		if err := errors.Join(r.win.Untyped().Get(o.result.buffer(), o.target, disp, n, there), r.win.FlushLocal(o.target)); err != nil {
			return err
		}
		copy(o.data.mem[o.data.origin:], o.result.mem[o.result.origin:][:n*size])
		r.add(e, o.data.mem[o.data.origin:][:n*size], o.values)
		if err := r.win.Untyped().Put(o.data.buffer(), o.target, disp, n, there); err != nil {
			return err
		}
	}
	r.open = append(r.open, o)
	return nil
}

// add adds values to elements in memory.
func (r *phaseRun) add(e *element, mem []byte, values []byte) {
	for i := range len(mem) / e.size {
		at := mem[i*e.size:][:e.size]
		copy(at, e.memory(e.combined(mpi.Sum, e.value(at), string(values[i*e.size:][:e.size]))))
	}
}
