package coll

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
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
	_             [3]byte
}

const introductionSize = 24

// Join makes an intercommunicator between the members of local and those of another group. Each
// leader knows its own group; the leaders exchange the lists of members over the bridge. The
// leader that comes first in the order of all processes chooses the context, and its group is
// the first one. Then each leader tells its group. Join is collective over both groups and takes
// the lock. Only the leader reads b.
func (e *Engine) Join(local *comm.Comm, leader int, b *Bridge) (c *comm.Comm, err error) {
	err = occupied(local, CallIntercommCreate, func() error {
		c, err = e.join(local, leader, b)
		return err
	})
	return c, err
}

func (e *Engine) join(local *comm.Comm, leader int, b *Bridge) (*comm.Comm, error) {
	head := make([]byte, introductionSize)
	var body []byte
	if local.Rank == leader {
		var x introduction
		e.p.Lock()
		theirs, err := e.introduce(local, b, &x)
		e.p.Unlock()
		if err != nil {
			var ce *class.Error
			x.Class = uint32(class.Other)
			if errors.As(err, &ce) {
				x.Class = uint32(ce.Class)
			}
			body = []byte(err.Error())
		} else {
			body = e.p.AppendIDs(nil, theirs)
		}
		x.Length = uint32(len(body))
		put(head, &x)
	}
	tell := func(buf []byte) error {
		return e.do(local, Bcast, &Args{Recv: Bytes(buf), Width: 1, Root: leader, Call: "IntercommCreate"})
	}
	if err := tell(head); err != nil {
		return nil, err
	}
	var x introduction
	get(head, &x)
	if local.Rank != leader {
		if int(x.Length) > max(maxIntroduction, e.p.IDsMax()) {
			return nil, wrong(class.Intern, "introduction of %d bytes", x.Length)
		}
		body = make([]byte, x.Length)
	}
	if len(body) > 0 {
		if err := tell(body); err != nil {
			return nil, err
		}
	}
	if x.Class != 0 {
		return nil, &class.Error{Class: classOf(x.Class), Text: p2p.Printable(body)}
	}
	theirs, err := e.membersFrom(body)
	if err != nil {
		return nil, err
	}
	ctx, err := e.contextOf(&x, local.Members, theirs)
	if err != nil {
		return nil, err
	}
	if err := e.learn(theirs); err != nil {
		return nil, err
	}
	c := comm.NewInter(e.p, ctx, local.Rank, local.Members, theirs, x.First)
	e.p.Lock()
	defer e.p.Unlock()
	e.attachInter(c)
	return c, nil
}

// maxIntroduction is the longest text of an introduction in bytes.
const maxIntroduction = 4096

// introduce exchanges the lists of members of local and of the group of the other leader over b,
// and fills in x. The lock is held.
func (e *Engine) introduce(local *comm.Comm, b *Bridge, x *introduction) ([]int32, error) {
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
		c := classOf(uint32(n))
		return nil, wrong(c, "the other group has failed: %v", c)
	}
	if n > uint64(e.p.IDsMax()) {
		return nil, wrong(class.Intern, "a remote group in %d bytes: of the %d processes that this one knows it has %d at most", n, e.p.Known(), e.p.IDsMax())
	}
	list := make([]byte, n)
	if err := e.swap(b, ours, list); err != nil {
		return nil, err
	}
	theirs, err := e.membersFrom(list)
	if err != nil {
		return nil, err
	}
	first, leader := local.Members, int32(me)
	if !x.First {
		x.Serial, first, leader = binary.LittleEndian.Uint64(its[8:]), theirs, other
	}
	rank := slices.Index(first, leader)
	if rank < 0 {
		return nil, wrong(class.Intern, "the leader of the remote group is none of its members")
	}
	x.Leader = uint32(rank)
	for r, m := range theirs {
		if k := local.RankOf(m); k >= 0 {
			return nil, wrong(class.Comm, "the groups overlap: rank %d of the local group is rank %d of the remote one", k, r)
		}
	}
	return theirs, nil
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
	err := e.wait(e.p2p.Isend(&v, mem.Of(out)))
	e.p2p.Wait(recv)
	got, want := recv.Filled()
	err = first(err, recv.Status.Err)
	e.p2p.Free(recv)
	if err == nil && got != want {
		err = &class.Error{Class: class.Intern, Text: fmt.Sprintf("the other leader sends %d bytes of %d", got, want)}
	}
	return err
}

// membersFrom decodes the list of members of the other group.
func (e *Engine) membersFrom(b []byte) ([]int32, error) {
	members, err := e.p.NumbersOf(b)
	switch {
	case err != nil:
		return nil, wrong(class.Intern, "the remote group: %v", err)
	case len(members) == 0:
		return nil, wrong(class.Intern, "the remote group has no members")
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
		return 0, wrong(class.Intern, "rank %d leads the first group, which has %d members", x.Leader, len(first))
	}
	ctx, ok := e.p.ContextOf(int(first[x.Leader]), x.Serial)
	if !ok {
		return 0, wrong(class.Intern, "context %d is none of the leader of the first group", x.Serial)
	}
	return ctx, nil
}
