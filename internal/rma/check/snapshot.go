package check

import (
	"github.com/halo-mpi/halo/internal/class"
)

// snapshot is what memory of the own window held after an access of an epoch, which nothing may
// change before the epoch ends: a change was a store by the program, which nobody declares, or by
// another program that shares the memory. It is taken
//
//   - of a get when it is logged (askGet),
//   - of a put when it is complete here (askPutDone): its origin waits for that, since only then
//     another value there is not that of the put.
//
// It is never taken where an operation may still be under way: not where the log has an update of
// the same bytes by another access, not of views in order, whose accesses overlap legally, not of
// accesses that had to wait for the own Post, and not in windows that are accessed without a question
// (askUnchecked). An update that is logged later ends it. In epochs of locks it is not known when
// the owner may store. What the program stored before is not seen: that was overwritten, or read.
//
// It is compared when Wait has returned, or between two barriers in a Fence: after the first
// everything is complete, and before the second no member continues.
type snapshot struct {
	entry entry
	at    span
	was   []byte
}

// snapshots are those that a target has.
type snapshots struct {
	list []snapshot
	size int  // bytes
	off  bool // accesses may have been missed: none is taken any more
}

const (
	// snapshotsMax and snapshotsSize bound the snapshots of a window, in number and in bytes: each
	// question goes through the list.
	snapshotsMax, snapshotsSize = 4096, 16 << 20
	// snapshotPutsMax bounds for how many puts of an epoch an origin waits for completion.
	snapshotPutsMax = 1024
)

// snaps reports whether the target of p is to take a snapshot of what p leaves. The lock is held.
func (w *Window) snaps(p *Pending) bool {
	switch {
	case p.entry.kind > Get || p.entry.epoch == Lock || p.entry.segment == 0 || w.dynamic || len(w.early) > 0:
		return false
	case p.entry.kind == Get:
		return true
	}
	w.snapshotPuts++
	return w.snapshotPuts <= snapshotPutsMax
}

// putDone has the target of a put of this process, which has been issued, take a snapshot of what
// the put has left. No lock is held.
func (w *Window) putDone(p *Pending) {
	w.lock.Lock()
	w.host.AwaitIssued(p.target, p.entry.call.Name, false)
	w.lock.Unlock()
	w.ask(askPutDone, p)
}

// snap takes snapshots of the memory of an access. The lock is held.
func (w *Window) snap(c *entry, list []span) {
	k := &w.snapshots
	if k.off || w.dynamic || c.epoch == Lock {
		return
	}
	for _, x := range list {
		n := int(x.hi - x.lo)
		mem, err := w.host.Memory(x.lo, int64(n))
		if err != nil || len(k.list) >= snapshotsMax || n > snapshotsSize-k.size || w.updates(c, x) {
			continue
		}
		k.list = append(k.list, snapshot{*c, x, append([]byte(nil), mem...)})
		k.size += n
	}
}

// drop removes the snapshots for which which is true.
func (k *snapshots) drop(which func(x *snapshot) bool) {
	n := 0
	for i := range k.list {
		x := &k.list[i]
		switch {
		case which(x):
			k.size -= len(x.was)
		case n < i:
			k.list[n] = *x
			n++
		default:
			n++
		}
	}
	clear(k.list[n:])
	k.list = k.list[:n]
}

// updated drops what an access is about to change legally, or with a report of its own.
func (k *snapshots) updated(c *entry, list []span) {
	if c.kind != Get {
		k.drop(func(x *snapshot) bool { return x.within(list) })
	}
}

// within reports whether x has bytes of a list.
func (x *snapshot) within(list []span) bool {
	_, found := common([]span{x.at}, list)
	return found
}

// turnOff ends snapshots in this window.
func (k *snapshots) turnOff() { *k = snapshots{off: true} }

// changed returns an error if memory differs from a snapshot of an epoch of that kind, and drops
// these snapshots. end is the call that has ended the epoch. Of fences only snapshots of the last one
// are compared, since another goroutine of an origin may be late. No lock is held.
func (w *Window) changed(epoch Epoch, end Call) error {
	var found *snapshot
	w.lock.Lock()
	for i := range w.snapshots.list {
		x := &w.snapshots.list[i]
		mem, err := w.host.Memory(x.at.lo, int64(len(x.was)))
		if x.entry.epoch != epoch || epoch == Fence && x.entry.fences != w.fences || w.lost || err != nil {
			continue
		}
		if lo, hi := differ(x.was, mem); lo < hi {
			found = &snapshot{entry: x.entry, at: span{x.at.lo + uint64(lo), x.at.lo + uint64(hi)}}
			break
		}
	}
	w.snapshots.drop(func(x *snapshot) bool { return x.entry.epoch == epoch })
	w.lock.Unlock()
	if found == nil {
		return nil
	}
	w.locate(&found.entry)
	which := "between the same two fences"
	if epoch == Start {
		which = "in the same epoch of Post"
	}
	return fail(class.RMAConflict, "%s have changed since %s, before %s: a store here, %s, conflicts with it",
		w.bytes(w.host.Comm().Rank, found.at), found.entry.text(), w.called(&end, " at "), which)
}

// differ is from which byte on, up to which, a and b of equal length differ.
func differ(a, b []byte) (lo, hi int) {
	for lo < len(a) && a[lo] == b[lo] {
		lo++
	}
	for hi = len(a); hi > lo && a[hi-1] == b[hi-1]; {
		hi--
	}
	return lo, hi
}
