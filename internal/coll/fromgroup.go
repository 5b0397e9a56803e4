package coll

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Processes that share no communicator agree in a context that all compute from the group and a
// tag (proc.GroupContext). A communicator in that context exists during the call alone, and its
// collectives are messages: other processes may not have begun to use MPI yet, so that nothing
// else of them can be used. Frames wait for such a process in its memory, or until it has an
// address.
//
// In the first collective every member tells the others whether its arguments are valid, so that
// no member waits for one whose call has failed, and no member is ahead of another one that has not
// begun. Two calls with the same group and tag, one after the other, use the same context: both
// consist of the same messages between each pair, which match in order.

// The purposes of contexts of groups.
const (
	forComm      byte = iota // CreateFromGroup
	forGroup                 // each group of JoinGroups
	forTwoGroups             // the leaders in JoinGroups
)

// closingContext is the distance between the context of a communicator and that in which its
// members synchronise when they do not use it any more.
const closingContext = 5

// amongGroup returns the communicator for the agreement of a group that this process is in. own is
// the error in the arguments of this process, if there is one; all members return an error then.
// With such an error the communicator can still be used.
func (e *Engine) amongGroup(purpose byte, by call.Number, tag string, members []int32, own error) (*comm.Comm, error) {
	if own == nil {
		own = e.learn(members)
	}
	rank := slices.Index(members, int32(e.p.Job().Rank))
	group := comm.New(e.p, e.p.GroupContext(purpose, tag, members), rank, members)
	group.Coll = newState(choice.Site{Ranks: len(members), Runs: true})
	group.PartOf(by, nil)
	e.p.Lock()
	defer e.p.Unlock()
	mine, all := make([]byte, 4), make([]byte, 4*len(members))
	if own != nil {
		binary.LittleEndian.PutUint32(mine, uint32(class.Other))
		var ce *class.Error
		if errors.As(own, &ce) {
			binary.LittleEndian.PutUint32(mine, uint32(ce.Class))
		}
	}
	if err := e.allgather(group, mine, all, by); err != nil {
		return nil, first(own, err)
	}
	for r := range members {
		if told := binary.LittleEndian.Uint32(all[4*r:]); told != 0 && own == nil {
			c := agree.ClassOf(told)
			own = class.Errorf(c, "rank %d of the group has failed: %v", r, c)
		}
	}
	return group, own
}

// CreateFromGroup makes a communicator of the given processes, of which this one is one. It is
// collective over them; others take no part. own is the error in the arguments of this process. It
// takes the lock.
func (e *Engine) CreateFromGroup(members []int32, tag string, own error) (*comm.Comm, error) {
	group, err := e.amongGroup(forComm, call.CommCreateFromGroup, tag, members, own)
	if err != nil {
		return nil, err
	}
	e.p.Lock()
	defer e.p.Unlock()
	id, err := e.agree(group, nextTag(group), false)
	if err != nil {
		return nil, err
	}
	c := comm.New(e.p, id.ctx, group.Rank, members)
	e.attach(c, id.slot)
	return c, nil
}

// JoinGroups makes an intercommunicator between a group that this process is in, whose leader has
// the rank leader, and another one. Only the leader uses the process that leads the other group,
// -1 if it does not know it.
// It is collective over both groups. own is the error in the arguments of this process. It takes
// the lock.
func (e *Engine) JoinGroups(local []int32, leader int, remoteLeader int32, tag string, own error) (*comm.Comm, error) {
	const by = call.IntercommCreateFromGroups
	group, err := e.amongGroup(forGroup, by, tag, local, own)
	if group == nil {
		return nil, err
	}
	var b Bridge
	if me := int32(e.p.Job().Rank); group.Rank == leader && remoteLeader >= 0 {
		two, rank := []int32{me, remoteLeader}, 0
		if !e.p.Before(int(me), int(remoteLeader)) {
			two, rank = []int32{remoteLeader, me}, 1
		}
		b = Bridge{Over: comm.New(e.p, e.p.GroupContext(forTwoGroups, tag, two), rank, two), Leader: 1 - rank, call: by}
	}
	if err != nil {
		if b.Over != nil {
			e.refuseJoin(&b, err)
		}
		return nil, err
	}
	c, _, err := e.join(group, leader, &b)
	if c == nil && err == nil {
		err = class.Errorf(class.Group, "a process of one group has not met one of the other, which is of another job")
	}
	return c, err
}

// Close returns when no member of the given communicators uses them any more: each member calls
// Close when it has done so, with other communicators too, or in another order. A process that has
// returned from Close may end, or let go of the others, while they are still in Close, so one that has
// ended counts as one that has called it, and they go on. by is the call of the program. It takes the lock.
func (e *Engine) Close(list []*comm.Comm, by call.Number) {
	e.p.Lock()
	defer e.p.Unlock()
	var all []*p2p.Request
	for _, c := range list {
		c = c.Whole()
		last := comm.New(e.p, c.Ctx+closingContext, c.Rank, c.Members)
		last.Coll = newState(choice.Site{Ranks: c.Size(), Runs: true})
		last.PartOf(by, nil)
		all = append(all, e.begin(last, Barrier, &Args{Call: call.Finalize, Outlasts: true}))
	}
	for _, r := range all {
		_ = e.wait(r) // the error is that a member has ended
	}
}
