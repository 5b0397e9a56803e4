package pool

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/planted"
)

// A Future is the result of a task that Submit has started.
type Future[R any] struct {
	t     *task
	ctx   context.Context // that Submit got
	codec Codec

	once  sync.Once
	value R
	err   error
}

// Submit starts a task: f with arg, which is encoded before Submit returns. Submit does not wait; the task does,
// until a worker has room for it. When ctx ends, so do a task that waits and the context of one that runs.
// Any goroutine may call Submit, as long as the pool exists; later the error of the task says so.
func Submit[A, R any](ctx context.Context, p *Pool, f *Func[A, R], arg A) *Future[R] {
	return submit(ctx, p, f, arg, nil)
}

// submit is Submit; ended is called when the task has ended.
func submit[A, R any](ctx context.Context, p *Pool, f *Func[A, R], arg A, ended func()) *Future[R] {
	t := &task{name: f.name, ended: ended, done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(ctx)
	data, err := f.codec.Marshal(arg)
	if err != nil {
		t.fail(-1, fmt.Errorf("cannot encode the argument, a %T: %w", arg, err))
	} else {
		t.arg = data
		p.queue.put(t)
	}
	return &Future[R]{t: t, ctx: ctx, codec: f.codec}
}

// Done is closed when the task has ended.
func (f *Future[R]) Done() <-chan struct{} { return f.t.done }

// Wait waits for the task and returns its result or an *Error. When the context that Submit got ends, Wait does
// not wait until the function has noticed.
func (f *Future[R]) Wait() (R, error) {
	select {
	case <-f.t.done:
	default:
		select {
		case <-f.t.done:
		case <-f.ctx.Done():
			var none R
			return none, contextError(f.ctx, f.t.name)
		}
	}
	f.once.Do(func() {
		f.err = f.t.err
		if f.err != nil {
			return
		}
		if err := f.codec.Unmarshal(f.t.result, &f.value); err != nil {
			f.err = &Error{Func: f.t.name, Worker: -1, Text: fmt.Sprintf("cannot decode the result of %d bytes as %T: %v", len(f.t.result), f.value, err), cause: err}
		}
		f.t.result = nil
	})
	return f.value, f.err
}

// contextError is the error of a task whose context has ended.
func contextError(ctx context.Context, name string) error {
	return &Error{Func: name, Worker: -1, Text: ctx.Err().Error(), cause: ctx.Err()}
}

// Map runs f with each of args, and returns the results in the same order. The first error, in the order of
// args, ends the contexts of the other tasks and is returned.
func Map[A, R any](ctx context.Context, p *Pool, f *Func[A, R], args []A) ([]R, error) {
	results := make([]R, 0, len(args))
	for r, err := range MapSeq(ctx, p, f, slices.Values(args)) {
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// MapSeq runs f with each of args, and yields each result or *Error in the same order. The loop over it reads args in
// its own goroutine, and not far ahead: at most twice as many as the workers run at once have been read and
// not yielded, so that args may be endless. Leaving the loop ends the contexts of tasks that run. The end of ctx
// is the last error.
func MapSeq[A, R any](ctx context.Context, p *Pool, f *Func[A, R], args iter.Seq[A]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var begun []*Future[R]
		next := func() bool { // yields the oldest
			r, err := begun[0].Wait()
			if ctx.Err() != nil {
				var none R
				yield(none, contextError(ctx, f.name))
				return false
			}
			begun = begun[1:]
			return yield(r, err)
		}
		for arg := range args {
			begun = append(begun, Submit(ctx, p, f, arg))
			if len(begun) >= p.ahead() && !next() {
				return
			}
		}
		for len(begun) > 0 && next() {
		}
	}
}

// ahead is how many tasks a loop has begun at most before it yields one. The first of them may take longest: the
// workers have others meanwhile.
func (p *Pool) ahead() int {
	if planted.TasksReadAhead {
		return 1 << 20
	}
	return 2 * p.room
}

// A Result is what a task of MapUnordered has found.
type Result[R any] struct {
	Index int // of the argument, from 0; -1 if the context has ended
	Value R
	Err   error // an *Error or nil
}

// MapUnordered is MapSeq that yields results as soon as they come, in any order: a task that takes long delays no
// others.
func MapUnordered[A, R any](ctx context.Context, p *Pool, f *Func[A, R], args iter.Seq[A]) iter.Seq[Result[R]] {
	return func(yield func(Result[R]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		begun := map[int]*Future[R]{}
		ended := make(chan int, p.ahead()) // has room for all that are begun
		next := func() bool {              // yields the first that ends
			i := -1
			select {
			case i = <-ended:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				yield(Result[R]{Index: -1, Err: contextError(ctx, f.name)})
				return false
			}
			r, err := begun[i].Wait()
			delete(begun, i)
			return yield(Result[R]{i, r, err})
		}
		count := 0
		for arg := range args {
			i := count
			begun[i] = submit(ctx, p, f, arg, func() { ended <- i })
			count++
			if len(begun) >= p.ahead() && !next() {
				return
			}
		}
		for len(begun) > 0 && next() {
		}
	}
}
