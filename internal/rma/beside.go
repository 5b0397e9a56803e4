package rma

import (
	"encoding/binary"
	"errors"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
)

// # Memory of several jobs
//
// The heap of a process, and the control blocks in it, are mapped by processes of its job only: they have doorbells
// in common, know each other by local indexes, and learn of deaths from one launcher. If a window that allocates its
// memory has members of several jobs, each member has its memory in a block of its own (pair.Block), which all
// members on its node map when the window is made. Between jobs only loads and stores, puts and gets use it
// (pathBeside); all else goes by frames, as to another node. So epochs and accumulates of foreign origins are the
// target's work, which does it beside origins of its own job, in the control block.
//
// Rejected: control blocks that foreign processes map, which need a place for each process that may ever come, a
// way to wake it, and a rule for locks that one of them holds when its job ends.

// blocks is the memory of a window with members of several jobs; empty in others, and where nothing is mapped.
type blocks struct {
	beside map[int32][]byte // of each process that is mapped here, this one included; under the engine's lock
	mapped []*pair.Block
}

// engineBlocks is the blocks of all windows, so that they can be unmapped at the end; under the engine's lock.
type engineBlocks struct {
	held map[*pair.Block]struct{} // nil until there is one
}

// keepBlock keeps a block that is mapped. The lock is held.
func (w *Window) keepBlock(b *pair.Block) {
	w.mapped = append(w.mapped, b)
	if w.e.held == nil {
		w.e.held = map[*pair.Block]struct{}{}
	}
	w.e.held[b] = struct{}{}
}

// crosses reports whether a window with that Spec has its memory in blocks.
func (e *Engine) crosses(c *comm.Comm, s *Spec) bool {
	return (s.Flavor == Allocated || s.Flavor == Shared) && e.p.Met() && e.p.Foreign(c.Members) >= 0
}

// newBlock makes the block of this member.
func (w *Window) newBlock(size, align int64) ([]byte, error) {
	switch {
	case !w.e.p.SharesForeign():
		return nil, class.Errorf(class.RMAShared, "this process shares no memory with those of other jobs")
	case align > pair.BlockAlign:
		return nil, class.Errorf(class.RMAShared, "memory that several jobs share is aligned to %d bytes, not to %d", pair.BlockAlign, align)
	}
	b, err := pair.NewBlock(size)
	switch {
	case errors.Is(err, pair.ErrTooLarge):
		return nil, class.Errorf(class.NoMem, "no memory that several jobs share: %v", err)
	case err != nil:
		return nil, class.Errorf(class.RMAShared, "no memory that several jobs share: %v", err)
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	w.keepBlock(b)
	return b.Mem, nil
}

// exchangeBlocks has all members map the blocks of the others. It is an error of a Shared window if one cannot.
func (w *Window) exchangeBlocks(s *Spec) (err error) {
	e, n := w.e, w.Comm.Size()
	single := s.Flavor == Shared && !s.Noncontig // rank 0 has the memory of all
	at, total := w.places()
	if single {
		if w.Comm.Rank == 0 {
			_, err = w.newBlock(total, s.Align)
		}
	}
	give, all := make([]byte, pair.BlockOfferSize), make([]byte, n*pair.BlockOfferSize)
	if len(w.mapped) > 0 && !planted.BlockNotOffered {
		err = firstOf(err, w.mapped[0].Offer(give))
	}
	if err != nil { // in place of the offer
		clear(give)
		binary.LittleEndian.PutUint32(give[8:], uint32(classOf(err)))
	}
	lost := e.colls.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 1, Call: call.WindowCreation})
	if lost != nil {
		return lost
	}
	if failed := w.openBlocks(single, total, all); err == nil {
		err = failed
	}
	if single && err == nil {
		base := w.beside[w.Comm.Members[0]]
		e.p.Lock()
		for r, m := range w.Comm.Members {
			w.beside[m] = heap.Part(base, at[r], w.table.size.at(r))
		}
		w.mem = w.beside[w.Comm.Members[w.Comm.Rank]]
		w.own.Mem = w.mem
		e.p.Unlock()
	}
	// After this all have mapped what they map, and nobody needs the descriptor.
	var bad, worst [8]byte
	if err != nil && s.Flavor == Shared {
		binary.LittleEndian.PutUint64(bad[:], uint64(classOf(err)))
	}
	lost = e.colls.Allreduce(w.Comm, bad[:], worst[:], op.Max, op.Uint64, dtype.Mixed)
	for _, b := range w.mapped {
		b.Settle()
	}
	switch told := class.Class(binary.LittleEndian.Uint64(worst[:])); {
	case lost != nil: // whatever else is wrong: others may have succeeded
		return lost
	case s.Flavor == Shared && err != nil:
		return err
	case told == class.ProcFailed:
		return class.Errorf(told, "a member has found that another one has failed")
	case told != class.Success:
		return class.Errorf(told, "a member shares no memory with the others")
	}
	return nil
}

// openBlocks maps the blocks that the members offer. An error says why a Shared window has not got all.
func (w *Window) openBlocks(single bool, total int64, offers []byte) (first error) {
	w.e.p.Lock()
	defer w.e.p.Unlock()
	w.beside = map[int32][]byte{}
	for r, m := range w.Comm.Members {
		size := w.table.size.at(r)
		if single {
			size = total
		}
		switch {
		case r == w.Comm.Rank && len(w.mapped) > 0:
			w.beside[m] = w.mapped[0].Mem
		case single && r > 0 || r == w.Comm.Rank:
		case !w.e.p.SharesForeign():
			first = firstOf(first, class.Errorf(class.RMAShared, "this process shares no memory with those of other jobs"))
		default:
			offer := offers[r*pair.BlockOfferSize : (r+1)*pair.BlockOfferSize]
			if told := class.Class(binary.LittleEndian.Uint32(offer[8:])); told != class.Success && binary.LittleEndian.Uint64(offer) == 0 {
				first = firstOf(first, class.Errorf(told, "rank %d has no memory that several jobs share", r))
				continue
			}
			b, err := pair.OpenBlock(offer, size)
			if errors.Is(err, pair.ErrGone) && !planted.BlockOfTheDead { // members keep it until all have mapped it, or have lost one
				first = firstOf(first, class.Errorf(class.ProcFailed, "a process has failed before rank %d mapped the memory of rank %d: %v", w.Comm.Rank, r, err))
				continue
			}
			if err != nil {
				first = firstOf(first, class.Errorf(class.RMAShared, "rank %d shares no memory with rank %d: %v", r, w.Comm.Rank, err))
				continue
			}
			w.keepBlock(b)
			w.beside[m] = b.Mem
		}
	}
	return first
}

// unmapBlocks unmaps the blocks. If the window is not unused, because a member has died, others may still send to the
// memory of this process, which stays. The lock is held.
func (w *Window) unmapBlocks(unused bool) {
	own := w.beside[int32(w.e.p.Job().Rank)]
	for _, b := range w.mapped {
		b.Settle()
		if unused || len(own) == 0 || !b.Has(own) {
			b.Close()
			delete(w.e.held, b)
		}
	}
	w.mapped, w.beside = nil, nil
}

// Release unmaps the blocks of windows that have not been freed, or are kept because a member has died, when the process
// continues without the engine. If watched is set, calls may still be in progress or follow: they find empty memory.
func (e *Engine) Release(watched bool) error {
	e.p.Lock()
	defer e.p.Unlock()
	var errs []error
	for b := range e.held {
		if watched {
			errs = append(errs, b.Vacate())
		} else {
			errs = append(errs, b.Close())
		}
	}
	e.held = nil
	return errors.Join(errs...)
}
