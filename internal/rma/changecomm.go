package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// # Other processes for a window (Ritzdorf, 2008)
//
// ChangeComm gives a window the members of another communicator: some stay, some leave, some are
// new, and ranks are those of the new communicator. There need be no communicator of all processes
// that take part. So the old members (which stay or leave) and the new members (which stay or are
// new) agree in turn; those that stay take part in both:
//
//	1 old   which members stay, and whether all may: no epoch is open, nothing under way
//	2 new   a duplicate of the new communicator; what the window is; what new members bring
//	3       those that stay change tables; from now on frames of new members are understood
//	4 old   it is done, or why not: those that leave free their part
//	5 new   all have changed: operations may begin
//
// All members take each decision from the same words, so that either all change or none does,
// unless one dies. An error of one is told to all.
//
// The window keeps its id, its memory and counters, and with them synchronisation objects, which
// name a process and not a rank. State of targets belongs to processes: that of those that stay
// continues under another rank; that of those that leave is dropped, so that they can come back as
// new members.

// oldPart is what a member tells the old members.
type oldPart struct {
	class class.Class
	ctx   uint64 // of the new communicator, 0 for a member that leaves
}

const oldPartSize = 16

// newPart is what a member tells the new members.
type newPart struct {
	class   class.Class
	stays   bool
	fine    bool
	checked bool
	peer    int64
	id      uint64
	flavor  Flavor
	host    int32 // process that holds all memory, -1 if each holds its own
	unit    int64
}

const newPartSize = 48

func (x *newPart) encode(b []byte) {
	var bits uint64
	for i, set := range [...]bool{x.stays, x.fine, x.checked} {
		if set {
			bits |= 1 << i
		}
	}
	for i, w := range [...]uint64{uint64(x.class), bits | uint64(x.flavor)<<8, uint64(x.peer), x.id, uint64(int64(x.host)), uint64(x.unit)} {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

func (x *newPart) decode(b []byte) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	*x = newPart{
		class: class.Class(word(0)), stays: word(1)&1 != 0, fine: word(1)&2 != 0, checked: word(1)&4 != 0, flavor: Flavor(word(1) >> 8),
		peer: int64(word(2)), id: word(3), host: int32(int64(word(4))), unit: int64(word(5)),
	}
}

// ChangeComm gives the window of v the members of c, which is nil for a member that leaves; v is
// nil for a new member, and s says what that brings (MPIX_WIN_CHANGE_COMM). peer is a rank of c
// that is a member already. It returns the view, nil to a member that leaves, and takes the lock.
// It is collective over the window and c.
//
// Cost: an allgather of 16 bytes and an allreduce of 8 of the old members; a duplicate of c, two
// allgathers of 48 bytes and a barrier of the new ones.
func (e *Engine) ChangeComm(v *View, c *comm.Comm, peer int, s Spec) (*View, error) {
	if v == nil {
		return e.enter(c, peer, s)
	}
	w := v.w
	if err := w.live(); err != nil {
		return v, err
	}
	defer w.Comm.Begin(call.WinChangeComm)()
	own := w.changeable(v, c, peer)
	told, err := w.agreeOld(own, c)
	if err != nil && !told {
		return v, err
	}
	if c == nil {
		if err == nil {
			err = w.outcome(nil)
		}
		if err != nil {
			return v, err
		}
		w.abandon()
		return nil, nil
	}
	return v, w.changeMembers(c, peer, err)
}

// changeable returns why this member cannot take part.
func (w *Window) changeable(v *View, c *comm.Comm, peer int) error {
	e := w.e
	if !v.first {
		return class.Errorf(class.Win, "the window is a duplicate, or that of a memory handle")
	}
	if err := w.idle(); err != nil {
		return err
	}
	w.settleAll(false, call.WinChangeComm) // signals belong to no epoch; of failures others tell
	e.p.Lock()
	alone := w.alone()
	e.p.Unlock()
	switch {
	case !alone || w.handles.Load() > 0:
		return class.Errorf(class.Win, "the window has duplicates or memory handles in use")
	case c == nil && w.host == w.Comm.Rank && w.Comm.Size() > 1:
		return class.Errorf(class.RMAShared, "rank %d, which holds the memory of all, cannot leave", w.Comm.Rank)
	case c == nil:
		return w.unawaited()
	}
	return peerExists(c, peer)
}

// peerExists returns an error unless peer is a rank of c.
func peerExists(c *comm.Comm, peer int) error {
	if uint(peer) >= uint(c.Size()) {
		return class.Errorf(class.Rank, "peer %d is not a rank of a communicator of %d", peer, c.Size())
	}
	return nil
}

// agreeOld tells the old members whether this one stays, and returns why the window cannot change;
// told says that the new members must be told as well.
func (w *Window) agreeOld(own error, c *comm.Comm) (told bool, err error) {
	n := w.Comm.Size()
	mine, all := make([]byte, oldPartSize), make([]byte, n*oldPartSize)
	x := oldPart{class: classOf(own)}
	if c != nil {
		x.ctx = c.Ctx
	}
	binary.LittleEndian.PutUint64(mine, uint64(x.class))
	binary.LittleEndian.PutUint64(mine[8:], x.ctx)
	err = w.e.colls.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(mine), Recv: coll.Bytes(all), Width: 1, Call: call.WinChangeComm})
	if own != nil {
		return true, own
	}
	if err != nil {
		return true, err
	}
	ctx := uint64(0)
	for r := range n {
		x := oldPart{class.Class(binary.LittleEndian.Uint64(all[r*oldPartSize:])), binary.LittleEndian.Uint64(all[r*oldPartSize+8:])}
		switch {
		case x.class != class.Success:
			return true, class.Errorf(x.class, "rank %d cannot change the window", r)
		case x.ctx != 0 && ctx != 0 && x.ctx != ctx:
			return false, class.Errorf(class.Comm, "members give different communicators")
		case x.ctx != 0:
			ctx = x.ctx
		}
	}
	if ctx == 0 {
		return false, class.Errorf(class.Comm, "all members leave the window: free it")
	}
	return true, nil
}

// changeMembers is the part of a member that stays, from step 2 on; failed is why it cannot.
func (w *Window) changeMembers(c *comm.Comm, peer int, failed error) error {
	e := w.e
	d, err := e.colls.Dup(c)
	if err != nil {
		if failed == nil {
			w.outcome(err)
		}
		return firstOf(failed, err)
	}
	d.Join(c)
	defer d.Leave()
	d.Usual = w.Comm.Usual
	mine := newPart{
		class: classOf(failed), stays: true, fine: w.own.Fine, checked: w.check != nil && e.checksAll(d), peer: int64(peer),
		id: w.id, flavor: w.flavor, host: -1, unit: w.Unit(),
	}
	if w.host >= 0 {
		mine.host = w.Comm.Members[w.host]
	}
	known, err := e.agreeNew(d, mine, failed)
	var all []byte
	if err == nil {
		x := w.table.at(w.Comm.Rank)
		all, err = e.exchangeEntries(d, x, e.reachable(d, known))
	}
	if err != nil {
		if failed == nil {
			w.outcome(err)
		}
		e.colls.Free(d)
		return err
	}
	old := w.Comm
	w.renumber(d, newTable(all), known.checked)
	err = e.outcomeOf(old, nil)
	e.colls.Free(old)
	return firstOf(err, e.colls.Barrier(d))
}

// Unit is the own displacement unit.
func (w *Window) Unit() int64 { return w.table.unit.at(w.Comm.Rank) }

// agreeNew tells the new members what this one is and knows, and returns what the window is; own is
// why this one cannot take part.
func (e *Engine) agreeNew(d *comm.Comm, mine newPart, own error) (known newPart, err error) {
	n := d.Size()
	give, all := make([]byte, newPartSize), make([]byte, n*newPartSize)
	mine.encode(give)
	err = e.colls.Do(d, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 1, Call: call.WinChangeComm})
	err = firstOf(own, err)
	if err != nil {
		return known, err
	}
	checked := true // by all members, old and new
	parts := make([]newPart, n)
	for r := range parts {
		x := &parts[r]
		x.decode(all[r*newPartSize:])
		if x.class != class.Success {
			return known, class.Errorf(x.class, "rank %d cannot change the window", r)
		}
		checked = checked && x.checked
		if x.stays {
			if known.stays && x.id != known.id {
				return known, class.Errorf(class.Win, "members give different windows")
			}
			known = *x
		}
	}
	for r, x := range parts {
		if uint64(x.peer) >= uint64(n) || !parts[x.peer].stays {
			return known, class.Errorf(class.Rank, "peer %d, that rank %d gives, is no member of the window", x.peer, r)
		}
	}
	known.checked = checked
	return known, nil
}

// reachable returns an error unless all members may be in such a window.
func (e *Engine) reachable(d *comm.Comm, known newPart) error {
	if known.flavor == Shared {
		for r, m := range d.Members {
			if !e.near(m) {
				return class.Errorf(class.RMAShared, "rank %d shares no memory with rank %d", r, d.Rank)
			}
		}
	}
	return nil
}

// exchangeEntries returns the entries of all new members, encoded.
func (e *Engine) exchangeEntries(d *comm.Comm, mine entry, own error) ([]byte, error) {
	n := d.Size()
	mine.class = classOf(own)
	give, all := make([]byte, entrySize), make([]byte, n*entrySize)
	mine.encode(give)
	err := e.colls.Do(d, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 1, Call: call.WinChangeComm})
	err = firstOf(own, err)
	if err != nil {
		return nil, err
	}
	for r := range n {
		var x entry
		x.decode(all[r*entrySize:])
		if x.class != class.Success {
			return nil, class.Errorf(x.class, "rank %d cannot change the window", r)
		}
		if x.size < 0 || x.unit <= 0 {
			return nil, class.Errorf(class.Intern, "rank %d shows %d bytes in units of %d", r, x.size, x.unit)
		}
	}
	return all, nil
}

// outcome tells the old members why the window could not be changed, or that it was, and returns
// the error of any of them.
func (w *Window) outcome(failed error) error { return w.e.outcomeOf(w.Comm, failed) }

func (e *Engine) outcomeOf(c *comm.Comm, failed error) error {
	var give, worst [8]byte
	binary.LittleEndian.PutUint64(give[:], uint64(classOf(failed)))
	err := e.colls.Allreduce(c, give[:], worst[:], op.Max, op.Uint64, dtype.Mixed)
	if failed != nil {
		return failed
	}
	if x := class.Class(binary.LittleEndian.Uint64(worst[:])); err == nil && x != class.Success {
		return class.Errorf(x, "the window could not be changed")
	}
	return err
}

// renumber makes the members of d those of the window.
func (w *Window) renumber(d *comm.Comm, t table, checked bool) {
	e := w.e
	w.mu.Lock()
	defer w.mu.Unlock()
	e.p.Lock()
	defer e.p.Unlock()
	d.Name.Store(w.Comm.Name.Load())
	were := w.targets
	w.seat(d.Size())
	for rank, process := range w.Comm.Members {
		next := d.RankOf(process)
		if t := were[rank].Load(); t != nil && next >= 0 {
			rec := w.rec.Target(next)
			rec.Copy(t.rec)
			t.Rank, t.rec = next, rec
			w.targets[next].Store(t)
		} else if t != nil {
			w.departed = append(w.departed, t.view)
		}
		if next < 0 {
			w.disown(process)
		}
	}
	if w.host >= 0 {
		w.host = d.RankOf(w.Comm.Members[w.host])
	}
	w.Comm, w.table = d, t
	w.group, w.origins = nil, nil
	if !checked {
		w.check = nil
	}
	if w.check != nil {
		w.check.Renew()
	}
	w.openSync()
}

// disown drops the state of a process that leaves. The lock is held.
func (w *Window) disown(process int32) {
	w.incoming.Forget(process)
	delete(w.beside, process) // others may get its number
	if w.e.node == nil {
		return
	}
	if local := w.e.node.LocalIndex(int(process)); local >= 0 { // if it comes back its counts begin at 0
		w.control.Posted(local).Store(0)
		w.control.Completed(local).Store(0)
	}
}

// abandon discards the window in this process, which leaves it: the others know.
func (w *Window) abandon() {
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	w.freed.Store(true)
	w.closeGates()
	w.views = nil
	w.discard(true)
}

// enter is the part of a new member.
func (e *Engine) enter(c *comm.Comm, peer int, s Spec) (*View, error) {
	d, err := e.colls.Dup(c)
	if err != nil {
		return nil, err
	}
	d.Join(c)
	defer d.Leave()
	own := firstOf(s.Refused, peerExists(c, peer))
	known, err := e.agreeNew(d, newPart{class: classOf(own), checked: e.checksAll(d), peer: int64(peer), host: -1}, own)
	if err != nil {
		e.colls.Free(d)
		return nil, err
	}
	w := e.newWindow(d, known.id, known.flavor)
	if known.checked {
		w.check = w.checker(d)
	}
	brings := s.Mem != nil
	s.Flavor, s.Size, s.Noncontig = known.flavor, 0, true
	if !brings {
		s.DispUnit = known.unit
	}
	mine, err := w.prepare(d, &s, false)
	if err == nil && brings && known.flavor != Created {
		err = class.Errorf(class.RMAFlavor, "only windows made over memory of the program take memory of newcomers: this one was %v", known.flavor)
	}
	if err == nil {
		if known.host >= 0 {
			mine.where = nowhere
			w.host = d.RankOf(known.host)
		}
		e.p.Lock()
		w.own.Fine = known.fine
		if e.windows[w.id] != nil {
			err = class.Errorf(class.Win, "this process is a member of the window already")
		} else {
			e.windows[w.id] = w // before other members can use it here
		}
		e.p.Unlock()
	}
	all, err := e.exchangeEntries(d, mine, err)
	if err != nil {
		w.freed.Store(true)
		e.p.Lock()
		other := e.windows[w.id]
		w.discard(classOf(err) != class.ProcFailed)
		if other != nil && other != w { // discard has removed it by its id
			e.windows[w.id] = other
		}
		e.p.Unlock()
		return nil, err
	}
	v := newView(w)
	v.first = true
	e.p.Lock()
	w.table = newTable(all)
	w.open()
	w.join(v)
	v.setOptions(s.Options)
	e.p.Unlock()
	return v, e.colls.Barrier(d)
}
