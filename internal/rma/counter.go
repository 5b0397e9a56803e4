package rma

import (
	"slices"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Counters
//
// A window has numbered counters at each of its members: signed 64-bit words, 0 at first. An
// operation may carry a notification (Op.Notify): when it is complete at the target, one of the
// target's counters is incremented. The target waits until a counter reaches a value (Threshold).
// Notified access and synchronisation objects both use this.
//
// Counters are in the target's heap, one in each cache line, in chunks that grow from both ends of
// the numbers (shmfmt.CounterChunk). The target makes a chunk when it first uses one of the chunk's
// counters, and its control block says where the chunk is. So:
//
//   - An origin on the node copies, adds 1, and rings if the target waits for that value
//     (shmfmt.Counter has the order of steps). While there is no chunk it sends a WinNotify instead,
//     and the target's service makes the chunk.
//   - Any other origin sends the notification with the frame of the data, the last one if there are
//     several (wire.ThenNotify). The target's service applies the frame and adds 1.
//
// Processes only add to counters, so that notifications of both kinds can mix. A counter takes 64
// bytes: from 4 KiB to 4 MiB for each window and member, and none before the first use. If the heap
// has no room, counters are in other memory of the process, and all notifications come in frames.

// NotifyMax is the number of counters of a window at each member for the program, from 0 on. The
// counters above belong to synchronisation objects.
const NotifyMax = shmfmt.CountersMax - syncobject.Max

// counters has the known chunks of counters of one member. A chunk is stored when this process finds
// it, or makes it as its owner, under the engine's lock.
type counters [shmfmt.CounterChunks]atomic.Pointer[[]shmfmt.Counter]

// known returns a counter, nil if its chunk is not known.
func (c *counters) known(i int) *shmfmt.Counter {
	chunk, at := shmfmt.CounterChunk(i)
	if list := c[chunk].Load(); list != nil {
		return &(*list)[at]
	}
	return nil
}

// windowCounters has the counters of this process in a window.
type windowCounters struct {
	counters counters
	chunks   [][]byte // memory of chunks in the heap; under the engine's lock
}

// counterExists returns an error unless i is the number of a counter of the program.
func counterExists(i int) error {
	if uint(i) >= NotifyMax {
		return class.Errorf(class.Arg, "counter %d is not one of 0 to %d", i, NotifyMax-1)
	}
	return nil
}

// Notification is Op.Notify for a counter. It returns an error if the program has no such counter.
func Notification(counter int) (uint32, error) {
	if err := counterExists(counter); err != nil {
		return 0, err
	}
	return operation.Notice(counter), nil
}

// counter returns a counter of this process. The lock is held.
func (w *Window) counter(i int) *shmfmt.Counter {
	if c := w.counters.known(i); c != nil {
		return c
	}
	chunk, _ := shmfmt.CounterChunk(i)
	w.makeCounters(chunk)
	return w.counters.known(i)
}

// makeCounters makes a chunk and publishes it to the node. If it returns an error the chunk exists
// but is not published. The lock is held.
func (w *Window) makeCounters(chunk int) error {
	size := shmfmt.CounterChunkSize(chunk)
	mem, off, err := w.newPage(size)
	if err != nil {
		mem, off = lines(size), nowhere
	}
	list, crooked := shmfmt.FormatCounters(mem, chunk)
	if crooked != nil {
		return crooked
	}
	if off != nowhere {
		w.chunks = append(w.chunks, mem)
		w.control.SetCounterChunk(chunk, off)
	}
	w.counters[chunk].Store(&list) // pairs with the load in known
	return err
}

// MakeCounters makes the first n counters, so that origins find them: otherwise the first
// notification of a chunk needs a frame. It is local, and n may grow (MPIX_WIN_NOTIFY_SET_NUM).
func (v *View) MakeCounters(n int) error {
	w := v.w
	if err := w.live(); err != nil {
		return err
	}
	if n < 0 || n > NotifyMax {
		return class.Errorf(class.Arg, "%d counters, at most %d", n, NotifyMax)
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	for i := 0; i < n; {
		chunk, at := shmfmt.CounterChunk(i)
		if w.counters[chunk].Load() == nil {
			if err := w.makeCounters(chunk); err != nil {
				return err
			}
		}
		i += shmfmt.CounterChunkLen(chunk) - at
	}
	return nil
}

// CounterValue returns the value of a counter of this process (MPIX_WIN_NOTIFY_GET_VALUE). The
// effects of all counted operations are visible to the caller.
func (v *View) CounterValue(i int) (int64, error) {
	if err := v.ownCounter(i); err != nil {
		return 0, err
	}
	if c := v.w.counters.known(i); c != nil {
		return c.Value(), nil
	}
	return 0, nil
}

// SetCounter sets a counter of this process to x (MPIX_WIN_NOTIFY_SET_VALUE).
func (v *View) SetCounter(i int, x int64) error {
	if err := v.ownCounter(i); err != nil {
		return err
	}
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	if v.w.counter(i).Set(x) {
		e.workCounters()
	}
	return nil
}

func (v *View) ownCounter(i int) error {
	if err := v.w.live(); err != nil {
		return err
	}
	return counterExists(i)
}

// countHere counts a notification that has arrived in a frame. The lock is held.
func (w *Window) countHere(i int) {
	if _, reached := w.counter(i).Add(1); reached {
		w.e.workCounters()
	}
}

// count adds 1 to counter i of t, for an operation that the caller has made on t's memory, and wakes
// t if t waits for the new value. It reports false, without an effect, if only t's service can count.
// locked says that the lock is held.
func (t *target) count(i int, locked bool) bool {
	c := t.counters.known(i)
	if c == nil {
		c = t.findCounter(i, locked)
		if c == nil {
			return false
		}
	}
	if _, reached := c.Add(1); reached && !planted.CounterNotRung {
		t.counterReached(locked)
	}
	return true
}

// counterReached tells t, whose memory is mapped in this process, that one of its counters has a
// value for which a request may wait.
func (t *target) counterReached(locked bool) {
	e := t.w.e
	switch {
	case t.local != e.me:
		e.node.Ring(t.local)
	case locked:
		e.workCounters()
	default:
		e.p.Lock()
		e.workCounters()
		e.p.Unlock()
	}
}

// findCounter finds the chunk of counter i of t, and makes the chunk if t is this process.
func (t *target) findCounter(i int, locked bool) *shmfmt.Counter {
	w := t.w
	if t.Rank == w.Comm.Rank {
		if !locked {
			w.e.p.Lock()
			defer w.e.p.Unlock()
		}
		c := w.counter(i)
		chunk, _ := shmfmt.CounterChunk(i)
		t.counters[chunk].Store(w.counters[chunk].Load())
		return c
	}
	if t.control == nil {
		return nil
	}
	chunk, _ := shmfmt.CounterChunk(i)
	off, ok := t.control.CounterChunkAt(chunk)
	if !ok {
		return nil
	}
	mem, err := t.view.Memory(off, shmfmt.CounterChunkSize(chunk))
	if err != nil {
		return nil // there is no room to map the chunk: the caller uses frames
	}
	list, err := shmfmt.OpenCounters(mem, chunk)
	if err != nil {
		return nil
	}
	t.counters[chunk].Store(&list)
	return t.counters.known(i)
}

// freeCounters frees the memory of this process's counters. The lock is held.
func (w *Window) freeCounters() {
	for _, mem := range w.chunks {
		w.e.mem.Free(mem)
	}
	w.chunks = slices.Delete(w.chunks, 0, len(w.chunks))
}
