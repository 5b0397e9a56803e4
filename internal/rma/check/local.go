package check

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/call"
)

// localAccess describes loads or stores of the program that are in progress.
type localAccess struct {
	entry
	span
}

// place is memory that call attach attached to a dynamic window, and call detach detached.
type place struct {
	span
	attach, detach Call
}

const (
	// placesMax is the largest number of places in a log.
	placesMax = 1024
	// nearby is the largest distance in bytes of memory that the program may have meant.
	nearby = 1 << 16
)

// Access calls fn, which loads, or with store stores, n bytes of this process's window memory: from
// byte off on, or in a dynamic window from address off on. It compares the access with the operations
// of others, including those that come while fn runs. It takes the lock, but not while fn runs.
func (w *Window) Access(call Call, store bool, off uint64, n int64, fn func()) error {
	a := &localAccess{entry{call: call, origin: int32(w.host.Comm().Rank), kind: Load}, span{off, off + uint64(n)}}
	if store {
		a.kind = Store
	}
	if err := w.begin(a); err != nil {
		return err
	}
	defer w.finish(a)
	fn()
	return nil
}

// begin logs a, unless it conflicts with an access in the log.
func (w *Window) begin(a *localAccess) error {
	rank := w.host.Comm().Rank
	for range incompleteMax {
		w.lock.Lock()
		a.fences = w.fences
		other, where, found := w.conflict(&a.entry, []span{a.span})
		if !found || w.lost {
			w.local = append(w.local, a)
			w.lock.Unlock()
			return nil
		}
		w.lock.Unlock()
		if at, incomplete := w.incomplete(rank, &other, where, []span{a.span}); incomplete {
			return w.conflictError(rank, &a.entry, &other, at)
		}
	}
	return nil
}

// finish removes a from the log.
func (w *Window) finish(a *localAccess) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for i, o := range w.local {
		if o == a {
			last := len(w.local) - 1
			w.local[i], w.local[last] = w.local[last], nil
			w.local = w.local[:last]
			return
		}
	}
}

// Attached notes memory of a dynamic window that the program attaches. It takes the lock.
func (w *Window) Attached(call Call, addr uint64, n int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.places) == placesMax {
		w.places = w.places[1:]
	}
	w.places = append(w.places, place{span: span{addr, addr + uint64(n)}, attach: call})
}

// Detached notes that the program detaches memory. It takes the lock.
func (w *Window) Detached(by Call, addr uint64) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for i := range w.places {
		if p := &w.places[i]; p.lo == addr && p.detach.Number == call.None {
			p.detach = by
		}
	}
}

// unattached returns the first span of a list that is not attached, and memory near it that is or
// was attached. In windows that are not dynamic it finds nothing: origins check the bounds. The
// lock is held.
func (w *Window) unattached(list []span) (where span, near string, out bool) {
	if !w.dynamic {
		return span{}, "", false
	}
	for _, x := range list {
		if _, err := w.host.Memory(x.lo, int64(x.hi-x.lo)); err == nil {
			continue
		}
		return x, w.near(x), true
	}
	return span{}, "", false
}

// near describes memory beside or below x that is or was attached; it is empty if there is none.
func (w *Window) near(x span) string {
	var best *place
	far := ^uint64(0)
	for i := range w.places {
		p := &w.places[i]
		d := uint64(0)
		switch {
		case x.lo > p.hi:
			d = x.lo - p.hi
		case p.lo > x.hi:
			d = p.lo - x.hi
		}
		if d <= far { // of two at the same distance the later one
			best, far = p, d
		}
	}
	if best == nil || far > nearby {
		return ""
	}
	text := fmt.Sprintf("%#x to %#x were attached by %s", best.lo, best.hi-1, w.Called(&best.attach, " at "))
	if best.detach.Number != call.None {
		text += fmt.Sprintf(" and detached by %s", w.Called(&best.detach, " at "))
	}
	return text[:min(len(text), 2*siteMax)]
}
