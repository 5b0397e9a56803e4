package file

import "sync"

// Collective calls on a file use its communicator in the order in which the program makes them. Those
// that do not block are carried out by one goroutine for each file, which ends when nothing is left;
// a call that blocks first waits until that goroutine is done. So all members use the communicator
// in the same order.
//
// Rejected: workers of the pool. A worker waits for other members, and these may have the files in
// another order: all workers could wait for accesses for which elsewhere no worker is left.

// callQueue is the collective calls of a file that do not block and are not complete.
type callQueue struct {
	mu    sync.Mutex
	empty sync.Cond // its L is mu
	calls []func()
	busy  bool // the goroutine runs
}

// add has the file's goroutine call do, after what has been added before.
func (q *callQueue) add(do func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, do)
	if !q.busy {
		q.busy = true
		go q.work()
	}
}

func (q *callQueue) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) > 0 {
		do := q.calls[0]
		q.calls[0] = nil
		q.calls = q.calls[1:]
		q.mu.Unlock()
		do()
		q.mu.Lock()
	}
	q.calls, q.busy = nil, false
	q.empty.Broadcast()
}

// wait returns when nothing is left.
func (q *callQueue) wait() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.busy {
		q.empty.Wait()
	}
}
