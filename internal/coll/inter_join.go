package coll

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
)

// Bridge is how the leader of a group reaches the leader of another group: the communicator, the
// rank and the tag. Err is an error in these; the leader tells the other members of its group
// about it.
type Bridge struct {
	Over   *comm.Comm
	Leader int
	Tag    int32
	Err    error
	call   call.Number // of the program
}

// bridgeContext is the distance between the context of a communicator and that of the leaders
// who introduce their groups to each other. The messages of the leaders therefore match no
// message of the program, whatever its tag.
const bridgeContext = 4

// introduction is what the leader tells the members of its group about the other group. If Class
// is not 0 there is an error. The members of the other group follow, or the text of the error.
type introduction struct {
	Class, Length uint32
	Serial        uint64 // the number of the context among those of the leader of the first group
	Leader        uint32 // rank of that leader in its group
	First         bool   // the receivers are in the first group
	Several       bool   // the groups have processes of several jobs, which may not know each other
	_             [2]byte
}

const introductionSize = 24

// Join makes an intercommunicator between the members of local and those of another group. Each
// leader knows its own group; the leaders exchange the lists of members over the bridge. The
// leader that comes first in the order of all processes chooses the context, and its group is
// the first one. Then each leader tells its group. If a member does not know one of the other group, which is of another
// job, the groups meet (Strangers). Join is collective over both groups and takes
// the lock. Only the leader reads b.
func (e *Engine) Join(local *comm.Comm, leader int, b *Bridge) (c *comm.Comm, err error) {
	var first bool
	b.call = call.IntercommCreate
	defer local.Begin(b.call)()
	err = occupied(local, call.IntercommCreate, func() error {
		c, first, err = e.join(local, leader, b)
		return err
	})
	if err != nil || c != nil {
		return c, err
	}
	return e.strangers(local, leader, first, func(out, in []byte) error {
		e.p.Lock()
		defer e.p.Unlock()
		return e.swap(b, out, in)
	})
}

// Strangers makes an intercommunicator between two groups whose members do not all know each other. swap sends
// out to the leader of the other group, and receives as much from it. first says that this group is the first one.
// It is collective over both groups.
type Strangers func(local *comm.Comm, leader int, first bool, swap func(out, in []byte) error) (*comm.Comm, error)

// Introduce has Join connect processes that do not know each other by s. It is called before communicators are attached.
func (e *Engine) Introduce(s Strangers) { e.strangers = s }

// join returns the intercommunicator, or nil if the groups have to meet, and whether this is the first group then.
func (e *Engine) join(local *comm.Comm, leader int, b *Bridge) (*comm.Comm, bool, error) {
	head := make([]byte, introductionSize)
	var body []byte
	if local.Rank == leader {
		var x introduction
		e.p.Lock()
		list, err := e.introduce(local, b, &x)
		e.p.Unlock()
		if err != nil {
			var ce *class.Error
			x.Class = uint32(class.Other)
			if errors.As(err, &ce) {
				x.Class = uint32(ce.Class)
			}
			body = []byte(err.Error())
		} else {
			body = list
		}
		x.Length = uint32(len(body))
		put(head, &x)
	}
	tell := func(buf []byte) error {
		return e.do(local, Bcast, &Args{Recv: Bytes(buf), Width: 1, Root: leader, Call: call.IntercommCreate})
	}
	if err := tell(head); err != nil {
		return nil, false, err
	}
	var x introduction
	get(head, &x)
	if local.Rank != leader {
		if x.Length > listMax {
			return nil, false, class.Errorf(class.Intern, "introduction of %d bytes", x.Length)
		}
		body = make([]byte, x.Length)
	}
	if len(body) > 0 {
		if err := tell(body); err != nil {
			return nil, false, err
		}
	}
	if x.Class != 0 {
		return nil, false, &class.Error{Class: agree.ClassOf(x.Class), Text: callsite.Printable(body)}
	}
	theirs, err := e.membersFrom(body)
	if x.Several && e.strangers != nil {
		if met, failed := e.allMet(local, leader, b, err == nil); failed != nil || !met {
			return nil, x.First, failed
		}
	}
	if err != nil {
		return nil, false, err
	}
	ctx, err := e.contextOf(&x, local.Members, theirs)
	if err != nil {
		return nil, false, err
	}
	if err := e.learn(theirs); err != nil {
		return nil, false, err
	}
	c := comm.NewInter(e.p, ctx, local.Rank, local.Members, theirs, x.First)
	e.p.Lock()
	defer e.p.Unlock()
	e.attachInter(c)
	return c, false, nil
}

// listMax is the length of the longest list of members in bytes, which may be of processes that this one does not know.
const listMax = 8 << 20

// allMet reports whether all members of both groups know those of the other group; met says whether this one does.
// All members of both groups get the same answer, unless a leader dies.
func (e *Engine) allMet(local *comm.Comm, leader int, b *Bridge, met bool) (bool, error) {
	const known, strange, failed = 1, 2, 3
	answer := []byte{strange}
	if met || planted.StrangersMet {
		answer[0] = known
	}
	all := make([]byte, local.Size())
	if err := e.Collect(local, answer, all, leader, call.IntercommCreate); err != nil {
		return false, err
	}
	var lost error
	if local.Rank == leader {
		worst, its := []byte{slices.Max(all)}, []byte{0}
		e.p.Lock()
		lost = e.swap(b, worst, its)
		e.p.Unlock()
		answer[0] = max(worst[0], its[0])
		if lost != nil {
			answer[0] = failed
		}
	}
	if err := e.Tell(local, answer, leader, call.IntercommCreate); err != nil || lost != nil {
		return false, first(lost, err)
	}
	if answer[0] == failed {
		return false, class.Errorf(class.ProcFailed, "the leader of the other group has failed")
	}
	return answer[0] == known, nil
}

// introduce exchanges the lists of members of local and of the group of the other leader over b,
// and fills in x. It returns the list of the members of that group, which decodes. The lock is held.
func (e *Engine) introduce(local *comm.Comm, b *Bridge, x *introduction) ([]byte, error) {
	if b.Err != nil {
		return nil, b.Err
	}
	me, other := e.p.Job().Rank, b.Over.Members[b.Leader]
	x.First = e.p.Before(me, int(other))
	ours := e.p.AppendIDs(nil, local.Members)
	var mine, its [16]byte // length of the list of members; the context, if x.First
	binary.LittleEndian.PutUint64(mine[:], uint64(len(ours)))
	if x.First {
		x.Serial, _ = e.p.NewContext(proc.InSession(local.Ctx))
		binary.LittleEndian.PutUint64(mine[8:], x.Serial)
	}
	if err := e.swap(b, mine[:], its[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(its[:])
	if n&joinRefused != 0 {
		c := agree.ClassOf(uint32(n))
		return nil, class.Errorf(c, "the other group has failed: %v", c)
	}
	if n > listMax {
		return nil, class.Errorf(class.Intern, "a remote group in %d bytes: at most %d are possible", n, listMax)
	}
	list := make([]byte, n)
	if err := e.swap(b, ours, list); err != nil {
		return nil, err
	}
	theirs, err := proc.DecodeIDs(list)
	if err != nil {
		return nil, class.Errorf(class.Intern, "the remote group: %v", err)
	}
	x.Leader = uint32(local.Rank)
	if !x.First {
		rank := slices.Index(theirs, e.p.Identity(int(other)))
		if rank < 0 {
			return nil, class.Errorf(class.Intern, "the leader of the remote group is none of its members")
		}
		x.Serial, x.Leader = binary.LittleEndian.Uint64(its[8:]), uint32(rank)
	}
	x.Several = e.p.Foreign(local.Members) >= 0
	for r, id := range theirs {
		n := e.p.Number(id)
		if k := local.RankOf(int32(n)); n >= 0 && k >= 0 {
			return nil, class.Errorf(class.Comm, "the groups overlap: rank %d of the local group is rank %d of the remote one", k, r)
		}
		x.Several = x.Several || id.Job != e.p.Job().ID
	}
	return list, nil
}

// joinRefused marks a class of errors in place of the length of a list of members.
const joinRefused = 1 << 63

// refuseJoin tells the other leader, in place of the list of members, that the call has failed. It
// takes the lock.
func (e *Engine) refuseJoin(b *Bridge, err error) {
	told := class.Other
	var ce *class.Error
	if errors.As(err, &ce) {
		told = ce.Class
	}
	var mine, its [16]byte
	binary.LittleEndian.PutUint64(mine[:], joinRefused|uint64(uint32(told)))
	e.p.Lock()
	defer e.p.Unlock()
	_ = e.swap(b, mine[:], its[:]) // the call has failed in any case
}

// swap sends out to the other leader and receives in from that leader. The lock is held.
func (e *Engine) swap(b *Bridge, out, in []byte) error {
	ctx := b.Over.Ctx + bridgeContext
	v := p2p.Envelope{Comm: b.Over, Ctx: ctx, Peer: b.Leader, Tag: b.Tag}
	recv := e.p2p.Irecv(&v, mem.Of(in))
	send := e.p2p.Isend(&v, mem.Of(out))
	send.PartOf(b.call)
	recv.PartOf(b.call)
	err := e.wait(send)
	e.p2p.Wait(recv)
	got, want := recv.Filled()
	err = first(err, recv.Status.Err)
	e.p2p.Free(recv)
	if err == nil && got != want {
		err = class.Errorf(class.Intern, "the other leader sends %d bytes of %d", got, want)
	}
	return err
}

// membersFrom decodes the list of members of the other group.
func (e *Engine) membersFrom(b []byte) ([]int32, error) {
	members, err := e.p.NumbersOf(b)
	switch {
	case err != nil:
		return nil, class.Errorf(class.Intern, "the remote group: %v", err)
	case len(members) == 0:
		return nil, class.Errorf(class.Intern, "the remote group has no members")
	}
	return members, nil
}

// contextOf returns the context that the leader of the first group has made.
func (e *Engine) contextOf(x *introduction, ours, theirs []int32) (uint64, error) {
	first := theirs
	if x.First {
		first = ours
	}
	if int(x.Leader) >= len(first) {
		return 0, class.Errorf(class.Intern, "rank %d leads the first group, which has %d members", x.Leader, len(first))
	}
	ctx, ok := e.p.ContextOf(int(first[x.Leader]), x.Serial)
	if !ok {
		return 0, class.Errorf(class.Intern, "context %d is none of the leader of the first group", x.Serial)
	}
	return ctx, nil
}
