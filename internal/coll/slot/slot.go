package slot

import (
	"runtime"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// cellsMax is the largest number of members that use the form of cells. With more, reading
	// all their lines takes longer than the line of a counter takes to visit all of them.
	cellsMax = 8
	// loads is how often a member that has a core to itself loads a word, some 10 ns apart,
	// before it polls as the engine does: for 20 microseconds, since the other members come that late where programs
	// compute between collectives. With 200 a program in C entered Go in every 20th step, and each time woke the monitor
	// of Go's runtime, which interrupts the core.
	loads = 2000
	// yields is how often a member that shares its core yields before it polls. The others mostly
	// come within one or two yields, and a poll costs a quarter of a yield.
	yields = 8
	// BalanceEvery is after how many turns of a counter a member looks on which cores all are.
	BalanceEvery = 256
	// Spins is how often a member that shares its core loads the release while the absent
	// members may all have cores: as long as a core takes to change to another process.
	Spins = 3000
	// BackOffMax is the largest number of collectives in which a member does not spin, after
	// spinning has found nothing.
	BackOffMax = 63
)

// Slot is the shared memory of a communicator for blocking collectives. The collectives through a
// slot have numbers of their own, apart from those of schedules, and all members call them in the
// same order.
//
// Cells. In collective k a member writes its contribution, and then the number k, to its cell. A
// barrier or allreduce waits for k in all other cells, and each member reduces all contributions
// itself, in the order of the ranks. Each line moves once to each other member, and there is no
// release. This form is for members that have a core each.
//
// Counter. With more members than cores, a member that waits needs the scheduler to run the others,
// so one switch to the last member has to be enough: members count themselves in; the last one
// reduces, in the order of the ranks, and releases the others. Both forms give the same bits. A
// member that is counted in knows how many are absent. If these are fewer than the cores, all of
// them may be running. A yield would then only run another member that waits, and the way back
// costs another switch, so the member spins: see spin. With the members evenly on the cores, and
// the last member of each core spinning, a barrier costs one switch on each core.
//
// A reduce waits for cells in both forms, and only where data comes from. A member may therefore be
// ahead of others. What it wrote for k-2 may be overwritten when all members have entered k-1,
// because they have then left k-2. Known is the last collective that all members are known to have
// entered; where that is not enough, settle waits.
//
// Broadcasts have numbers and memory of their own, see stream.
//
// No lock is taken unless the member has to wait for long: only one goroutine at a time may be in a
// blocking collective of a communicator (MPI-5, 6.1), and a collective touches no other state. A
// waiter counts itself in Sleepers before it sleeps, and is rung: see proc.Event.Watch.
//
// The state of the member in the slot is a SlotState outside of the Go heap, which C advances, too:
// see Descriptor in package coll.
type Slot struct {
	*shmfmt.SlotState // nil if there is no slot
	p                 *proc.Proc
	node              *node.Node
	kernel            *op.Kernel // of predefined operations
	owner             Owner
	me                int     // the rank of this member
	members           []int32 // the processes of all members, by rank
	mem               shmfmt.Slot
	head              *shmfmt.SlotHead
	own               *shmfmt.Cell
	cells             []*shmfmt.Cell // by rank
	others            []*shmfmt.Cell // without the own one
	doors             []int          // local indexes of the other members
	event             proc.Event
	owed              owed
	pairwise          bool // the current collective waits for neighbours, not for all members
	fence             atomic.Uint64
	Terms             agree.Terms // of the current collective
	// short holds what the members have given to a short allreduce, by rank. See take.
	short [][shmfmt.SlotShort]byte // follows the SlotState
	// stages has the stages of the members, by rank; nil until one is needed.
	stages       []*shmfmt.Stages
	pieces       *[shmfmt.StreamBytes]byte // memory of the stream; nil until needed
	neighborhood *neighborhood             // of neighbourhood collectives; nil until needed

	record    []byte          // the memory of the SlotState
	forgotten runtime.Cleanup // frees it if the slot is not closed
}

// await waits until word is n or more.
func (s *Slot) await(word *atomic.Uint64, n uint64) error {
	for range s.Loads {
		if word.Load() >= n { // pairs with Publish
			return nil
		}
		s.fence.Add(1) // only so that one look is over before the next: see the rings of package shmfmt
	}
	for range s.Yields {
		s.p.Yield()
		if word.Load() >= n {
			return nil
		}
	}
	return s.AwaitLong(word, n)
}

// AwaitLong is await without loads and yields before the sleep. It takes the lock.
func (s *Slot) AwaitLong(word *atomic.Uint64, n uint64) error {
	s.wake()
	p := s.p
	p.Lock()
	defer p.Unlock()
	for word.Load() < n {
		if err := s.owner.Lost(); err != nil {
			return err
		}
		watched, reach := word, n
		before := s.head.Refusals.Load() // pairs with Add in miss
		if before != 0 {
			done, arrivals, err := s.without(word, n)
			if done {
				return err
			}
			if arrivals != 0 { // a member that arrives, and finds the same, wakes this one
				watched, reach = &s.head.Arrived, arrivals
			}
		}
		s.event.Watch(watched, reach, &s.head.Sleepers)
		s.event.Alarm(&s.head.Refusals, before)
		p.Wait(&s.event, -1)
	}
	return nil
}

// wake wakes the others if they sleep until a number that was just published.
// A member calls it when it has what it waits for, or begins to wait for long,
// so that the fence does not add to the time that the line takes.
func (s *Slot) wake() {
	s.fence.Add(1) // full fence; pairs with the one between Sleepers and the word in proc
	if s.head.Sleepers.Load() != 0 {
		s.Ring()
	}
}

// Ring wakes the processes of the other members.
func (s *Slot) Ring() {
	for _, d := range s.doors {
		s.node.Ring(d)
	}
}

// gathered waits until all members have entered collective n.
func (s *Slot) gathered(n uint64) error {
	for _, c := range s.others {
		if err := s.await(&c.Number, n); err != nil {
			return err
		}
	}
	s.Known = n
	return nil
}

// take waits until all members have entered the current collective, and copies
// the short contribution of each together with its number. A later load of the line
// would transfer it from core to core once more: the line of another member because
// that goes on to the next collective, and the own line because the others have read
// it since. So the own contribution is in short, too.
func (s *Slot) take() error {
	turn, differs := s.Number&1, false
	for r, c := range s.cells {
		if c == s.own {
			continue
		}
		if err := s.await(&c.Number, s.Number); err != nil {
			return err
		}
		s.short[r] = c.Short[turn]
		differs = differs || c.Said[turn] != s.Terms.Digest
	}
	s.Known = s.Number
	if differs {
		return s.Disagreement()
	}
	return nil
}

// data returns the n bytes that the member of rank r has given to the current collective.
func (s *Slot) data(r, n int) []byte {
	if n <= shmfmt.SlotShort {
		return s.cells[r].Short[s.Number&1][:n]
	}
	return s.stage(r, s.Number)[:n]
}

// give writes d for the current collective and publishes its number. It first waits until all
// members have left the collective that used the same memory before.
func (s *Slot) give(d mem.Mem) error {
	if err := s.settle(); err != nil {
		return err
	}
	s.state()
	b, row := d.Bytes()
	switch {
	case d.Len() > shmfmt.SlotShort:
		d.Pack(s.stage(s.me, s.Number)[:d.Len()], 0)
		s.own.Said[s.Number&1] = s.Terms.Digest
	case row:
		s.own.PutShort(s.Number, s.Terms.Digest, b)
	default:
		var short [shmfmt.SlotShort]byte
		d.Pack(short[:], 0)
		s.own.PutShort(s.Number, s.Terms.Digest, short[:d.Len()])
	}
	shmfmt.Publish(&s.own.Number, s.Number)
	return nil
}

// settle waits until the memory for the current collective may be written.
func (s *Slot) settle() error {
	if before := s.Number - 1; s.Known < before {
		return s.gathered(before)
	}
	return nil
}

// arrive counts the member in, and reports whether it is the last one, which has to
// call release.
func (s *Slot) arrive() bool {
	s.Turns++
	if s.Turns%BalanceEvery == 0 && s.Cores > 0 {
		s.node.Balance()
	}
	// Add makes the writes of earlier members visible to the last one.
	s.Absent = int64(s.Turns*uint64(len(s.cells)) - s.head.Arrived.Add(1))
	return s.Absent == 0
}

// Release ends the wait of the members in released. If err is not nil the members see that there
// is an error, and find out which one.
func (s *Slot) Release(err error) {
	number := 2 * s.Turns
	if err != nil {
		number++
	}
	shmfmt.Publish(&s.head.Release.Number, number)
	s.wake()
	s.Known = s.Number
}

// released waits for the last member.
func (s *Slot) released() error {
	if !s.spin() {
		if err := s.await(&s.head.Release.Number, 2*s.Turns); err != nil {
			return err
		}
	}
	s.Known = s.Number
	if s.head.Release.Number.Load()&1 != 0 {
		return s.Disagreement()
	}
	return nil
}

// spin loads the release without a yield where the absent members may all have cores, and reports
// whether it has found it. If one of them waits for this very core, which happens again and again
// where members are spread unevenly over the cores, spinning finds nothing: after that it is
// skipped in 1, 3, 7 and more collectives, up to backOffMax.
func (s *Slot) spin() bool {
	if s.Absent >= s.Cores || s.Turns < s.NextPoll {
		return false
	}
	for range Spins {
		if s.head.Release.Number.Load() >= 2*s.Turns { // pairs with Publish in release
			s.Backoff = 0
			return true
		}
	}
	s.Backoff = min(2*s.Backoff+1, BackOffMax)
	s.NextPoll = s.Turns + 1 + s.Backoff
	return false
}

// combine reduces what the members have given to dst, in the order of the ranks.
func (s *Slot) combine(dst []byte, o op.Op, t op.Type) {
	n := len(dst)
	s.kernel.Apply(o, t, dst, s.data(0, n), s.data(1, n))
	for r := 2; r < len(s.cells); r++ {
		s.kernel.Apply(o, t, dst, dst, s.data(r, n))
	}
}

// Barrier waits until all members have called it. If a root has been named since the last Barrier,
// the roots are compared: in the form of cells by each member, which finds the word in the line of
// the number, and in the form of a counter by the last one.
func (s *Slot) Barrier() error {
	s.Number, s.Kind = s.Number+1, uint8(kind.Barrier)
	if s.Terms.Fresh {
		return s.barrierOfRoots()
	}
	if s.inCells() {
		shmfmt.Publish(&s.own.Number, s.Number)
		err := s.gathered(s.Number)
		s.wake()
		return err
	}
	if s.arrive() {
		s.Release(nil)
		return nil
	}
	return s.released()
}

// barrierOfRoots is a barrier in which roots are compared. To compare them in every barrier would
// add 20 ns to the 60 of a barrier in the form of cells.
func (s *Slot) barrierOfRoots() error {
	s.Terms.Fresh = false
	s.Terms.Say(dtype.Mixed, dtype.Mixed, 0)
	if !s.inCells() {
		s.own.Met[(s.Turns+1)&1] = s.Terms.Said
		return s.compare()
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.state()
	s.own.Said[s.Number&1] = s.Terms.Digest
	shmfmt.Publish(&s.own.Number, s.Number)
	return s.compare()
}

// compare waits until all members have entered the current collective and published their words. It
// fails in all members if two of them disagree. In the form of cells the own number has been
// published. In the form of a counter the last one compares, so that no other member loads the
// lines of the others.
func (s *Slot) compare() error {
	if s.inCells() {
		err := s.gathered(s.Number)
		s.wake()
		if err == nil {
			err = s.judge()
		}
		return err
	}
	if s.arrive() {
		err := s.judge()
		s.Release(err)
		return err
	}
	return s.released()
}

// Allreduce reduces what the members give in send to recv at each of them, with the same bits.
func (s *Slot) Allreduce(send, recv []byte, o op.Op, t op.Type, code dtype.Code) error {
	s.Terms.Say(code, code, len(send))
	s.Kind = uint8(kind.Allreduce)
	if len(send) > shmfmt.SlotPayload {
		return s.allreduceLong(send, recv, o, t)
	}
	s.Number++
	n := len(recv)
	if n > shmfmt.SlotShort {
		if err := s.give(mem.Of(send)); err != nil {
			return err
		}
	} else { // as give does
		if err := s.settle(); err != nil {
			return err
		}
		s.state()
		s.own.PutShort(s.Number, s.Terms.Digest, send)
		shmfmt.Publish(&s.own.Number, s.Number)
	}
	if s.inCells() {
		var err error
		if n <= shmfmt.SlotShort {
			copy(s.short[s.me][:], send)
			err = s.take()
			if err == nil {
				s.kernel.Apply(o, t, recv, s.short[0][:n], s.short[1][:n])
				for r := 2; r < len(s.cells); r++ {
					s.kernel.Apply(o, t, recv, recv, s.short[r][:n])
				}
			}
		} else {
			err = s.gathered(s.Number)
			if err == nil {
				err = s.judge()
				if err == nil {
					s.combine(recv, o, t)
				}
			}
		}
		s.wake()
		return err
	}
	sum := s.head.Release.Data[:n]
	if s.arrive() {
		err := s.judge()
		if err == nil {
			s.combine(sum, o, t)
			copy(recv, sum)
		}
		s.Release(err)
		return err
	}
	if err := s.released(); err != nil {
		return err
	}
	copy(recv, sum)
	return nil
}

// Reduce reduces what the members give in send to recv at the root. Other members do not use recv.
func (s *Slot) Reduce(send, recv []byte, o op.Op, t op.Type, code dtype.Code, root int) error {
	s.Number, s.Kind = s.Number+1, uint8(kind.Reduce)
	s.Terms.Name(kind.Reduce, root)
	s.Terms.Say(code, code, len(send))
	err := s.give(mem.Of(send))
	if err == nil && root == s.me {
		err = s.gathered(s.Number)
		if err == nil {
			err = s.judge()
			if err == nil {
				s.combine(recv, o, t)
			}
		}
	}
	s.wake()
	return err
}
