package proc

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/planted"
)

// others are the processes of other jobs that this process has met and not forgotten.
//
// A process is forgotten when no communicator has it any more (Hold, Release) and both processes have
// left the connection between them. Its number is free then, unless a group still contains it (Pin).
type others struct {
	jobs    []otherJob
	places  map[string]int32  // in jobs
	list    []other           // by local number less the size of the own job
	numbers map[otherID]int32 // local numbers
	free    []int32           // numbers to use again
	spare   []int32           // entries of jobs to use again
}

// otherJob is a job of which some processes have been met.
type otherJob struct {
	id  string
	met int // how many
}

// otherID is the identity of a process of another job; job is an index into others.jobs.
type otherID struct{ job, index int32 }

// other is what a process keeps of one of another job.
type other struct {
	otherID
	met     bool
	here    bool  // a connection with it may come with memory
	pinned  bool  // the number is not used again
	leaving bool  // Leave is sent, or in the send queue
	again   bool  // it was held again while this process was leaving it
	holds   int32 // communicators that have it, and meetings in progress
}

// A Far is a fabric that reaches processes of other jobs.
type Far interface {
	fabric.Fabric
	// Reach opens the connection with a process if there is none.
	Reach(number int)
	// Connected reports whether there is a connection, or one is being opened.
	Connected(number int) bool
	// Left records that the peer has left its connection.
	Left(number int)
	// Forget ends what the fabric knows of a process, and attempts of this process to open a connection. It reports
	// false, and does nothing, if the peer may have accepted one: then Leave ends it.
	Forget(number int) bool
	// Ring wakes a process to which frames travel through memory.
	Ring(number int)
	// Lose reports that a process has failed.
	Lose(number int, cause error)
}

// Forgetter is a Worker with state of peers.
type Forgetter interface {
	// Forget makes the state of a peer as it was first: its number will be that of another process.
	Forget(peer int)
}

// A Debtor is a Worker that owes something to peers.
type Debtor interface {
	// Repay sends what the process owes to a peer that it is about to leave: the peer counts anew when it meets the
	// process again, or goes on counting if it has not let go of it, and neither knows which the other one does.
	Repay(peer int)
}

// Number returns the local number of a process, -1 if this process has not met it.
func (p *Proc) Number(id ID) int {
	switch {
	case id.Index < 0 || id.Index >= boot.MaxRanks:
		return -1
	case id.Job != p.job.ID && !planted.IndexAsNumber:
		if j, met := p.others.places[id.Job]; met {
			if n, met := p.others.numbers[otherID{j, int32(id.Index)}]; met {
				return int(n)
			}
		}
		return -1
	case id.Index >= p.job.Size:
		return -1
	}
	return id.Index
}

// Meet returns the local number of a process, which it gets now if it has none. The caller has
// proof that the process exists; frames reach it through the fabric to other hosts. here says that a connection with
// it may come with memory.
func (p *Proc) Meet(id ID, here bool) (int, error) {
	if n := p.Number(id); n >= 0 {
		return n, nil
	}
	o := &p.others
	j, known := o.places[id.Job]
	switch {
	case id.Job == p.job.ID:
		return -1, fmt.Errorf("proc: process %d of the own job, which has %d", id.Index, p.job.Size)
	case id.Job == "" || id.Index < 0 || id.Index >= boot.MaxRanks:
		return -1, fmt.Errorf("proc: process %d of job %q: a job has a name and at most %d processes", id.Index, id.Job, boot.MaxRanks)
	case p.far == nil:
		return -1, fmt.Errorf("proc: no fabric reaches process %d of job %q", id.Index, id.Job)
	case !known && len(o.places) == JobsMax:
		return -1, fmt.Errorf("proc: process %d of job %q: processes of %d other jobs have been met, the limit", id.Index, id.Job, JobsMax)
	case !known:
		if o.places == nil {
			o.places, o.numbers = make(map[string]int32), make(map[otherID]int32)
		}
		if k := len(o.spare); k > 0 {
			j, o.spare = o.spare[k-1], o.spare[:k-1]
		} else {
			j, o.jobs = int32(len(o.jobs)), append(o.jobs, otherJob{})
		}
		job := strings.Clone(id.Job)
		o.jobs[j].id, o.places[job] = job, j
	}
	o.jobs[j].met++
	p.met.Store(true)
	e := other{otherID: otherID{j, int32(id.Index)}, met: true, here: here}
	var n int
	if k := len(o.free); k > 0 {
		n, o.free = int(o.free[k-1]), o.free[:k-1]
		o.list[n-p.job.Size] = e
	} else {
		n, o.list = p.Known(), append(o.list, e)
	}
	o.numbers[e.otherID] = int32(n)
	p.resetPeer(n) // a page of entries may have been made before there was a fabric
	return n, nil
}

// Known is how many processes have had a local number: all of the own job and those of other jobs that
// this process has met. The numbers are all below it.
func (p *Proc) Known() int { return p.job.Size + len(p.others.list) }

// Hold keeps the processes of other jobs among members from being forgotten, until Release.
func (p *Proc) Hold(members []int32) {
	if len(p.others.numbers) == 0 {
		return
	}
	for _, m := range members {
		if o := p.other(int(m)); o != nil {
			o.holds++
			o.again = o.again || o.leaving
		}
	}
}

// Release undoes a Hold. A process of another job that nothing holds any more is left, and forgotten when it
// has left this process, too.
func (p *Proc) Release(members []int32) {
	if len(p.others.numbers) == 0 {
		return
	}
	for _, m := range members {
		if o := p.other(int(m)); o != nil {
			o.holds--
			if o.holds == 0 {
				p.leave(int(m))
			}
		}
	}
}

// Pin keeps the numbers of members from being used again, for a group that may outlive the
// communicators.
func (p *Proc) Pin(members []int32) {
	for _, m := range members {
		if o := p.other(int(m)); o != nil {
			o.pinned = true
		}
	}
}

// other returns the entry of a process of another job, nil for others and those that are forgotten.
func (p *Proc) other(number int) *other {
	if i := number - p.job.Size; i >= 0 && i < len(p.others.list) && p.others.list[i].met {
		return &p.others.list[i]
	}
	return nil
}

// leave forgets a process of another job, at once if there is no connection with it, and otherwise when both have
// left it: a peer that finds its end without Leave takes this process for dead.
func (p *Proc) leave(number int) {
	o := p.other(number)
	if o.leaving && p.DownCause(number) == nil {
		return
	}
	f, ok := p.far.(Far)
	gone := !ok || p.DownCause(number) != nil || !f.Connected(number)
	if (gone || p.peers.At(number).queue.count() == 0) && p.forget(number) {
		return
	}
	o.leaving = true
	p.queueLeave(number)
}

// PeerLeft is called when a peer has left its connection with this process, which leaves it, too. It
// reports false if the peer must not leave: it is of the own job.
func (p *Proc) PeerLeft(number int) bool {
	o := p.other(number)
	if o == nil {
		return false
	}
	p.far.(Far).Left(number)
	if !o.leaving {
		o.leaving = true
		p.queueLeave(number)
	}
	return true
}

// Parted is called by the fabric to processes of other jobs when this process and a peer have left the
// connection between them, or when this process has left and there is none.
func (p *Proc) Parted(number int) {
	if o := p.other(number); o != nil {
		o.leaving = false
		p.ended = append(p.ended, number)
	}
}

// forgetEnded forgets the processes of other jobs that nothing holds and to which there is no
// connection any more. Those that were met again meanwhile get a new one: the old one, which this process was
// leaving, does not count as watched. It runs between polls, since the caller of Parted or SetDown may use
// the state of the peer.
func (p *Proc) forgetEnded() {
	for i := 0; i < len(p.ended); i++ { // leave may append
		n := p.ended[i]
		o := p.other(n)
		switch {
		case o == nil:
		case o.holds == 0:
			p.leave(n) // the peer, which holds this process, may have opened another connection
		case o.again && !planted.MetAgainUnwatched:
			o.again = false
			p.Watch(n)
		}
	}
	p.ended = p.ended[:0]
}

// forget frees the number of a process of another job. It reports false if there is a connection to leave.
func (p *Proc) forget(number int) bool {
	if f, ok := p.far.(Far); ok && !f.Forget(number) {
		return false
	}
	o := p.other(number)
	s := &p.others
	delete(s.numbers, o.otherID)
	if j := &s.jobs[o.job]; j.met > 1 {
		j.met--
	} else {
		delete(s.places, j.id)
		*j = otherJob{}
		s.spare = append(s.spare, o.job)
	}
	if (!o.pinned || planted.PinIgnored) && !planted.NumberKept {
		s.free = append(s.free, int32(number))
	}
	*o = other{}
	p.dropQueue(number)
	p.resetPeer(number)
	return true
}

// resetPeer makes the entries of a peer as they are first.
func (p *Proc) resetPeer(number int) {
	p.peers.Forget(number)
	for _, w := range p.work {
		if f, ok := w.(Forgetter); ok {
			f.Forget(number)
		}
	}
}

// Watch opens the connection with a process of another job, so that this process learns of its
// failure: nobody else reports it.
func (p *Proc) Watch(number int) {
	if f, ok := p.far.(Far); ok && p.other(number) != nil && p.DownCause(number) == nil && !planted.ForeignUnwatched {
		f.Reach(number)
	}
}

// WatchJobs is Watch of one process of each other job among members: the death of a process ends its
// job, so whoever waits for any process of the job learns of it. rank chooses another one at each
// member.
func (p *Proc) WatchJobs(members []int32, rank int) {
	if len(p.others.numbers) == 0 {
		return
	}
	of := map[int32][]int32{}
	for _, m := range members {
		if o := p.other(int(m)); o != nil {
			of[o.job] = append(of[o.job], m)
		}
	}
	for _, list := range of {
		p.Watch(int(list[rank%len(list)]))
	}
}

// Met reports whether this process has ever met processes of other jobs. No lock is needed.
func (p *Proc) Met() bool { return p.met.Load() }

// Far returns the fabric to all processes that share no memory with this one, nil if there is none.
func (p *Proc) Far() fabric.Fabric { return p.far }

// AddFar adds a fabric to the processes of other jobs to a process that has had no use for one.
func (p *Proc) AddFar(f fabric.Fabric) {
	p.far = f
	p.rec.Watch.Elsewhere.Store(1)
	p.addTransport(&transport{fab: f, sockets: true})
}

func (p *Proc) addTransport(t *transport) {
	p.transports = append(p.transports, t)
	p.services.Add(1)
	go p.serve(t)
}
