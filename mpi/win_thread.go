package mpi

import (
	"sync"
	"sync/atomic"
)

// maxThreads is one more than the highest number of a thread that has operations of its own:
// threads beyond share those of the window.
const maxThreads = 1 << 16

// threadList is what each thread that has used a window under thread scope uses it by, by its
// number.
type threadList struct {
	mu sync.Mutex
	// windows is read by all threads without the lock, and replaced under it: what was
	// stored once is not written to.
	windows atomic.Pointer[[]*Window]
}

// OfThread is the window as one thread of a program uses it for operations, flushes and
// orders: w itself, unless its mpi_win_scope is "thread". Then each number, which names a
// thread and is asked for only here, has operations of its own, so that a flush through what
// OfThread returns covers those of that thread. It is for bindings of languages in which
// threads are known: goroutines have a duplicate each, see Win.Dup.
//
// What is returned has name, hints and error handler of w, is w to error handlers, and is
// freed with it: Free of it is ErrWin.
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

// addThread is OfThread for a thread that is new. The first one has the window itself.
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
			return w // freed, or of a memory handle: what is wrong, the call says
		}
		t = &Window{v: v, w: w.w, c: w.c, align: w.align}
	}
	list := make([]*Window, max(len(old), n+1))
	copy(list, old)
	list[n] = t
	w.threads.windows.Store(&list)
	return t
}

// eachThread calls f with what OfThread has made.
func (w *Window) eachThread(f func(t *Window)) {
	if list := w.threads.windows.Load(); list != nil {
		for _, t := range *list {
			if t != nil && t != w {
				f(t)
			}
		}
	}
}

// endThreads frees what OfThread has made. What was issued by it is complete when the epoch
// ends.
func (w *Window) endThreads() {
	w.threads.mu.Lock()
	defer w.threads.mu.Unlock()
	w.eachThread(func(t *Window) { t.v.Free() }) // a duplicate, and not the last: cannot fail
	w.threads.windows.Store(nil)
}
