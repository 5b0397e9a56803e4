package world

import (
	"cmp"
	"context"
	"errors"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/meet"
)

// Spawn starts a job for the members of over, and connects them with its processes. At the root, what says what is
// started, or bad why nothing is; the others pass nil, and get no answer. It is collective over the members.
func (w *World) Spawn(ctx context.Context, over *comm.Comm, root int, what *boot.Spawn, bad *class.Error) (*comm.Comm, *boot.Spawned, error) {
	if over.Rank != root {
		core, err := w.Meet.Accept(context.Background(), "", over, root)
		return core, nil, err
	}
	if bad != nil {
		return nil, nil, w.Meet.Refuse(over, root, coll.CallAccept, bad)
	}
	port, err := w.Meet.Open(meet.Options{})
	if err != nil {
		return nil, nil, w.Meet.Refuse(over, root, coll.CallAccept, err)
	}
	defer w.Meet.ClosePort(port)
	what.Parent = port
	answer, err := w.boot.Spawn(ctx, what)
	if err == nil && answer.Job == "" {
		err = errors.New(answer.Why)
	}
	if err != nil {
		return nil, nil, w.Meet.Refuse(over, root, coll.CallAccept, &class.Error{Class: class.Spawn, Text: cmp.Or(err.Error(), "the launcher gives no reason"), Cause: err})
	}
	core, err := w.Meet.Accept(ctx, port, over, root)
	return core, answer, err
}

// meetParent connects the processes of a job that was spawned with those that have spawned it. It is collective
// over the job.
func (w *World) meetParent() (err error) {
	if port := w.boot.Job().Parent; port != "" {
		w.Parent, err = w.Meet.Connect(context.Background(), port, w.Comm, 0)
	}
	return err
}
