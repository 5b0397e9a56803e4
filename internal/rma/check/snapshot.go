package check

import (
	"github.com/halo-mpi/halo/internal/class"
)

// snapshot is the content of window memory of this process after an access of an epoch. Nothing may
// change that memory before the epoch ends: a change was an undeclared store of the program, or a
// store of another program that shares the memory. A snapshot is taken
//
//   - for a get when it is logged (askGet),
//   - for a put when it is complete at this target (askPutDone): the origin waits for that, since
//     before that a different value may be replaced by the put.
//
// No snapshot is taken if an operation may still change the memory:
//
//   - if the log has an update of the same bytes by another access,
//   - in views in order, whose accesses may overlap,
//   - if an access of the origin had to wait for this process's Post,
//   - in windows that are accessed without a question (askUnchecked).
//
// An update that is logged later drops the snapshot. In epochs of locks there are no snapshots, because
// it is not known when the owner may store. Stores of the program before the access are not detected:
// the access has overwritten or read them.
//
// A snapshot is compared when Wait has returned, or between two barriers in a Fence: after the first
// barrier all operations are complete, and before the second no member continues.
type snapshot struct {
	entry entry
	at    span
	was   []byte
}

// snapshots holds the snapshots of a target.
type snapshots struct {
	list []snapshot
	size int  // bytes
	off  bool // accesses may have been missed: no more snapshots are taken
}

const (
	// snapshotsMax and snapshotsSize bound the snapshots of a window, in number and in bytes: each
	// question goes through the list.
	snapshotsMax, snapshotsSize = 4096, 16 << 20
	// snapshotPutsMax bounds the number of puts in an epoch for whose completion an origin waits.
	snapshotPutsMax = 1024
)

// snaps reports whether the target of p must take a snapshot after p. The lock is held.
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

// putDone is called after the issue of a put of this process: it has the target take a snapshot of
// the memory after the put. No lock is held.
func (w *Window) putDone(p *Pending) {
	w.lock.Lock()
	w.host.AwaitIssued(p.target, p.entry.call.Number, false)
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

// drop removes the snapshots for which which returns true.
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

// updated drops snapshots of memory that an access is about to change, legally or with a report of
// its own.
func (k *snapshots) updated(c *entry, list []span) {
	if c.kind != Get {
		k.drop(func(x *snapshot) bool { return x.within(list) })
	}
}

// within reports whether x contains bytes of a list.
func (x *snapshot) within(list []span) bool {
	_, found := common([]span{x.at}, list)
	return found
}

// turnOff ends snapshots in this window.
func (k *snapshots) turnOff() { *k = snapshots{off: true} }

// changed returns an error if memory differs from a snapshot of an epoch of that kind, and drops
// these snapshots. end is the call that has ended the epoch. For Fence only snapshots of the last
// epoch are compared, since another goroutine of an origin may be late. No lock is held.
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
	return class.Errorf(class.RMAConflict, "%s have changed since %s, before %s: a store here, %s, conflicts with it",
		w.bytes(w.host.Comm().Rank, found.at), found.entry.text(), w.Called(&end, " at "), which)
}

// differ returns the range of bytes in which a and b, of equal length, differ.
func differ(a, b []byte) (lo, hi int) {
	for lo < len(a) && a[lo] == b[lo] {
		lo++
	}
	hi = len(a)
	for hi > lo && a[hi-1] == b[hi-1] {
		hi--
	}
	return lo, hi
}
