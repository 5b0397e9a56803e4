package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
)

// On an intercommunicator destinations, sources and the ranks in statuses are ranks of the
// remote group. Collectives move data between the groups: a process receives what the remote
// group sends. A collective with a root has it in one of the groups. There the root passes Root
// and the others ProcNull; members of the other group pass the root's rank. The number of blocks
// is the size of the remote group; for a ReduceScatter it is the size of the local group. A
// slice whose length is that of the data from the other group must have exactly this length.
// Intercommunicators have no in-place form, no Scan, no Exscan, and no windows.

// IntercommCreate makes an intercommunicator between the members of local and another group,
// which makes the same call. Each group has a leader, which has rank localLeader in local. The
// leaders communicate over peer, in which the other leader has rank remoteLeader, and pass the
// same tag. The other members may pass any values for peer, remoteLeader and tag. The leaders
// exchange their groups in a separate context, so that pending messages on peer do not
// interfere, whatever their tags.
//
// ErrComm if the groups have a process in common. If an argument of a leader is invalid, all
// members of its group return the error, while the other group waits. The new communicator has
// the error handler of local. Collective over both groups.
//
// C: MPI_Intercomm_create, section 7.6.2.
func IntercommCreate(local *Comm, localLeader int, peer *Comm, remoteLeader, tag int) (*Comm, error) {
	const k = call.IntercommCreate
	if err := local.usable(k); err != nil {
		return nil, err
	}
	if err := local.intra(k); err != nil {
		return nil, err
	}
	if localLeader < 0 || localLeader >= local.Size() {
		return nil, fail(ErrRank, k, local, "local leader %d in a communicator of %d", localLeader, local.Size())
	}
	var b coll.Bridge
	if local.Rank() == localLeader {
		b = local.bridge(peer, remoteLeader, tag)
	}
	core, err := local.w.Coll.Join(local.core, localLeader, &b)
	return local.created(k, core, err)
}

// bridge describes how a leader reaches the other leader.
func (c *Comm) bridge(peer *Comm, leader, tag int) coll.Bridge {
	bad := func(cl Class, format string, args ...any) coll.Bridge {
		return coll.Bridge{Err: class.Errorf(class.Class(cl), format, args...)}
	}
	switch {
	case peer == nil:
		return bad(ErrComm, "the peer communicator of the leader is nil")
	case peer.w == c.w && peer.self != c.self:
		return bad(ErrSession, "the peer communicator of the leader is of %s, and not of %s", peer.self.origin(), c.self.origin())
	case peer.w != c.w || peer.freed.Load():
		return bad(ErrComm, "the peer communicator of the leader has been freed, or is another process's")
	case leader < 0 || leader >= peer.peers():
		return bad(ErrRank, "remote leader %d in a peer communicator of %d", leader, peer.peers())
	case peer.core.Members[leader] == c.self.core.Members[0]:
		return bad(ErrRank, "remote leader %d in the peer communicator is the local leader itself", leader)
	case tag < 0 || tag > maxTag:
		return bad(ErrTag, "tag %d is not in 0..%d", tag, maxTag)
	}
	return coll.Bridge{Over: peer.core, Leader: leader, Tag: int32(tag)}
}

// Inter reports whether c is an intercommunicator.
//
// C: MPI_Comm_test_inter, section 7.6.1.
func (c *Comm) Inter() bool { return c != nil && c.core.Inter != nil }

// RemoteSize is the number of processes in the remote group, or 0 if c is not an
// intercommunicator.
//
// C: MPI_Comm_remote_size, section 7.6.1.
func (c *Comm) RemoteSize() int {
	if !c.Inter() {
		return 0
	}
	return c.peers()
}

// RemoteGroup is the remote group of an intercommunicator. ErrComm if c is not one.
//
// C: MPI_Comm_remote_group, section 7.6.1.
func (c *Comm) RemoteGroup() (Group, error) {
	if err := c.between(call.CommRemoteGroup); err != nil {
		return Group{}, err
	}
	return c.group(c.core.Members), nil
}

// Merge makes an intracommunicator of both groups of an intercommunicator. The group whose
// members pass high false comes before the group whose members pass true; if both pass the same,
// the library chooses one order for all members. ErrArg, at all members, if members of one group
// pass different values. At each process the new communicator has the error handler of c.
// Collective over both groups.
//
// C: MPI_Intercomm_merge, section 7.6.2.
func (c *Comm) Merge(high bool) (*Comm, error) {
	if err := c.between(call.IntercommMerge); err != nil {
		return nil, err
	}
	defer c.core.Begin(call.IntercommMerge)()
	core, err := c.w.Coll.Merge(c.core, high)
	return c.created(call.IntercommMerge, core, err)
}

// between returns an error unless c is an intercommunicator.
func (c *Comm) between(k call.Number) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	if c.core.Inter == nil {
		return fail(ErrComm, k, c, "the communicator is not an intercommunicator")
	}
	return nil
}

// intra returns an error if c, which is usable, is an intercommunicator.
func (c *Comm) intra(k call.Number) *Error {
	if c.core.Inter != nil {
		return fail(ErrComm, k, c, "not possible on an intercommunicator, with a remote group of size %d", c.peers())
	}
	return nil
}
