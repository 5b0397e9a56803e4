package comm

import (
	"slices"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Comm is a communicator in one process. Its members do not change.
//
// In an intercommunicator Members is the remote group, with which messages are exchanged, and
// Rank is the number in the local group. So the code for messages needs no distinction. Code
// for the local group, or both groups, uses Inter.
type Comm struct {
	Proc *proc.Proc
	// Ctx keeps messages apart from those of all other communicators. Ctx itself is
	// for point-to-point communication, Ctx+1 for collectives, Ctx+3 for collectives
	// of some members that make a communicator among themselves, Ctx+4 for the
	// two processes that introduce their groups to each other, Ctx+6 for the end of
	// the use of c (coll.Engine.Close), and Ctx+7 for commits across jobs.
	Ctx  uint64
	Rank int
	// Members lists the local number of the process of each rank. A message
	// carries no rank: the receiver knows from which process a frame came, and
	// looks the rank up, so that no sender can claim another's.
	Members []int32
	Inter   *Inter // nil for an intracommunicator
	// Name is what the user called it, for errors and tools; may be nil.
	Name  atomic.Pointer[string]
	ranks map[int32]int // rank by local number, nil if the two are equal
	call  atomic.Pointer[called]
	// Usual is the call of the program that operations on c belong to when it is in no call of Begin; empty if they
	// are calls themselves. It does not change while c is in use.
	Usual call.Number
	// Within is the communicator over which a call is collective, on a communicator of only some of
	// its members on which these agree; otherwise nil. A member may wait for a process outside this
	// communicator, so the failure of any process of Within ends the agreement.
	Within *Comm

	// Watched says that this process watches the other jobs whose processes are members, so that it
	// learns of their end.
	Watched bool

	// Neighbors are the neighbours of this process in the topology, nil without a topology. They do not change.
	Neighbors *Neighbors

	// Session is a context of this process for the session that the communicator descends from, 0
	// for the world model. It names the session's buffer for messages in buffered mode.
	Session uint64

	// Coll is what package coll keeps for the communicator.
	Coll any
}

// New makes a communicator of the given members; rank is the own one.
func New(p *proc.Proc, ctx uint64, rank int, members []int32) *Comm {
	c := &Comm{Proc: p, Ctx: ctx, Rank: rank, Members: members}
	for r, m := range members {
		if int32(r) != m {
			c.ranks = make(map[int32]int, len(members))
			for r, m := range members {
				c.ranks[m] = r
			}
			break
		}
	}
	return c
}

// Unnamed returns a copy of the communicator without a name, for an object that shares
// everything else with another. Nobody communicates on it.
func (c *Comm) Unnamed() *Comm {
	return &Comm{Proc: c.Proc, Ctx: c.Ctx, Rank: c.Rank, Members: c.Members, ranks: c.ranks}
}

// AppendOn names the communicator in a text, as in " on world", if it has a name.
func (c *Comm) AppendOn(b []byte) []byte {
	if c != nil {
		if name := c.Name.Load(); name != nil && *name != "" {
			b = append(append(b, " on "...), *name...)
		}
	}
	return b
}

// Awaits says who ends the wait for any other member: shmfmt.AwaitsAny, or AwaitsUnknown if there are members of
// other jobs.
func (c *Comm) Awaits() int32 {
	if c.Inter != nil || int(slices.Max(c.Members)) >= c.Proc.Job().Size {
		return shmfmt.AwaitsUnknown
	}
	return shmfmt.AwaitsAny
}

// Size is the number of members.
func (c *Comm) Size() int { return len(c.Members) }

// RankOf returns the rank of the process with a local number, -1 if it is no member.
func (c *Comm) RankOf(process int32) int {
	if c.ranks == nil {
		if int(process) < len(c.Members) {
			return int(process)
		}
		return -1
	}
	if r, ok := c.ranks[process]; ok {
		return r
	}
	return -1
}
