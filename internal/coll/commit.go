package coll

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

// A commit is the last step of a call that makes communicators of members of several jobs: if a process dies in
// the call, either all survivors have the new communicators or all have an error. Otherwise those that have one
// would wait in it for the others. Within one job it is not needed, since the death of a process ends the job.
//
// The death of a process ends its job, so jobs agree, each by its leader, which is its first member:
//
//  1. The members of a job tell their leader whether they have succeeded.
//  2. The leaders run rounds. In a round each tells each other one what it knows, a decision: no error so far, or the
//     class of one. A leader decides after a round in which it has lost none of those that it had heard in the round
//     before, or in which it has heard a decision. It tells the others what it has decided, and leaves.
//  3. The leaders tell the members of their jobs.
//
// This is consensus by flooding, with early decisions. It needs that a process has lost another one only if that
// is dead, and that all who live have heard a leader's message of a round before anybody hears its next one. The end
// of a connection is the former, synchronous sends are the latter. If leader p decides after a round, it has heard
// all that have begun the round, so nobody who lives knows an error that p does not know; and others that have lost
// one of them do not decide before they hear from p. Two jobs need one round and no synchronous sends: whoever loses
// the other one is alone.
//
// Rejected: one leader that collects and decides for all, since when it dies others have to find out whom it has told;
// and a reply from the engine of members that have left the call, which has to remember all communicators ever made.
type commit struct {
	e       *Engine
	c       *comm.Comm // the union of both groups of an intercommunicator
	tag     int32
	leader  int   // rank of the leader of this job
	own     []int // ranks of the others of this job
	leaders []int // ranks of the leaders of the other jobs
}

// commitContext is the distance between the context of a communicator and that of commits on it. It is odd, so that
// messages that come too late can be shunned.
const commitContext = 7

// A decision is what members tell each other in a commit.
type decision struct {
	class class.Class // of the error of any member, 0 if none is known
	final bool        // the sender has decided
}

const decisionSize = 5

func (d decision) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(d.class))
	if d.final {
		return append(b, 1)
	}
	return append(b, 0)
}

func decodeDecision(b []byte) (d decision) {
	if told := binary.LittleEndian.Uint32(b); told != 0 {
		d.class = agree.ClassOf(told)
	}
	d.final = b[4] != 0
	return d
}

// commit returns d and err, the results of this member in a call on c that makes communicators, unless it finds that
// another member has failed. It takes the lock.
func (e *Engine) commit(c, d *comm.Comm, err error) (*comm.Comm, error) {
	c = c.Whole()
	if !e.p.Met() || e.p.Foreign(c.Members) < 0 || planted.CommitSkipped {
		return d, err
	}
	e.p.Lock()
	defer e.p.Unlock()
	st := stateOf(c)
	st.commits = (st.commits + 1) & 0x7fffffff
	k := commit{e: e, c: c, tag: st.commits}
	k.divide()
	mine := class.Class(0)
	if err != nil {
		mine = classFor(err)
	}
	all := k.run(mine)
	if err != nil || all == 0 {
		return d, err
	}
	if d != nil {
		e.Drop(d)
	}
	if all == class.ProcFailed {
		return nil, class.Errorf(all, "a process has failed, and other members have not made the communicator")
	}
	name, _ := class.Describe(all)
	return nil, class.Errorf(all, "another member has not made the communicator (%s)", name)
}

// divide finds the leaders.
func (k *commit) divide() {
	p := k.e.p
	job := p.Identity(int(k.c.Members[k.c.Rank])).Job
	first := map[string]bool{}
	k.leader = -1
	for r, m := range k.c.Members {
		of := p.Identity(int(m)).Job
		switch {
		case of == job && k.leader < 0:
			k.leader = r
		case of == job:
			k.own = append(k.own, r)
		case !first[of]:
			first[of] = true
			k.leaders = append(k.leaders, r)
		}
	}
}

// run returns the class of the error of any member, 0 for none. mine is that of this one.
func (k *commit) run(mine class.Class) class.Class {
	if k.c.Rank != k.leader {
		k.send(k.leader, p2p.Standard, decision{class: mine})
		d, err := k.receive(k.leader)
		if err != nil { // this job ends
			return max(mine, classFor(err))
		}
		return d.class
	}
	all := mine
	for _, r := range k.own {
		d, err := k.receive(r)
		if err != nil {
			d.class = classFor(err)
		}
		all = max(all, d.class)
	}
	all = k.rounds(all)
	for _, r := range k.own {
		k.send(r, p2p.Standard, decision{all, true})
	}
	return all
}

// rounds is the second step, at a leader.
func (k *commit) rounds(all class.Class) class.Class {
	mode := p2p.Standard
	if len(k.leaders) > 1 {
		mode = p2p.Synchronous
	}
	others := k.leaders
	for decided := false; !decided; {
		var sent []*p2p.Request
		for _, r := range others {
			sent = append(sent, k.isend(r, mode, decision{class: all}))
		}
		var heard []int
		told := all
		for _, r := range others {
			switch d, err := k.receive(r); {
			case err != nil:
				continue
			case d.final:
				decided, told = true, d.class
			case !decided:
				told = max(told, d.class)
			}
			heard = append(heard, r)
		}
		for _, r := range sent {
			_ = k.e.wait(r) // the receive has the same error
		}
		decided = decided || len(heard) == len(others) || planted.CommitEarly
		all, others = told, heard
	}
	if len(k.leaders) > 1 {
		for _, r := range others {
			k.send(r, p2p.Standard, decision{all, true})
		}
		k.e.p2p.Shun(k.c.Ctx+commitContext, k.tag) // what others tell this one that have decided, too
	}
	return all
}

// isend starts telling a member a decision.
func (k *commit) isend(rank int, mode p2p.Mode, d decision) *p2p.Request {
	v := p2p.Envelope{Comm: k.c, Ctx: k.c.Ctx + commitContext, Peer: rank, Tag: k.tag, Mode: mode}
	return k.e.p2p.Isend(&v, mem.Of(d.encode()))
}

// send tells a member a decision. If it cannot be told, it has died, and a receive from it says so.
func (k *commit) send(rank int, mode p2p.Mode, d decision) { _ = k.e.wait(k.isend(rank, mode, d)) }

// receive returns what a member tells.
func (k *commit) receive(rank int) (decision, error) {
	b := make([]byte, decisionSize)
	r := k.e.p2p.Irecv(&p2p.Envelope{Comm: k.c, Ctx: k.c.Ctx + commitContext, Peer: rank, Tag: k.tag}, mem.Of(b))
	k.e.p2p.Wait(r)
	got, _ := r.Filled()
	if err := k.e.wait(r); err != nil {
		return decision{}, err
	}
	if got != decisionSize {
		return decision{}, class.Errorf(class.Intern, "a member tells %d bytes, want %d", got, decisionSize)
	}
	return decodeDecision(b), nil
}
