package histories_test

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// oneSided is a random program of one-sided communication, which newOneSided makes from a seed.
// It consists of tracks, each of which is one goroutine per rank, with separate windows. A track
// consists of phases, each on one window, and a phase of rounds. In a round the ranks issue
// operations, and a synchronisation of the phase's kind ends it.
//
// The steps of a round have a global order, and every rank does its steps in that order. A
// member requests a lock only if it holds none of a higher rank, and messages go from earlier
// steps to later ones, so that the program ends.
type oneSided struct {
	seed   uint64
	places string // the host of each rank
	tracks []*track
}

// track is what one goroutine of each rank does.
type track struct {
	windows []*window
	phases  []*phase
}

type flavor int

const (
	created   flavor = iota // over the Go heap
	lent                    // created over AllocMem
	allocated               // by the window
	shared
	scattered // shared, not contiguous between members
	dynamic
	flavors
)

func (f flavor) String() string {
	return [flavors]string{"created", "lent", "allocated", "shared", "scattered", "dynamic"}[f]
}

// window is a window and its memory at each member. Members are numbered from 0 in the order of
// their ranks in the window.
type window struct {
	flavor  flavor
	members []int    // their ranks in the world
	unit    []int    // displacement units
	slots   [][]slot // memory of each member: one slot, or several in a dynamic window
	info    [][2]string
	loose   bool      // accumulates of one origin are not ordered
	views   []viewing // the window itself, and its duplicates
	signals []int     // number of synchronisation objects of each member
}

// slot is memory of a member: the whole of it, or memory of which it attaches pieces.
type slot struct {
	size   int64
	direct bool // of a dynamic window: memory of AllocMem
	seed   uint64
}

type syncKind int

const (
	byFence syncKind = iota
	byPost
	byLock
	byLockAll
	syncKinds
)

func (k syncKind) String() string {
	return [syncKinds]string{"fence", "post", "lock", "lock all"}[k]
}

// phase is epochs of one kind on a window. Elements that are accumulated on in a phase are not
// accessed otherwise in it; their final values are read at its end.
type phase struct {
	win     *window
	kind    syncKind
	attach  []attaching // before it; of dynamic windows
	stores  []*store    // after that, by the members to their own memory
	handles []*handling // of memory, in dynamic windows
	rounds  []*round
	assert  bool // with all assertions that are true
}

// attaching changes which pieces of a slot are attached. It lists the end of each piece, where
// the next one begins; with no piece the slot is detached.
type attaching struct {
	member, slot int
	ends         []int64
}

// store is a write of a member to its own memory.
type store struct {
	member, slot int
	off          int64
	data         []byte
}

// round is operations that only their steps order, and no synchronisation.
type round struct {
	origins [][]int    // of byPost: the members that each member posts to, nil if it does not post
	late    []bool     // of byPost: the member posts after its own operations
	polls   []bool     // of byPost: the member calls Test until it returns true
	stores  []*store   // of byPost: before the member posts
	shared  bool       // of byLock: no lock is exclusive
	threads bool       // of byLockAll: each view has a goroutine that does the steps on it
	steps   []*rmaStep // in an order that satisfies all assertions
}

// rmaStep is what a member does at one position of a round.
type rmaStep struct {
	do     rmaDoing
	member int
	target int // of locks and flushes; for doHand and doTake the other member
	op     *rmaOp
	arg    int
	view   int      // of flushes and waits
	looks  []*rmaOp // of doAwait: puts whose data the member must see
}

type rmaDoing int

const (
	doOp   rmaDoing = iota
	doLock          // exclusive if arg is 1
	doUnlock
	doFlush
	doFlushAll
	doFlushLocal
	doFlushLocalAll
	doSync
	doWait   // for requests, by the method arg
	doHand   // gives what the member has completed to target
	doTake   // takes the same from target
	doAwait  // for all notifications of counter arg
	doSignal // signals what is complete at target, with its object arg
	doHeed   // waits for the signal of member target, with the object arg
	doGrant  // gives the memory handle arg to target
	doOpen   // opens a window of the handle from target
	doClose  // frees that window
	doRelease
)

type rmaKind int

const (
	isPut rmaKind = iota
	isGet
	isAccumulate
	isGetAccumulate
	isFetchAndOp
	isCompareAndSwap
	isUpdate // under an exclusive lock: get, add, put, several times
	isStorm  // many additions of 1
	rmaKinds
)

func (k rmaKind) String() string {
	return [rmaKinds]string{"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "update", "storm"}[k]
}

// rmaOp is one operation. The layout at the target begins disp units after the beginning of the
// slot.
type rmaOp struct {
	id      int
	kind    rmaKind
	origin  int // a member
	target  int // a member, or mpi.ProcNull
	slot    int
	disp    int64 // in units of the target
	at      int64 // in bytes
	request bool
	typed   bool // with slices of numbers, if all sides can be slices
	reads   bool // a get_accumulate that only reads (NoOp)

	there  half // at the target
	data   half // at the origin; empty if the operation only reads
	result half // at the origin, if the operation has a result
	elem   dtype.ID
	op     mpi.Op
	values []byte // the contents of data, packed; for a put, the contents of its memory
	before []byte // the operand to compare with
	seed   uint64 // of the surrounding memory
	group  int    // number of previous synchronisations of the agent with the target, for the order
	doneAt int    // the synchronisation that completed it, 0 if none has
	view   int    // the view that it is issued on
	begin  int64  // offset in the slot at which the memory of that view begins
	order  bool   // the view is ordered
	agent  int16  // the agent that issues it: the member, or one of its goroutines
	notify int    // counter of the target plus 1, or 0
	round  int
	times  int // of updates and storms
}

func (o *rmaOp) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %v %d->%d", o.id, o.kind, o.origin, o.target)
	if o.view > 0 {
		fmt.Fprintf(&b, " by view %d", o.view)
	}
	if o.notify > 0 {
		fmt.Fprintf(&b, " notifies %d", o.notify-1)
	}
	if o.request {
		b.WriteString(" by request")
	}
	if o.typed {
		b.WriteString(" by slice")
	}
	fmt.Fprintf(&b, " slot %d disp %d (byte %d) of %v", o.slot, o.disp, o.at, &o.there)
	if o.times > 0 {
		fmt.Fprintf(&b, ", %d times", o.times)
	}
	if o.data.m != nil {
		fmt.Fprintf(&b, " from %v", &o.data)
	}
	if o.hasResult() {
		fmt.Fprintf(&b, " into %v", &o.result)
	}
	if o.accumulates() {
		fmt.Fprintf(&b, " %v on %v", o.op, types.Type(o.elem))
	}
	return b.String()
}

// accumulates reports whether the operation updates elements atomically.
func (o *rmaOp) accumulates() bool { return o.kind >= isAccumulate && o.kind <= isCompareAndSwap }

// hasResult reports whether the operation has a result.
func (o *rmaOp) hasResult() bool {
	return o.kind == isGet || o.kind >= isGetAccumulate && o.kind <= isCompareAndSwap
}

// changes reports whether the operation may change the target's memory.
func (o *rmaOp) changes() bool { return o.kind != isGet && !(o.accumulates() && o.op == mpi.NoOp) }

func (p *oneSided) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, ranks on hosts %q, %d tracks", p.seed, p.places, len(p.tracks))
	for i, t := range p.tracks {
		fmt.Fprintf(&b, "\ntrack %d", i)
		for _, ph := range t.phases {
			ph.describe(&b)
		}
	}
	return b.String()
}

func (ph *phase) describe(b *strings.Builder) {
	w := ph.win
	fmt.Fprintf(b, "\n%v window of ranks %v, units %v, sizes", w.flavor, w.members, w.unit)
	for _, slots := range w.slots {
		b.WriteString(" [")
		for _, s := range slots {
			fmt.Fprintf(b, " %d", s.size)
		}
		b.WriteString(" ]")
	}
	fmt.Fprintf(b, " info %v views %v: %v, assertions %v, attaching %v, %d stores, handles %v", w.info, w.views, ph.kind, ph.assert, ph.attach, len(ph.stores), ph.handles)
	for i, r := range ph.rounds {
		fmt.Fprintf(b, "\n  round %d", i)
		if r.threads {
			b.WriteString(" by goroutines")
		}
		if ph.kind == byPost {
			fmt.Fprintf(b, " posts %v late %v", r.origins, r.late)
		}
		for _, s := range r.steps {
			fmt.Fprintf(b, "\n    %v", s)
		}
	}
}

func (s *rmaStep) String() string {
	if s.do == doOp {
		return s.op.String()
	}
	name := [...]string{"", "lock", "unlock", "flush", "flush_all", "flush_local", "flush_local_all", "sync", "wait", "hand to", "take from", "await", "signal", "heed", "grant", "open", "close", "release"}[s.do]
	return fmt.Sprintf("%d: %s %d (%d) by view %d", s.member, name, s.target, s.arg, s.view)
}

// ops lists the operations.
func (p *oneSided) ops() (all []*rmaOp) {
	for _, t := range p.tracks {
		for _, ph := range t.phases {
			for _, r := range ph.rounds {
				for _, s := range r.steps {
					if s.do == doOp {
						all = append(all, s.op)
					}
				}
			}
		}
	}
	return all
}
