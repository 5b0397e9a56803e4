package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/mpi"
)

// A task is one call of a function. It ends once: with an answer, or with an error.
type task struct {
	number uint64
	name   string
	arg    []byte
	ctx    context.Context
	cancel context.CancelFunc // of ctx
	deaths int                // of workers that had the task
	ended  func()             // is called when the task has ended; may be nil
	done   chan struct{}      // closed then; orders result and err before what reads them
	once   sync.Once
	result []byte
	err    error
}

// finish ends the task with the answer of a worker.
func (t *task) finish(worker int, answer []byte) {
	result, failed := decodeAnswer(answer)
	if failed != nil {
		failed.Func, failed.Worker = t.name, worker
		t.end(nil, failed)
		return
	}
	t.end(result, nil)
}

// fail ends the task with an error of this process.
func (t *task) fail(worker int, err error) {
	t.end(nil, &Error{Func: t.name, Worker: worker, Text: err.Error(), cause: err})
}

func (t *task) end(result []byte, err error) {
	t.once.Do(func() {
		t.result, t.err = result, err
		close(t.done)
		t.cancel()
		if t.ended != nil {
			t.ended()
		}
	})
}

// onCancel calls tell, once, if the context of the task ends before the caller calls stop. When stop returns,
// tell has returned or will not be called.
func (t *task) onCancel(tell func()) (stop func()) {
	told := make(chan struct{})
	unregister := context.AfterFunc(t.ctx, func() {
		defer close(told)
		tell()
	})
	return func() {
		if !unregister() {
			<-told
		}
	}
}

// errClosed is the error of tasks of a pool that is closed.
var errClosed = errors.New("the pool is closed: the function that has got it has returned")

// errDeserted is the error of tasks of a pool whose workers have all died.
var errDeserted = fmt.Errorf("no worker is left: all have died (%w)", mpi.ErrProcFailed)

// A queue holds the tasks that no worker has, in order.
type queue struct {
	mu      sync.Mutex
	news    *sync.Cond // a task has come, or the queue is closed, or a worker has died
	waiting []*task
	running map[*task]bool
	number  uint64 // of the last task
	slots   int    // that take tasks, or will when a worker has been started
	members []*member
	lost    error // why there are no slots; nil: workers have died
	closed  bool
	aborted bool
}

func (q *queue) init() {
	q.news = sync.NewCond(&q.mu)
	q.running = map[*task]bool{}
}

// put adds a task at the end.
func (q *queue) put(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number++
	t.number = q.number
	if err := q.refuses(); err != nil {
		t.fail(-1, err)
		return
	}
	q.waiting = append(q.waiting, t)
	q.news.Signal()
}

// refuses is why a task cannot wait. The caller holds mu.
func (q *queue) refuses() error {
	switch {
	case q.closed || q.aborted:
		return errClosed
	case q.slots == 0:
		return cmp.Or(q.lost, errDeserted)
	}
	return nil
}

// expect adds slots, whose workers join later.
func (q *queue) expect(slots int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slots += slots
}

// join adds a worker whose slots are expected.
func (q *queue) join(m *member) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.members = append(q.members, m)
}

// needs reports whether a worker is to be started in the place of one that has died, and expects its slots.
func (q *queue) needs(slots int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.aborted || q.closed && len(q.waiting) == 0 {
		return false
	}
	q.slots += slots
	return true
}

// take waits for a task for a worker. It is nil when the worker has died, or the queue is closed and no task
// can come back to it.
func (q *queue) take(m *member) *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !m.dead {
		for len(q.waiting) > 0 {
			t := q.waiting[0]
			q.waiting[0] = nil
			q.waiting = q.waiting[1:]
			if err := t.ctx.Err(); err != nil {
				t.fail(-1, err)
				continue
			}
			q.running[t] = true
			return t
		}
		if q.closed && len(q.running) == 0 {
			break
		}
		q.news.Wait()
	}
	return nil
}

// done is called when a worker no longer has a task. If that runs again, it is the next one, since it has
// waited already. It reports whether the death of the worker is news.
func (q *queue) done(t *task, m *member, died, again bool) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, t)
	first = died && !m.dead
	m.dead = m.dead || died && !planted.DeadTakesTasks
	if again {
		q.waiting = slices.Insert(q.waiting, 0, t)
	}
	if died || q.closed {
		q.news.Broadcast()
	}
	return first
}

// lack is called when slots take no tasks any more, with the reason if no worker could be started for them.
// With the last one, all tasks that wait fail.
func (q *queue) lack(slots int, why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if why != nil {
		q.lost = fmt.Errorf("no worker is left: all have died, and none could be started: %w", why)
	}
	q.slots -= slots
	if q.slots > 0 {
		return
	}
	for _, t := range q.waiting {
		t.fail(-1, cmp.Or(q.lost, errDeserted))
	}
	q.waiting = nil
}

// close lets the slots end when all tasks have.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.news.Broadcast()
}

// abort ends the contexts of all tasks, and refuses new ones.
func (q *queue) abort() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.aborted = true
	for _, t := range q.waiting {
		t.cancel()
	}
	for t := range q.running {
		t.cancel()
	}
}
