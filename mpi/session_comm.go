package mpi

import (
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
)

// maxTagString is the longest tag of CommFromGroup in bytes (MPI_MAX_STRINGTAG_LEN without its
// NUL).
const maxTagString = 1023

// CommFromGroup makes a communicator of the members of g, without another communicator: g comes
// from a session, or is made of such groups. It is collective over the members, which pass the
// same group; other processes take no part, and need not have begun to use MPI. Different tags
// tell apart calls for the same group at the same time. The members of GroupEmpty are none:
// CommFromGroup returns nil then, without communication.
//
// h is the error handler of the new communicator, and gets the errors of the call. If the call
// fails at one member because of its arguments, it fails at all. ErrGroup if this process is not
// in g; ErrArg if the tag has more than 1023 bytes; ErrErrhandler if h is null, or was made for
// other objects; ErrSession if the session of g has been finalized.
//
// C: MPI_Comm_create_from_group, section 7.4.2.
func CommFromGroup(g Group, tag string, h Errhandler, hints ...CommHint) (*Comm, error) {
	const k = call.CommCreateFromGroup
	if len(g.members) == 0 {
		return nil, nil
	}
	err, own := g.gathers(k, tag, h)
	if err != nil {
		return nil, h.raises(g.self, err)
	}
	checkKeys(g.self, k, hints...)
	core, failed := g.self.w.Coll.CreateFromGroup(g.members, tag, own)
	return g.made(k, core, h, hints, failed)
}

// IntercommFromGroups makes an intercommunicator between the members of local and those of remote,
// which make the same call with the groups exchanged. Each group has a leader, whose rank in its
// group all members pass; only the leader's remote and remoteLeader matter. It is collective over
// both groups. See CommFromGroup for the tag, for h and for the errors.
//
// ErrGroup if the groups have a process in common, ErrRank if a leader is not in its group. If
// only one group is GroupEmpty the result is nil.
//
// C: MPI_Intercomm_create_from_groups, section 7.6.2.
func IntercommFromGroups(local Group, localLeader int, remote Group, remoteLeader int, tag string, h Errhandler, hints ...CommHint) (*Comm, error) {
	const k = call.IntercommCreateFromGroups
	if len(local.members) == 0 {
		return nil, nil
	}
	err, own := local.gathers(k, tag, h)
	if err == nil && (localLeader < 0 || localLeader >= len(local.members)) { // nobody knows whom to follow
		err = newError(ErrRank, k, local.self, "local leader %d in a group of %d", localLeader, len(local.members))
	}
	if err != nil {
		return nil, h.raises(local.self, err)
	}
	other := int32(-1)
	if local.Rank() == localLeader {
		if own == nil {
			own = local.between(remote, remoteLeader)
		}
		if own == nil && len(remote.members) > 0 {
			other = remote.members[remoteLeader]
		}
	}
	checkKeys(local.self, k, hints...)
	core, failed := local.self.w.Coll.JoinGroups(local.members, localLeader, other, tag, own)
	return local.made(k, core, h, hints, failed)
}

// between returns the error in the groups of IntercommFromGroups at a leader.
func (g Group) between(remote Group, leader int) error {
	switch {
	case remote.self != nil && remote.self.w != g.self.w:
		return class.Errorf(class.Group, "the remote group belongs to another process")
	case remote.self != nil && remote.self != g.self:
		return class.Errorf(class.Session, "the remote group is of %s, and not of %s", remote.self.origin(), g.self.origin())
	case len(remote.members) == 0:
		return class.Errorf(class.Group, "the remote group is empty")
	case leader < 0 || leader >= len(remote.members):
		return class.Errorf(class.Rank, "remote leader %d in a group of %d", leader, len(remote.members))
	}
	for r, p := range remote.members {
		if i := slices.Index(g.members, p); i >= 0 {
			return class.Errorf(class.Group, "the groups overlap: rank %d of the local group is rank %d of the remote one", i, r)
		}
	}
	return nil
}

// gathers checks the arguments of a call by which the members of g make a communicator. err is an
// error with which this process cannot take part; own one with which it can, so that the other members
// learn of it.
func (g Group) gathers(k call.Number, tag string, h Errhandler) (err *Error, own error) {
	bad := func(cl Class, format string, args ...any) *Error {
		return newError(cl, k, g.self, format, args...)
	}
	switch s := g.self.session; {
	case s.over():
		return bad(ErrSession, "the session of the group has been finalized"), nil
	case s == nil && g.self.w.Closed():
		return bad(ErrOther, "called after Finalize"), nil
	case g.Rank() == Undefined:
		return bad(ErrGroup, "this process is not in the group of %d", len(g.members)), nil
	case len(tag) > maxTagString:
		return bad(ErrArg, "tag of %d bytes, the limit is %d", len(tag), maxTagString), nil
	case strings.IndexByte(tag, 0) >= 0:
		return bad(ErrArg, "the tag %q has a zero byte", tag), nil
	}
	if e := h.fits(k, aCommunicator); e != nil {
		return nil, class.Errorf(class.Class(e.Class), "%s", e.Detail)
	}
	return nil, nil
}

// made is the result of such a call.
func (g Group) made(k call.Number, core *comm.Comm, h Errhandler, hints []CommHint, err error) (*Comm, error) {
	if err != nil {
		return nil, h.raises(g.self, describe(err, k, g.self, Undefined, Undefined))
	}
	c := &Comm{w: g.self.w, core: core, self: g.self}
	core.Name.Store(new(string))
	c.handler.Store(h.h)
	c.setHints(hints)
	c.enter(nil)
	return c, nil
}

// raises is raise for a handler that may not fit; errors about it go to that of self.
func (h Errhandler) raises(self *Comm, e *Error) error {
	if h.fits(call.None, aCommunicator) != nil {
		return e.raised()
	}
	return h.raise(self, e)
}
