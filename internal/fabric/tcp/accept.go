package tcp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// A caller is a process whose handshake is in progress. Callers take one of a fixed number
// of slots, so that unauthenticated callers cost constant memory. A caller that fails keeps
// its slot for a penalty, which bounds the rate. When others wait, the oldest caller is
// dropped: first among those that have not sent a valid Hello, then among the others, since
// anybody can record and replay a Hello. A correct caller completes long before it is the
// oldest.
type caller struct {
	conn    *socket
	turn    uint64
	known   bool // its Hello was valid
	dropped bool // to free its slot
}

// answer accepts calls until ln is closed.
func (d *connector) answer(ln *listener) {
	for {
		conn, err := ln.accept()
		if err != nil {
			if d.ctx.Err() != nil || ln.closed.Load() {
				return
			}
			select { // out of descriptors, or the caller has closed already
			case <-d.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
				continue
			}
		}
		place, ok := d.takeSlot(conn)
		if !ok {
			conn.Close()
			return
		}
		d.wg.Go(func() {
			d.serve(place, conn)
			d.mu.Lock()
			d.callers[place] = caller{}
			d.mu.Unlock()
			d.slots <- place
		})
	}
}

// takeSlot waits for a slot for a caller.
func (d *connector) takeSlot(conn *socket) (place int, ok bool) {
	select {
	case place = <-d.slots:
	default:
		full := time.NewTicker(d.limits.slotWait)
		defer full.Stop()
	wait:
		for {
			select {
			case place = <-d.slots:
				break wait
			case <-full.C:
				d.dropOldest()
			case <-d.ctx.Done():
				return 0, false
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn++
	d.callers[place] = caller{conn: conn, turn: d.turn}
	return place, true
}

// dropOldest ends the handshake of the oldest caller.
func (d *connector) dropOldest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var oldest *caller
	for i := range d.callers {
		g := &d.callers[i]
		if g.conn == nil || g.dropped {
			continue
		}
		if oldest == nil || oldest.known && !g.known || oldest.known == g.known && g.turn < oldest.turn {
			oldest = g
		}
	}
	if oldest != nil {
		oldest.dropped = true
		oldest.conn.SetDeadline(time.Unix(1, 0))
	}
}

// serve runs the acceptor's side of one handshake, and the penalty if it fails.
func (d *connector) serve(place int, conn *socket) {
	from, h, err := d.handshake(place, conn)
	if err == nil {
		switch {
		case from.port != nil:
			from.port.called(conn, h)
		case from.peer >= d.job.Size: // which waits for the caller: others may have the slot
			d.mu.Lock()
			d.callers[place].dropped = true
			d.mu.Unlock()
			conn.SetDeadline(time.Time{})
			d.wg.Go(func() { d.established(from, conn, h, d.ctx, false) })
		default:
			d.established(from, conn, h, d.ctx, false)
		}
		return
	}
	conn.Close()
	d.mu.Lock()
	g := &d.callers[place]
	spare := g.known || g.dropped
	g.dropped = true // its connection is closed: there is nothing to drop any more
	d.mu.Unlock()
	if d.ctx.Err() != nil || errors.Is(err, errCrossed) {
		return
	}
	d.refused.Add(1)
	if spare {
		return
	}
	select {
	case <-d.ctx.Done():
	case <-time.After(d.limits.penalty):
	}
}

// A visitor is a caller that has proved who it is: a process, or a client of a port.
type visitor struct {
	peer   int
	era    uint64 // of a process of another job: abroad.eras
	sealed bool
	port   *Port // nil if it is a process
}

// greeted checks a Hello, and returns who sends it.
func (d *connector) greeted(ctx context.Context, hello *[wire.HelloSize]byte) (from visitor, h *wire.Acceptor, err error) {
	claimed := wire.HelloFrom(hello)
	if wire.IsTag(claimed) {
		for _, g := range d.guests(claimed) { // several have the same tag by accident only
			h = wire.NewTagAcceptor(g.pair)
			if _, err := h.Hello(hello); err == nil || planted.TagEnough {
				return g.visitor, h, nil
			}
		}
		return from, nil, wire.ErrRefused
	}
	pair, err := d.acceptFrom(ctx, claimed)
	if err != nil {
		return from, nil, err
	}
	h = wire.NewAcceptor(pair, d.job.Size)
	peer, err := h.Hello(hello)
	return visitor{peer: peer, sealed: err == nil && far(d.job, peer)}, h, err
}

// handshake runs the handshake and decides which connection of the pair stays.
func (d *connector) handshake(place int, conn *socket) (from visitor, h *wire.Acceptor, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.limits.handshake)
	defer cancel()
	defer interrupt(ctx, conn)()

	silence := time.AfterFunc(d.limits.hello, func() { conn.SetDeadline(time.Unix(1, 0)) })
	var hello [wire.HelloSize]byte
	_, err = io.ReadFull(conn, hello[:])
	if !silence.Stop() && err == nil {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return from, nil, err
	}
	from, h, err = d.greeted(ctx, &hello)
	if err != nil {
		return from, nil, err
	}
	d.mu.Lock()
	g := &d.callers[place]
	g.known = true
	out := g.dropped
	d.mu.Unlock()
	if out {
		return from, nil, context.DeadlineExceeded
	}
	var challenge [wire.ChallengeSize]byte
	h.Challenge(&challenge)
	if _, err := conn.Write(challenge[:]); err != nil {
		return from, nil, err
	}
	var proof [wire.ProofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return from, nil, err
	}
	if err := h.Proof(&proof); err != nil && !(planted.TagEnough && from.port != nil) {
		return from, nil, err
	}
	v := wire.Accepted
	if from.port == nil {
		v = d.admit(from)
	}
	if v == 0 {
		return from, nil, wire.ErrRefused
	}
	var verdict [wire.VerdictSize]byte
	h.Verdict(&verdict, v)
	_, err = conn.Write(verdict[:])
	switch {
	case v == wire.Crossed:
		return from, nil, errCrossed
	case err != nil && from.port == nil:
		d.revokeAdmission(from)
	}
	return from, h, err
}
