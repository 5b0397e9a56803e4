package meet

import (
	"context"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
)

// strangers implements coll.Strangers: the groups meet at a port that the leader of the first one opens for that, and
// whose name it tells the other leader. In the end the leader of the second group tells how that was, so that the
// first one does not wait for a group that cannot connect.
func (e *Engine) strangers(local *comm.Comm, leader int, first bool, swap func(out, in []byte) error) (*comm.Comm, error) {
	ctx := context.Background()
	switch {
	case local.Rank != leader && first:
		return e.Accept(ctx, "", local, leader)
	case local.Rank != leader:
		return e.Connect(ctx, "", local, leader)
	case first:
		return e.acceptStrangers(ctx, local, leader, swap)
	}
	name := make([]byte, maxPortName)
	if err := swap(make([]byte, len(name)), name); err != nil {
		return nil, e.Refuse(local, leader, call.CommConnect, err)
	}
	c, err := e.Connect(ctx, strings.TrimRight(string(name), "\x00"), local, leader)
	outcome := []byte{0}
	if err != nil {
		outcome[0] = 1
	}
	if lost := swap(outcome, make([]byte, 1)); err == nil && lost != nil {
		err = lost
	}
	return c, err
}

// acceptStrangers is strangers at the leader of the first group.
func (e *Engine) acceptStrangers(ctx context.Context, local *comm.Comm, leader int, swap func(out, in []byte) error) (*comm.Comm, error) {
	out := make([]byte, maxPortName)
	name, err := e.Open(Options{})
	if err == nil {
		defer e.ClosePort(name)
		copy(out, name)
	}
	if lost := swap(out, make([]byte, len(out))); err == nil {
		err = lost
	}
	if err != nil {
		return nil, e.Refuse(local, leader, call.CommAccept, err)
	}
	ctx, give := context.WithCancelCause(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		outcome := []byte{0}
		if err := swap([]byte{0}, outcome); err != nil {
			give(&class.Error{Class: class.ProcFailed, Text: err.Error(), Cause: err})
		} else if outcome[0] != 0 {
			give(class.Errorf(class.Port, "the other group cannot connect with this one"))
		}
	}()
	c, err := e.Accept(ctx, name, local, leader)
	<-told
	give(nil)
	return c, err
}
