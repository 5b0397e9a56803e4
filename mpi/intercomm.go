package mpi

import "github.com/halo-mpi/halo/internal/coll"

// On an intercommunicator ranks of messages, as destinations and sources, are those of
// the remote group, and so are the statuses. Collectives move data between the groups: a
// process gets what the remote group gives. One with a root has it in one group, where
// the root passes Root and the others ProcNull; the members of the other group pass the
// rank of the root. Blocks are as many as the remote group has members, but those of a
// ReduceScatter as many as the local one has. Where a length is that of what comes from
// the other group, the slice is as long as that and not longer. There is no in place, no
// Scan and no Exscan; there are no windows.

// IntercommCreate makes an intercommunicator between the members of local and another
// group, which calls it, too. Each group has a leader, of rank localLeader in local. The
// leaders reach each other by the communicator peer, where the other one is of rank
// remoteLeader, and pass the same tag; the other members may pass anything for these
// three. The two exchange their groups in a context of their own: messages that are under
// way on peer do no harm, whatever their tags.
//
// The groups have no process in common, or that is ErrComm. What is wrong with the
// arguments of a leader is the error of all members of its group, while the other group
// waits. The new communicator has the error handler of local. Collective over both
// groups.
//
// C: MPI_Intercomm_create, section 7.6.2.
func IntercommCreate(local *Comm, localLeader int, peer *Comm, remoteLeader, tag int) (*Comm, error) {
	const k = callIntercommCreate
	if err := local.usable(k); err != nil {
		return nil, err
	}
	if err := local.intra(k); err != nil {
		return nil, err
	}
	if localLeader < 0 || localLeader >= local.Size() {
		return nil, fail(ErrRank, k.String(), local, "local leader %d in a communicator of %d", localLeader, local.Size())
	}
	var b coll.Bridge
	if local.Rank() == localLeader {
		b = local.bridge(peer, remoteLeader, tag)
	}
	core, err := local.w.Coll.Join(local.core, localLeader, &b)
	return local.created(k, core, err)
}

// bridge is how a leader reaches the other one.
func (c *Comm) bridge(peer *Comm, leader, tag int) coll.Bridge {
	bad := func(cl Class, format string, args ...any) coll.Bridge {
		return coll.Bridge{Err: wrong(cl, format, args...)}
	}
	switch {
	case peer == nil:
		return bad(ErrComm, "the peer communicator of the leader is nil")
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

// RemoteSize is the number of processes in the remote group, 0 if c is no
// intercommunicator.
//
// C: MPI_Comm_remote_size, section 7.6.1.
func (c *Comm) RemoteSize() int {
	if !c.Inter() {
		return 0
	}
	return c.peers()
}

// RemoteGroup is the remote group of an intercommunicator. Another c is ErrComm.
//
// C: MPI_Comm_remote_group, section 7.6.1.
func (c *Comm) RemoteGroup() (Group, error) {
	if err := c.between(callRemoteGroup); err != nil {
		return Group{}, err
	}
	return Group{c.core.Members, c.self}, nil
}

// Merge makes a communicator of both groups of an intercommunicator. The group whose
// members pass high false comes before the one whose members pass true; if both pass the
// same, which comes first is up to the library, and the same at all. Members of one group
// who pass different values are ErrArg, at all. Each gets the error handler of its c.
// Collective over both groups.
//
// C: MPI_Intercomm_merge, section 7.6.2.
func (c *Comm) Merge(high bool) (*Comm, error) {
	if err := c.between(callMerge); err != nil {
		return nil, err
	}
	core, err := c.w.Coll.Merge(c.core, high)
	return c.created(callMerge, core, err)
}

// between fails unless c is an intercommunicator.
func (c *Comm) between(k call) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	if c.core.Inter == nil {
		return fail(ErrComm, k.String(), c, "the communicator is not an intercommunicator")
	}
	return nil
}

// intra fails if c, which is usable, is an intercommunicator.
func (c *Comm) intra(k call) *Error {
	if c.core.Inter != nil {
		return fail(ErrComm, k.String(), c, "not possible on an intercommunicator, with a remote group of size %d", c.peers())
	}
	return nil
}
