package pool

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// A worker runs the tasks that it gets, each in a goroutine of its own: a task that hangs does not
// keep the worker from learning that the master cancels it, or is lost.
type worker struct {
	mu      sync.Mutex
	running map[uint64]context.CancelFunc // by number of the task
	tasks   sync.WaitGroup
}

// start runs a task in a goroutine, which passes the answer to reply. The task may end the goroutine.
func (w *worker) start(number uint64, name string, arg []byte, reply func(answer []byte)) {
	ctx := w.begin(number)
	w.tasks.Go(func() {
		var answer []byte
		returned := false
		defer func() {
			if !returned {
				answer = ended(recover())
			}
			w.end(number)
			reply(answer)
		}()
		answer = result(ctx, name, arg)
		returned = true
	})
}

// result is the answer of a function that returns.
func result(ctx context.Context, name string, arg []byte) []byte {
	out, err := functions.call(ctx, name, arg)
	if err != nil {
		kind, class := causeOf(err)
		return encodeError(answerError, kind, class, err.Error(), "")
	}
	return append([]byte{answerResult}, out...)
}

// ended is the answer of a function that has panicked with p or, if p is nil, ended its goroutine. The
// stack is that of the panic as long as a deferred function calls ended.
func ended(p any) []byte {
	if p == nil {
		return encodeError(answerError, causeUnknown, 0, "the function has ended its goroutine by runtime.Goexit", "")
	}
	kind, class := byte(causeUnknown), mpi.Class(0)
	if err, ok := p.(error); ok {
		kind, class = causeOf(err)
	}
	return encodeError(answerPanic, kind, class, fmt.Sprint(p), string(debug.Stack()))
}

// begin records that a task runs, and returns its context.
func (w *worker) begin(number uint64) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	if w.running == nil {
		w.running = map[uint64]context.CancelFunc{}
	}
	w.running[number] = cancel
	w.mu.Unlock()
	return ctx
}

// end is called when a task has its answer.
func (w *worker) end(number uint64) {
	w.mu.Lock()
	cancel := w.running[number]
	delete(w.running, number)
	w.mu.Unlock()
	cancel()
}

// cancel ends the context of a task, if that still runs.
func (w *worker) cancel(number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel := w.running[number]; cancel != nil {
		cancel()
	}
}

// cancelAll ends the contexts of all tasks.
func (w *worker) cancelAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cancel := range w.running {
		cancel()
	}
}

// serve runs the tasks that the master sends on c, until it closes the pool.
func (w *worker) serve(c *mpi.Comm, master int) error {
	defer w.tasks.Wait()
	for {
		message, st, err := mpi.RecvSlice[byte](c, master, mpi.AnyTag)
		if err != nil {
			w.cancelAll()
			return fmt.Errorf("pool: worker %d of %s has lost rank %d, which has the pool: %w", c.Rank(), c.Name(), master, err)
		}
		if st.Tag == tagControl {
			if len(message) == 0 || message[0] == controlClose {
				return nil
			}
			if number, _, err := uvarint(message[1:]); err == nil {
				w.cancel(number)
			}
			continue
		}
		number, name, arg, err := decodeTask(message)
		if err != nil {
			return fmt.Errorf("pool: worker %d of %s: %w", c.Rank(), c.Name(), err)
		}
		w.start(number, name, arg, func(answer []byte) {
			mpi.Send(c, answer, master, st.Tag) // if the master is lost, the loop above learns it
		})
	}
}
