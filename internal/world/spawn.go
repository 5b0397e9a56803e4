package world

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/meet"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Spawn starts a job for the members of over, and connects them with its processes. At the root, what says what is
// started, or bad why nothing is; the others pass nil, and get no answer. It is collective over the members.
func (w *World) Spawn(ctx context.Context, over *comm.Comm, root int, what *boot.Spawn, bad *class.Error) (*comm.Comm, *boot.Spawned, error) {
	if over.Rank != root {
		core, err := w.Meet.Accept(context.Background(), "", over, root)
		return core, nil, err
	}
	if bad != nil {
		return nil, nil, w.Meet.Refuse(over, root, call.CommAccept, bad)
	}
	living, end := context.WithCancelCause(ctx)
	defer end(nil)
	what.Ended = func(why string) { end(&class.Error{Class: class.Spawn, Text: why}) }
	var answer *boot.Spawned
	ask := func(address string) (err error) {
		what.Parent, err = w.Meet.Open(meet.Options{Address: address})
		if err == nil {
			done := w.Meet.Waiting("Spawn of " + what.Blocks[0].Program)
			answer, err = w.boot.Spawn(ctx, what)
			done()
			w.takeNote()
		}
		return err
	}
	err := ask("")
	if err == nil && answer.Listen != "" { // the processes will be on other hosts, which do not reach the loopback address
		w.Meet.ClosePort(what.Parent)
		err = ask(answer.Listen)
	}
	defer w.Meet.ClosePort(what.Parent)
	if err == nil && answer.Job == "" {
		err = errors.New(answer.Why)
	}
	if err != nil {
		return nil, nil, w.Meet.Refuse(over, root, call.CommAccept, &class.Error{Class: class.Spawn, Text: cmp.Or(err.Error(), "the launcher gives no reason"), Cause: err})
	}
	core, err := w.Meet.Accept(living, what.Parent, over, root)
	return core, answer, err
}

// takeNote begins to write the wait note of a process that was started without a launcher, and has started one now.
func (w *World) takeNote() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.note != nil {
		return
	}
	n := note(w.boot)
	if n.note == nil {
		return
	}
	w.note = n.note
	w.note.SetSelf(os.Getpid())
	w.note.SetStage(shmfmt.StageRunning)
	w.Proc.Lock()
	w.Proc.SetNote(n.note, n.messages)
	w.Proc.Unlock()
}

// FreeSlots returns for how many more processes the hosts of the launcher have room.
func (w *World) FreeSlots(ctx context.Context) (int, error) {
	answer, err := w.boot.Spawn(ctx, &boot.Spawn{})
	switch {
	case err != nil:
		return 0, &class.Error{Class: class.Spawn, Text: err.Error(), Cause: err}
	case len(answer.Counts) != 1:
		return 0, &class.Error{Class: class.Spawn, Text: cmp.Or(answer.Why, "the launcher gives no number")}
	}
	return answer.Counts[0], nil
}

// meetParent connects the processes of a job that was spawned with those that have spawned it. It is collective
// over the job.
func (w *World) meetParent() (err error) {
	if port := w.boot.Job().Parent; port != "" {
		w.Parent, err = w.Meet.Connect(context.Background(), port, w.Comm, 0)
		if err != nil {
			return &class.Error{Class: class.ProcFailed, Text: "the processes that have spawned this job have ended, or given up: " + err.Error(), Cause: err}
		}
	}
	return nil
}
