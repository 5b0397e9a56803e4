package pool

import (
	"errors"
	"fmt"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// A Pool is workers, and the tasks that wait for them. Any goroutine may start tasks. It exists while
// the function that has got it from Over, Spawn or Local runs.
//
// Each worker has slots, as many as tasks may be with it at once, and each slot a goroutine: it takes
// a task from the queue, sends it, and sleeps in the receive of the answer. So nothing polls, a task
// leaves the queue only when a worker has room for it, and the death of a worker is an error of
// the receives from it, and of no others. One goroutine that receives from any source would need
// a way to wake it for a new task, and its receive would fail for every rank that has died before.
type Pool struct {
	options options
	queue   queue
	slots   sync.WaitGroup
	room    int                  // how many tasks run at once, when all workers live
	spawn   func() (link, error) // starts a worker in the place of one that has died; nil: none is replaced
	stop    func()               // ends spawn; nil if spawn is
}

// options are what Options set.
type options struct {
	inFlight, retries int
	info              *mpi.Info
}

// An Option changes how a pool works.
type Option func(o *options)

// InFlight lets n tasks be with each worker at once, which runs them in goroutines of their own; 1
// unless set. With 2 a worker computes while an answer and the next task travel, which pays for
// tasks of microseconds; with the number of its cores, a worker uses them all.
func InFlight(n int) Option { return func(o *options) { o.inFlight = n } }

// Retry runs a task again whose worker has died, at most n times; 0 unless set, since the task may
// have had effects, and may be what has killed the worker.
func Retry(n int) Option { return func(o *options) { o.retries = n } }

// Over makes a pool of the ranks of c: rank 0 calls run with it, and the others are its workers.
// Alone, rank 0 runs the tasks itself. Over returns everywhere after run has returned and, if that was
// without an error, after all tasks have ended; if run returns an error, the contexts of all tasks end,
// and tasks that still wait do not begin. Then Over returns this error on rank 0, and no error on
// others. Collective over c, which must not be an intercommunicator.
//
// Errors: those of Comm.Dup; ErrArg for options out of range; ErrProcFailed on a worker if rank 0 is lost.
func Over(c *mpi.Comm, run func(p *Pool) error, with ...Option) error {
	p, err := newPool(with)
	if err != nil {
		return err
	}
	if c.Inter() {
		return fmt.Errorf("pool: Over: %s is an intercommunicator (%w)", c.Name(), mpi.ErrComm)
	}
	own, err := c.Dup()
	if err != nil {
		return err
	}
	own.SetName("pool")
	own.SetErrhandler(mpi.ErrorsReturn)
	if c.Rank() != 0 {
		w := &worker{}
		if err := w.serve(own, 0); err != nil {
			return err
		}
		return own.Free()
	}
	var links []link
	for rank := 1; rank < c.Size(); rank++ {
		links = append(links, &remote{c: own, rank: rank, number: rank})
	}
	if c.Size() == 1 {
		links = append(links, &local{})
	}
	if err := p.serve(links, run); err != nil {
		own.Free()
		return err
	}
	if err := own.Free(); !errors.Is(err, mpi.ErrProcFailed) { // which the tasks of the worker have had
		return err
	}
	return nil
}

// Local calls run with a pool of n workers that are goroutines of this process, without MPI: for tests of
// what tasks do. Arguments and results are encoded all the same. It returns as Over does on rank 0.
func Local(n int, run func(p *Pool) error, with ...Option) error {
	p, err := newPool(with)
	if err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("pool: Local: %d workers, want at least 1 (%w)", n, mpi.ErrArg)
	}
	links := make([]link, n)
	for i := range links {
		links[i] = &local{number: i}
	}
	return p.serve(links, run)
}

func newPool(with []Option) (*Pool, error) {
	p := &Pool{options: options{inFlight: 1}}
	for _, o := range with {
		o(&p.options)
	}
	if p.options.inFlight < 1 || p.options.retries < 0 {
		return nil, fmt.Errorf("pool: %d tasks in flight and %d retries, want at least 1 and 0 (%w)", p.options.inFlight, p.options.retries, mpi.ErrArg)
	}
	p.queue.init()
	return p, nil
}

// serve calls run while the slots of all workers do tasks.
func (p *Pool) serve(links []link, run func(p *Pool) error) error {
	p.room = len(links) * p.options.inFlight
	p.queue.expect(p.room)
	for _, l := range links {
		p.join(l)
	}
	returned := false
	defer func() {
		if !returned { // run has panicked: nobody waits for tasks
			p.abort()
			p.queue.close()
		}
	}()
	err := run(p)
	returned = true
	if err != nil {
		p.abort()
	}
	p.queue.close()
	p.slots.Wait()
	for _, m := range p.queue.members {
		m.close(m.dead)
	}
	return err
}

// join adds a worker, for whose slots the queue waits.
func (p *Pool) join(l link) {
	m := &member{link: l}
	p.queue.join(m)
	for slot := range p.options.inFlight {
		p.slots.Go(func() { p.work(m, slot+1) })
	}
}

// abort ends all tasks.
func (p *Pool) abort() {
	if p.stop != nil {
		p.stop()
	}
	p.queue.abort()
}

// replace starts a worker in the place of one that has died.
func (p *Pool) replace() {
	l, err := p.spawn()
	if err != nil {
		p.queue.lack(p.options.inFlight, err)
		return
	}
	p.join(l)
}

// work does tasks in one slot of a worker, until the pool is closed or the worker has died.
func (p *Pool) work(m *member, slot int) {
	defer p.queue.lack(1, nil)
	for t := p.queue.take(m); t != nil; t = p.queue.take(m) {
		answer, err := m.do(slot, t)
		died := errors.Is(err, mpi.ErrProcFailed)
		if died {
			t.deaths++
		}
		again := died && t.deaths <= p.options.retries
		if first := p.queue.done(t, m, died, again); first && p.spawn != nil && p.queue.needs(p.options.inFlight) {
			p.slots.Go(p.replace)
		}
		switch {
		case err == nil:
			t.finish(m.worker(), answer)
		case !died:
			t.fail(m.worker(), err)
		case !again:
			t.fail(m.worker(), fmt.Errorf("the worker has died: %w", err))
		}
	}
}

// A member is a worker of a pool.
type member struct {
	link
	dead bool // guarded by the queue's mutex
}

// A link is the way to a worker. Several slots may call do at once.
type link interface {
	// do sends a task and waits for the answer. When the context of the task ends, the worker learns
	// it. The error is mpi.ErrProcFailed if the worker has died.
	do(slot int, t *task) (answer []byte, err error)
	// close is called when no task runs.
	close(dead bool)
	// worker is the number of the worker in errors.
	worker() int
}

// remote is a worker that is a process of a communicator.
type remote struct {
	c            *mpi.Comm
	rank, number int
	spawned      bool // c is an intercommunicator with the worker alone
}

func (r *remote) do(slot int, t *task) ([]byte, error) {
	if err := mpi.Send(r.c, encodeTask(t.number, t.name, t.arg), r.rank, slot); err != nil {
		return nil, err
	}
	defer t.onCancel(func() { mpi.Send(r.c, encodeCancel(t.number), r.rank, tagControl) })()
	answer, _, err := mpi.RecvSlice[byte](r.c, r.rank, slot)
	return answer, err
}

func (r *remote) worker() int { return r.number }

func (r *remote) close(dead bool) {
	if !dead {
		mpi.Send(r.c, []byte{controlClose}, r.rank, tagControl)
	}
	switch {
	case r.spawned && dead:
		r.c.Free()
	case r.spawned:
		r.c.Disconnect()
	}
}

// local is a worker that is goroutines of this process.
type local struct {
	number int
	w      worker
}

func (l *local) do(_ int, t *task) ([]byte, error) {
	answers := make(chan []byte, 1)
	l.w.start(t.number, t.name, t.arg, func(answer []byte) { answers <- answer })
	defer t.onCancel(func() { l.w.cancel(t.number) })()
	return <-answers, nil
}

func (l *local) close(bool)  { l.w.tasks.Wait() }
func (l *local) worker() int { return l.number }
