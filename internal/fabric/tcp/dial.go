package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// Attempts to reach a peer follow each other after these pauses: the peer may
// be busy with strangers, or its own call may be on its way.
const (
	firstPause = time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// errCrossed says that the peer dials too and its connection is the one that stays.
var errCrossed = errors.New("the peer's own call is on its way")

// reach dials until there is a connection, the peer's own call was taken
// instead (ctx ends), or there is no hope.
func (d *door) reach(ctx context.Context, to int, addr string) {
	pause := firstPause
	var last error // of an attempt that was not cut short
	for {
		conn, err := d.dial(ctx, to, addr)
		if err == nil {
			d.settle(to, conn)
			return
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if hopeless(err) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
			continue
		}
		break
	}
	d.fail(ctx, to, addr, last)
}

// hopeless tells errors that another attempt cannot mend: nobody listens (a
// peer listens before anyone learns its address), or the one who does is not
// ours, or is another version.
func hopeless(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wire.ErrRefused) || errors.Is(err, wire.ErrVersion)
}

// fail gives the peer up unless its own call was taken, or this end is closing.
func (d *door) fail(ctx context.Context, to int, addr string, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers[to].attempt == ctx && d.ctx.Err() == nil {
		d.lose(to, fmt.Errorf("tcp: process %d cannot reach process %d at %s: %w", d.job.Rank, to, addr, cause))
	}
}

// dial makes one attempt.
func (d *door) dial(ctx context.Context, to int, addr string) (_ *net.TCPConn, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.shake)
	defer cancel()
	var dialler net.Dialer
	c, err := dialler.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn)
	stop := interrupt(ctx, conn)
	defer func() {
		stop()
		if err != nil {
			conn.Close()
		}
	}()

	h := wire.NewDialler(d.pair(d.job.Rank, to))
	var hello [wire.HelloSize]byte
	h.Hello(&hello)
	if _, err := conn.Write(hello[:]); err != nil {
		return nil, err
	}
	var challenge [wire.ChallengeSize]byte
	if _, err := io.ReadFull(conn, challenge[:]); err != nil {
		return nil, fmt.Errorf("no answer to the greeting: %w", err)
	}
	if err := h.Challenge(&challenge); err != nil {
		return nil, err
	}
	var proof [wire.ProofSize]byte
	h.Proof(&proof)
	if _, err := conn.Write(proof[:]); err != nil {
		return nil, err
	}
	var verdict [wire.VerdictSize]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return nil, fmt.Errorf("no verdict: %w", err)
	}
	v, err := h.Verdict(&verdict)
	if err != nil {
		return nil, err
	}
	if v == wire.Crossed {
		return nil, errCrossed
	}
	return conn, nil
}

// interrupt makes reads and writes of conn fail once ctx ends, until stop.
func interrupt(ctx context.Context, conn net.Conn) (stop func()) {
	done := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		conn.SetDeadline(time.Unix(1, 0))
		close(done)
	})
	return func() {
		if !undo() {
			<-done
		}
		conn.SetDeadline(time.Time{})
	}
}
