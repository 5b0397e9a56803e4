package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Synchronisation objects (Ritzdorf, 2008)
//
// A synchronisation object is one of the counters of a window (counter.go). Its process
// waits, by a persistent request of SyncObject, for count signals; others signal it by
// persistent requests of SyncOps, when their operations are complete.
//
// The proposal counts from count down to 0, and Start sets the counter to count: a signal
// that comes before Start is lost. Here a signal adds 1, and a request that count signals are
// there for takes count off. So the value of the proposal's counter is count minus ours;
// signals that come early, even before SyncObject, are credit for the next Start; and no
// word is ever set that others add to. More credit than count is class.WinCounter: somebody
// signals more often than this process waits.
//
// With strict the request does what the proposal says, to show programs that rely on early
// signals: those that Start would have lost are class.WinCounter.

// SyncHandle names a synchronisation object, wherever in the job it is used; 0 names none. It
// is one word, as handles of C are:
//
//	bits 0..14   the number of its counter, in the upper half
//	bits 15..30  its process, of boot.MaxRanks
//	bits 31..46  a hash of its window's id
//	bits 47..63  a serial number, not 0, which tells it from others that have had the counter
type SyncHandle uint64

// syncMark are the bits of handles that are of one window's objects.
const syncMark = 0xffff << 31

func newSyncHandle(window uint64, process int, counter uint32, serial uint64) SyncHandle {
	const serials = 1<<17 - 1
	return SyncHandle(counter-NotifyMax) | SyncHandle(process)<<15 | markOf(window) | SyncHandle(1+serial%serials)<<47
}

// markOf is what handles have of a window's id: the upper bits of its product with 2^64 over
// the golden ratio, which differ for ids that follow each other.
func markOf(window uint64) SyncHandle {
	return SyncHandle(window*0x9e3779b97f4a7c15>>48) << 31
}

// counter is the number of the object's counter, process the one that has it.
func (h SyncHandle) counter() int   { return int(h&(1<<15-1)) + NotifyMax }
func (h SyncHandle) process() int32 { return int32(h >> 15 & (1<<16 - 1)) }

// windowObjects are the own synchronisation objects of a window. All is guarded by the
// engine's lock.
type windowObjects struct {
	objects map[SyncHandle]*syncObject
	fresh   uint32   // how many numbers were ever given: from the highest counter down
	used    []uint32 // numbers of freed ones, in the order in which they are to be given again
}

// reuseAfter is how many freed numbers rest before one is given again, so that a signal too
// many, which is an error of the program, does not soon meet another object.
const reuseAfter = 64

// syncObjectsMax is how many objects a window has at most at each member: the upper half of
// the counters.
const syncObjectsMax = shmfmt.CountersMax / 2

// syncObject is an own synchronisation object.
type syncObject struct {
	active *objectRequest // that has been started, and has not been ended
	freed  bool
}

// AllocSync makes n synchronisation objects (MPIX_WIN_ALLOC_SYNC_OBJECTS).
func (v *View) AllocSync(n int) ([]SyncHandle, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fail(class.Count, "%d synchronisation objects", n)
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	if n > syncObjectsMax-len(w.objects) {
		return nil, fail(class.NoMem, "%d synchronisation objects beside %d, at most %d", n, len(w.objects), syncObjectsMax)
	}
	if w.objects == nil {
		w.objects = make(map[SyncHandle]*syncObject, n)
	}
	list := make([]SyncHandle, n)
	for i := range list {
		w.e.serial++
		list[i] = newSyncHandle(w.id, w.e.p.Job().Rank, w.objectNumber(), w.e.serial)
		c := w.counter(list[i].counter()) // made now, so that origins find it
		c.Add(-c.Value())
		w.objects[list[i]] = new(syncObject)
	}
	return list, nil
}

// objectNumber is a counter that no object has.
func (w *Window) objectNumber() (number uint32) {
	if len(w.used) > reuseAfter || w.fresh == syncObjectsMax {
		number = w.used[0]
		w.used = slices.Delete(w.used, 0, 1)
		return number
	}
	w.fresh++
	return shmfmt.CountersMax - w.fresh
}

// FreeSync frees synchronisation objects of this process, all or, with an error, none
// (MPIX_WIN_FREE_SYNC_OBJECTS).
func (v *View) FreeSync(list []SyncHandle) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	for i, h := range list {
		if err := w.checkLocal(h); err != nil {
			return fail(classOf(err), "object %d: %v", i, err)
		}
		if w.objects[h].active != nil {
			return fail(class.Request, "object %d: its request is active: wait for it first", i)
		}
		if slices.Contains(list[:i], h) {
			return fail(class.Arg, "object %d is object %d as well", i, slices.Index(list, h))
		}
	}
	for _, h := range list {
		w.objects[h].freed = true
		delete(w.objects, h)
		w.used = append(w.used, uint32(h.counter()))
	}
	return nil
}

// checkHandle returns an error unless h is a handle of an object of the window, of some process.
// The lock is held.
func (w *Window) checkHandle(h SyncHandle) error {
	switch {
	case h == 0:
		return fail(class.Arg, "the synchronisation object is null")
	case int(h.process()) >= w.e.p.Job().Size:
	case h&syncMark == markOf(w.id):
		return nil
	default:
		for _, other := range w.e.windows {
			if h&syncMark == markOf(other.id) {
				return fail(class.Win, "the synchronisation object is one of another window")
			}
		}
	}
	return fail(class.Arg, "this is no synchronisation object: none of a window of this process")
}

// checkLocal returns an error unless h names an object of this process. The lock is held.
func (w *Window) checkLocal(h SyncHandle) error {
	if err := w.checkHandle(h); err != nil {
		return err
	}
	switch {
	case int(h.process()) != w.e.p.Job().Rank:
		return fail(class.Arg, "the synchronisation object is that of rank %d: only its own process can wait for it", w.Comm.RankOf(h.process()))
	case w.objects[h] == nil:
		return fail(class.Arg, "the synchronisation object has been freed")
	}
	return nil
}

// objectRequest is the persistent request that waits for signals of an object.
type objectRequest struct {
	threshold
	object  *syncObject
	count   int64
	restart bool
	strict  bool
	again   bool  // of strict: the last Start has been complete, with count signals
	early   int64 // signals that were there when it began
}

// SyncObject returns a persistent request that is complete when an own object has been
// signalled count times since the last one was (MPIX_WIN_SYNC_OBJECT_INIT). With restart it
// begins again whenever a test or wait has ended it.
func (v *View) SyncObject(h SyncHandle, count int64, restart, strict bool, call string) (*p2p.Request, error) {
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
	o := w.objects[h]
	switch {
	case count < 0:
		return nil, fail(class.Count, "%d signals to wait for", count)
	case o.active != nil:
		return nil, fail(class.Request, "another request of the synchronisation object is active")
	}
	q := &objectRequest{object: o, count: count, restart: restart, strict: strict}
	q.threshold = threshold{
		Threshold: Threshold{Call: call, Counter: h.counter(), Reach: count, Take: count, Begin: q.begins},
		w:         w, counter: w.counter(h.counter()), persistent: true,
	}
	if strict {
		q.Take = 0
		q.counter.Add(-q.counter.Value())
	}
	q.request = e.messages.NewRequest(w.Comm, call)
	e.messages.SetPersistent(q.request, q)
	return q.request, nil
}

// begins is called when the request is started, with how many signals are there.
func (q *objectRequest) begins(value int64) error {
	switch o := q.object; {
	case o.freed:
		return fail(class.Request, "the synchronisation object has been freed")
	case o.active != nil && o.active != q:
		return fail(class.Request, "another request of the synchronisation object is active")
	default:
		o.active = q
	}
	if !q.strict {
		q.early = value
		return nil
	}
	q.counter.Add(-value)
	if q.again {
		value -= q.count
	}
	q.again = value <= 0
	if value > 0 {
		return fail(class.WinCounter, "%d signals came before Start, which sets the counter to %d: they are lost", value, q.count)
	}
	return nil
}

// WaitStarted implements p2p.WaitObserver.
func (q *objectRequest) WaitStarted() {}

// Restartable implements p2p.WaitObserver.
func (q *objectRequest) Restartable() bool { return false }

// WaitFinished implements p2p.WaitObserver.
func (q *objectRequest) WaitFinished(err error) (failed error, again bool) {
	if q.object.active == q {
		q.object.active = nil
	}
	if err != nil {
		return err, q.restart && classOf(err) == class.WinCounter
	}
	early := q.counter.Value()
	if q.strict {
		early -= q.count
	}
	switch {
	case q.strict && early > 0:
		err = fail(class.WinCounter, "the counter is %d: %d signals more than the %d that were waited for", -early, early, q.count)
	case !q.strict && max(early, q.early) > q.count:
		early = max(early, q.early)
		err = fail(class.WinCounter, "the counter is %d: it has been signalled %d times more than is waited for, and its count is %d", -early, early, q.count)
	}
	return err, q.restart
}

// Abandoned implements p2p.WaitObserver: signals that have come stay where they are.
func (q *objectRequest) Abandoned() {
	if q.object.active == q {
		q.object.active = nil
	}
	if i := slices.Index(q.w.e.awaited, &q.threshold); i >= 0 {
		q.w.e.forgetAwaited(i)
		q.finish(nil)
	}
}
