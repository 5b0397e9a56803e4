package tcp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// A guest is a caller whose handshake goes on. Guests take one of a fixed
// number of places, so strangers cost constant memory. A caller that fails
// keeps its place for a penalty, which bounds the rate. When others wait, the
// oldest is shown out: first of those who have not sent a good Hello, but then of
// those who have, since a Hello can be recorded and sent by anybody. An honest
// caller is through long before it is the oldest.
type guest struct {
	conn  *socket
	turn  uint64
	known bool // its Hello was good
	out   bool // shown out
}

// answer takes calls until the door closes.
func (d *door) answer() {
	for {
		conn, err := d.ln.accept()
		if err != nil {
			if d.ctx.Err() != nil {
				return
			}
			select { // out of descriptors, or a caller that is gone already
			case <-d.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
				continue
			}
		}
		place, ok := d.seat(conn)
		if !ok {
			conn.Close()
			return
		}
		d.wg.Go(func() {
			d.greet(place, conn)
			d.mu.Lock()
			d.guests[place] = guest{}
			d.mu.Unlock()
			d.places <- place
		})
	}
}

// seat finds a place for a caller, for as long as that takes.
func (d *door) seat(conn *socket) (place int, ok bool) {
	select {
	case place = <-d.places:
	default:
		patience := time.NewTicker(d.limits.patience)
		defer patience.Stop()
	wait:
		for {
			select {
			case place = <-d.places:
				break wait
			case <-patience.C:
				d.showOut()
			case <-d.ctx.Done():
				return 0, false
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn++
	d.guests[place] = guest{conn: conn, turn: d.turn}
	return place, true
}

// showOut ends the handshake of the caller that has been here for longest.
func (d *door) showOut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var oldest *guest
	for i := range d.guests {
		g := &d.guests[i]
		if g.conn == nil || g.out {
			continue
		}
		if oldest == nil || oldest.known && !g.known || oldest.known == g.known && g.turn < oldest.turn {
			oldest = g
		}
	}
	if oldest != nil {
		oldest.out = true
		oldest.conn.SetDeadline(time.Unix(1, 0))
	}
}

// greet is the acceptor's side of one handshake, with what a failure costs.
func (d *door) greet(place int, conn *socket) {
	from, h, err := d.shake(place, conn)
	if err == nil {
		d.settle(from, conn, h)
		return
	}
	conn.Close()
	d.mu.Lock()
	g := &d.guests[place]
	spare := g.known || g.out
	g.out = true // its connection is closed: nothing left to show out
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

// shake runs the handshake and settles who stays.
func (d *door) shake(place int, conn *socket) (from int, h *wire.Acceptor, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.limits.shake)
	defer cancel()
	defer interrupt(ctx, conn)()

	silence := time.AfterFunc(d.limits.hello, func() { conn.SetDeadline(time.Unix(1, 0)) })
	var hello [wire.HelloSize]byte
	_, err = io.ReadFull(conn, hello[:])
	if !silence.Stop() && err == nil {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return 0, nil, err
	}
	h = wire.NewAcceptor(d.pair(0, d.job.Rank), d.job.Size)
	if from, err = h.Hello(&hello); err != nil {
		return 0, nil, err
	}
	d.mu.Lock()
	g := &d.guests[place]
	g.known = true
	out := g.out
	d.mu.Unlock()
	if out {
		return 0, nil, context.DeadlineExceeded
	}
	var challenge [wire.ChallengeSize]byte
	h.Challenge(&challenge)
	if _, err := conn.Write(challenge[:]); err != nil {
		return 0, nil, err
	}
	var proof [wire.ProofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return 0, nil, err
	}
	if err := h.Proof(&proof); err != nil {
		return 0, nil, err
	}
	v := d.admit(from)
	if v == 0 {
		return 0, nil, wire.ErrRefused
	}
	var verdict [wire.VerdictSize]byte
	h.Verdict(&verdict, v)
	_, err = conn.Write(verdict[:])
	switch {
	case v == wire.Crossed:
		return 0, nil, errCrossed
	case err != nil:
		d.unsettle(from)
	}
	return from, h, err
}
