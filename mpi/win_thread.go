package mpi

import (
	"sync"
	"sync/atomic"
)

// maxThreads is the limit for numbers of threads that have separate operations: threads with
// this number or a larger one share the operations of the window.
const maxThreads = 1 << 16

// threadList maps the number of each thread that has used a window of scope ScopeThread to the
// window by which it uses it.
type threadList struct {
	mu sync.Mutex
	// windows is read by all threads without the lock, and replaced under the lock. A stored
	// slice is never changed.
	windows atomic.Pointer[[]*Window]
}

// OfThread is the window that one thread of a program uses for operations, flushes and orders.
// It is w itself unless the mpi_win_scope of w is "thread". In that case each number, which
// identifies a thread and is requested only here, has separate operations, so that a flush of
// the returned window covers those of that thread. It exists for bindings for languages in which
// threads have identities; goroutines use a duplicate each: see Win.Dup.
//
// The returned window has the name, the hints and the error handler of w, which gets w, and is
// freed with w: Free of it is ErrWin.
//
// C: none; the calling thread of mpi_win_scope, an extension.
func (internals) OfThread(w *Window, number func() int) *Window {
	if w == nil || !w.v.Scoped() || w.c.win != w {
		return w
	}
	n := number()
	if n < 0 || n >= maxThreads {
		return w
	}
	if list := w.threads.windows.Load(); list != nil && n < len(*list) && (*list)[n] != nil {
		return (*list)[n]
	}
	return w.addThread(n)
}

// addThread is OfThread for a new thread. The first thread uses the window itself.
func (w *Window) addThread(n int) *Window {
	w.threads.mu.Lock()
	defer w.threads.mu.Unlock()
	var old []*Window
	if list := w.threads.windows.Load(); list != nil {
		old = *list
	}
	if n < len(old) && old[n] != nil {
		return old[n]
	}
	t := w
	if old != nil {
		v, err := w.v.Dup()
		if err != nil {
			return w // freed, or made from a memory handle: the call itself returns the error
		}
		t = &Window{v: v, w: w.w, c: w.c, align: w.align}
	}
	list := make([]*Window, max(len(old), n+1))
	copy(list, old)
	list[n] = t
	w.threads.windows.Store(&list)
	return t
}

// eachThread calls f with the windows that OfThread has made.
func (w *Window) eachThread(f func(t *Window)) {
	if list := w.threads.windows.Load(); list != nil {
		for _, t := range *list {
			if t != nil && t != w {
				f(t)
			}
		}
	}
}

// endThreads frees the windows that OfThread has made. Their operations are complete when the
// epoch ends.
func (w *Window) endThreads() {
	w.threads.mu.Lock()
	defer w.threads.mu.Unlock()
	w.eachThread(func(t *Window) { t.v.Free() }) // cannot fail: it is a duplicate, and not the last one
	w.threads.windows.Store(nil)
}
