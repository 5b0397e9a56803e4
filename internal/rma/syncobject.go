package rma

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
)

// AllocSync makes n synchronisation objects (MPIX_WIN_ALLOC_SYNC_OBJECTS).
func (v *View) AllocSync(n int) ([]syncobject.Handle, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return nil, err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	list, err := w.objects.Alloc(n, w.id, brief16(w.e.brief), &w.e.serial)
	if err != nil {
		return nil, err
	}
	for _, h := range list {
		c := w.counter(h.Counter()) // made now, so that origins find it
		c.Add(-c.Value())
	}
	return list, nil
}

// FreeSync frees synchronisation objects of this process, all or, with an error, none
// (MPIX_WIN_FREE_SYNC_OBJECTS).
func (v *View) FreeSync(list []syncobject.Handle) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	for i, h := range list {
		if err := w.checkLocal(h); err != nil {
			return class.Errorf(classOf(err), "object %d: %v", i, err)
		}
	}
	return w.objects.Free(list)
}

// checkHandle returns an error unless h is a handle of an object of the window, of some process.
// The lock is held.
func (w *Window) checkHandle(h syncobject.Handle) error {
	switch {
	case h == 0:
		return class.Errorf(class.Arg, "the synchronisation object is null")
	case h.Of(w.id):
		return nil
	default:
		for _, other := range w.e.windows {
			if h.Of(other.id) {
				return class.Errorf(class.Win, "the synchronisation object is one of another window")
			}
		}
	}
	return class.Errorf(class.Arg, "this is no synchronisation object: none of a window of this process")
}

// brief16 is proc.Brief in 16 bits. Those of two processes of one job differ.
func brief16(brief uint32) uint16 { return uint16(brief) ^ uint16(brief>>16) }

// ofWhom says for errors whose object h is. The lock is held.
func (w *Window) ofWhom(h syncobject.Handle) string {
	for rank, m := range w.Comm.Members {
		if brief16(w.e.p.Brief(int(m))) == h.Process() {
			return fmt.Sprintf("that of rank %d", rank)
		}
	}
	return "that of a process outside of the window"
}

// checkLocal returns an error unless h names an object of this process. The lock is held.
func (w *Window) checkLocal(h syncobject.Handle) error {
	if err := w.checkHandle(h); err != nil {
		return err
	}
	switch {
	case h.Process() != brief16(w.e.brief):
		return class.Errorf(class.Arg, "the synchronisation object is %s: only its own process can wait for it", w.ofWhom(h))
	case w.objects.Find(h) == nil:
		return class.Errorf(class.Arg, "the synchronisation object has been freed")
	}
	return nil
}

// objectRequest is the persistent request that waits for signals of an object.
type objectRequest struct {
	threshold
	wait *syncobject.Wait
}

// SyncObject returns a persistent request that is complete when an own object has been
// signalled count times since the last one was (MPIX_WIN_SYNC_OBJECT_INIT). With restart it
// begins again whenever a test or wait has ended it.
func (v *View) SyncObject(h syncobject.Handle, count int64, restart, strict bool, by call.Number) (*p2p.Request, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return nil, err
	}
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	if err := w.checkLocal(h); err != nil {
		return nil, err
	}
	c := w.counter(h.Counter())
	wait, err := syncobject.NewWait(w.objects.Find(h), c, count, restart, strict)
	if err != nil {
		return nil, err
	}
	q := &objectRequest{wait: wait, threshold: threshold{
		Threshold: Threshold{Call: by, Counter: h.Counter(), Reach: count, Take: wait.Take(), Begin: wait.Begin},
		w:         w, counter: c, persistent: true,
	}}
	q.request = e.messages.NewRequest(w.Comm, by)
	e.messages.SetPersistent(q.request, q)
	return q.request, nil
}

// WaitStarted implements p2p.WaitObserver.
func (q *objectRequest) WaitStarted() {}

// Restartable implements p2p.WaitObserver.
func (q *objectRequest) Restartable() bool { return false }

// WaitFinished implements p2p.WaitObserver.
func (q *objectRequest) WaitFinished(err error) (failed error, again bool) {
	return q.wait.Finish(err)
}

// Abandoned implements p2p.WaitObserver.
func (q *objectRequest) Abandoned() {
	q.wait.Abandon()
	if i := slices.Index(q.w.e.awaited, &q.threshold); i >= 0 {
		q.w.e.forgetAwaited(i)
		q.finish(nil)
	}
}
