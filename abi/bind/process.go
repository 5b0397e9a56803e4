package bind

import (
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/mpi"
)

// start is MPI_Init.
func (l *Lib) start() error { return l.join(mpi.ThreadSingle) }

// startThread is MPI_Init_thread.
func (l *Lib) startThread(required int) (provided int, err error) {
	return int(mpi.ThreadMultiple), l.join(mpi.ThreadLevel(required))
}

// join joins the job. Errors are fatal from then on, unless the environment chooses another
// initial error handler.
func (l *Lib) join(required mpi.ThreadLevel) error {
	l.starting.Lock()
	defer l.starting.Unlock()
	if err := l.prepare(required); err != nil {
		return err
	}
	c, err := engine.InitErrhandler(mpi.ErrorsAreFatal)
	if err != nil {
		return err
	}
	c.SetName("MPI_COMM_WORLD") // this call and the next cannot fail
	c.Self().SetName("MPI_COMM_SELF")
	if p := c.Parent(); p != nil {
		p.SetName("MPI_COMM_PARENT")
		l.parent = l.comms.put(p)
	}
	l.world.Store(c)
	l.becomeMain()
	if !l.begin() {
		l.openFirst()
	}
	l.state.Store(running)
	return nil
}

// prepare tells the engine, before it starts, how C differs. The caller holds starting.
func (l *Lib) prepare(required mpi.ThreadLevel) error {
	if l.prepared {
		return nil
	}
	engine.NameCalls(nameOf)
	if checking() && l.hooks.Caller != nil {
		engine.LocateCalls(callsite.Locator{
			Here:  func() callsite.Call { return callsite.Call{PC: l.hooks.Caller()} },
			Place: l.sources.place, File: l.sources.file, Lines: l.sources.lines,
		})
		l.noteMakers()
	}
	engine.DescribeErrors(l.describe)
	several := required >= mpi.ThreadMultiple
	watchdog := l.hooks.Watchdog
	if !sharesRecords(l.hooks.Fast) {
		watchdog = nil
	}
	engine.LockedThreads(several, l.hooks.Places, watchdog)
	if several && l.hooks.Several != nil {
		l.hooks.Several()
	}
	if l.hooks.EndByFault != nil {
		engine.OnFault(l.ServiceFault)
	}
	if l.hooks.Leave != nil {
		engine.OnLeave(l.hooks.Leavers, l.hooks.Leave)
	}
	if l.hooks.Variable != nil {
		engine.Environment(l.hooks.Variable)
	}
	if err := l.startFortran(); err != nil {
		return err
	}
	l.startTypes()
	l.prepared = true
	return nil
}

// begin starts what follows the start of the engine, and reports whether it had to. The caller
// holds starting.
func (l *Lib) begin() bool {
	if l.begun {
		return false
	}
	l.begun = true
	l.startFlat()
	l.startFast()
	return true
}

// stop is MPI_Finalize.
func (l *Lib) stop() error {
	l.stopFast()
	if err := mpi.Finalize(); err != nil {
		return err
	}
	l.state.Store(finalized)
	l.reportLeftovers(l.world.Load().Rank())
	l.lastOut()
	return nil
}

// lastOut calls all destructors that are left if the process has no world model and no session any
// more.
func (l *Lib) lastOut() {
	if !l.usable() {
		l.destructors.flush(true)
	}
}

// initialized and isFinalized are MPI_Initialized and MPI_Finalized.
func (l *Lib) initialized() bool { return l.state.Load() != beforeInit }
func (l *Lib) isFinalized() bool { return l.state.Load() == finalized }

// becomeMain makes the calling thread the main thread of MPI. The caller holds starting.
func (l *Lib) becomeMain() {
	l.main = true
	if l.hooks.BecomeMain != nil {
		l.hooks.BecomeMain()
	}
}

// isThreadMain is MPI_Is_thread_main: whether the calling thread has called MPI_Init or MPI_Init_thread,
// or, in a process that has called neither, the first MPI_Session_init. Halo treats all threads alike,
// even if the program has asked for MPI_THREAD_FUNNELED.
func (l *Lib) isThreadMain() bool {
	if l.hooks.IsMain == nil {
		return mpi.IsThreadMain()
	}
	return l.hooks.IsMain()
}
