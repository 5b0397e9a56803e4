package world

import (
	"context"
	"strings"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// The engine of a process has several users: the world model, between Join and Close, and sessions,
// between Use and Leave. It starts with the first one and runs until the process ends, since a
// process that has no user may have one again, and others may have sent to it meanwhile. Only the
// launcher is told that a process without a user may end.

// Join joins the world model, and makes the communicator of all processes. It is collective over
// the job, and called once.
func (w *World) Join() error {
	w.mu.Lock()
	began := w.users > 0 || w.found
	w.users++
	err := w.tell()
	w.mu.Unlock()
	if began && err == nil {
		err = w.boot.Init()
	}
	w.note.SetStage(shmfmt.StageInit)
	if err == nil && w.boot.Job().Size > 1 {
		err = w.exchange()
	}
	if err == nil {
		err = w.attachWorld()
	}
	if err == nil {
		err = w.meetParent()
	}
	w.note.SetStage(shmfmt.StageRunning)
	return err
}

// exchange tells the other processes how this one is reached and whether it checks, and learns
// the same of them. After it they use each other's memory.
func (w *World) exchange() error {
	addrs, checkers, err := exchangeAddresses(w.boot, w.way.addr, w.checks)
	if err == nil && w.way.far != nil {
		err = w.way.far.Start(addrs)
	}
	w.Proc.Lock()
	copy(w.checkers, checkers)
	w.Proc.Unlock()
	return err
}

// attachWorld makes the communicator of all processes.
func (w *World) attachWorld() error {
	p := w.Proc
	p.Lock()
	defer p.Unlock()
	all := make([]int32, p.Job().Size)
	for i := range all {
		all[i] = int32(i)
	}
	c := comm.New(p, p.WorldContext(), p.Job().Rank, all)
	err := w.Coll.Attach(c, coll.WorldSlot)
	w.Comm = c
	return err
}

// Use adds a session to the users. It does not need the other processes.
func (w *World) Use() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.found {
		value := w.way.addr
		if w.checks {
			value += checksMark
		}
		if err := w.boot.Publish([]byte(value)); err != nil {
			return err
		}
		w.found = true
		if w.way.far != nil {
			w.way.far.StartLookup(func(ctx context.Context, process int) (string, error) {
				value, err := w.boot.Lookup(ctx, process)
				addr, _ := strings.CutSuffix(string(value), checksMark)
				return addr, err
			})
		}
	}
	w.users++
	if w.users == 1 {
		w.note.SetStage(shmfmt.StageRunning)
	}
	return w.tell()
}

// Leave removes a session from the users.
func (w *World) Leave() error {
	w.P2P.DrainQueues()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users--
	if w.users == 0 {
		w.Meet.End()
		w.note.SetStage(shmfmt.StageFinalized)
	}
	return w.tell()
}

// Idle reports whether the process has no user.
func (w *World) Idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.users == 0
}

// tell tells the launcher whether the process has users, if that has changed. The caller holds mu.
func (w *World) tell() error {
	if idle := w.users == 0; idle != w.idle {
		w.idle = idle
		return w.boot.InUse(!idle)
	}
	return nil
}

// learn finds out which of some processes check, for sessions: after Join all are known. It is
// called without the lock, in checking mode.
func (w *World) learn(members []int32) error {
	w.Proc.Lock()
	joined := w.Comm != nil
	w.Proc.Unlock()
	if joined {
		return nil
	}
	for _, m := range members {
		if int(m) >= w.Proc.Job().Size { // of another job: its collectives are not checked
			continue
		}
		if value, err := w.boot.Lookup(context.Background(), int(m)); err != nil {
			return err
		} else if strings.HasSuffix(string(value), checksMark) {
			w.Proc.Lock()
			w.checkers[m] = true
			w.Proc.Unlock()
		}
	}
	return nil
}

// Model selects the contexts of the world model, for Pending: nil, which selects all, unless there
// was a session.
func (w *World) Model() func(ctx uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.found {
		return nil
	}
	return func(ctx uint64) bool { return !proc.InSession(ctx) }
}

// Pending returns an error if the program has started operations in contexts that of selects, and has
// not completed them; nil selects all. It takes the lock.
func (w *World) Pending(of func(ctx uint64) bool) error {
	if err := w.P2P.Pending(of); err != nil {
		return err
	}
	return w.Part.Pending(of)
}
