package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// errNoAnswer says that no kernel answered at an address: whoever is slow or
// stopped there, its kernel answers for it.
var errNoAnswer = errors.New("no answer from the host")

// errCrossed says that the peer dials too and its connection is the one that stays.
var errCrossed = errors.New("the peer's own call is on its way")

// reach dials until there is a connection, the peer's own call was taken
// instead (ctx ends), or there is no hope.
func (d *door) reach(ctx context.Context, to int, addr string) {
	pause := firstPause
	end, _ := ctx.Deadline()
	var silent time.Duration // that the peer's host has been, while this process looked
	var last error           // of an attempt that was not cut short
	for looked := time.Now(); ; {
		conn, h, err := d.dial(ctx, to, addr)
		if err == nil {
			d.settle(to, conn, h)
			return
		}
		// Longer than a host gets to answer, this process was held up itself.
		silent += min(time.Since(looked), d.limits.connect)
		if looked = time.Now(); !errors.Is(err, errNoAnswer) {
			silent = 0
		}
		if last == nil || ctx.Err() == nil && time.Now().Before(end) { // sockets may look at the clock before ctx does
			last = err
		}
		if hopeless(err) || far(d.job, to) && silent >= d.limits.silence {
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
		where := addr
		if far(d.job, to) {
			where = hostOf(d.job, to) + ", " + addr
		}
		d.lose(to, fmt.Errorf("tcp: process %d cannot reach process %d at %s: %w", d.job.Rank, to, where, cause))
	}
}

// call connects to the address of a peer. Another host must answer soon, or the
// attempt is given up for the next: the kernel itself would wait for a second
// before it tries again. Whether it has answered is for the kernel to say: this
// process may have had no time to see that.
func (d *door) call(all context.Context, to int, addr string) (conn *socket, err error) {
	var prepare func(syscall.RawConn) error
	ctx := all
	if far(d.job, to) {
		var giveUp context.CancelFunc
		ctx, giveUp = context.WithCancel(all)
		defer giveUp()
		prepare = func(c syscall.RawConn) error {
			limitCall(ctx, c, d.limits.connect, giveUp)
			return watchShake(c, d.limits.silence)
		}
	}
	err = d.limits.inside(func() (err error) {
		conn, err = connect(ctx, addr, prepare)
		return err
	})
	switch {
	case errors.Is(err, context.Canceled) && all.Err() == nil:
		return nil, fmt.Errorf("%w within %v", errNoAnswer, d.limits.connect)
	case err != nil && !hopeless(err):
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return conn, err
}

// limitCall gives a socket that connects up unless it has come through after some time, or
// ctx has ended.
func limitCall(ctx context.Context, c syscall.RawConn, within time.Duration, giveUp func()) {
	late := time.AfterFunc(within, func() {
		if !answered(c) {
			giveUp()
		}
	})
	context.AfterFunc(ctx, func() { late.Stop() })
}

// dial makes one attempt. An acceptor that has the proof may have taken the call
// for good: from then on only its word counts, or the end of all attempts, and not
// how long this process or that one was held up.
func (d *door) dial(all context.Context, to int, addr string) (_ *socket, _ *wire.Dialler, err error) {
	ctx, cancel := context.WithTimeout(all, d.limits.shake)
	defer cancel()
	conn, err := d.call(ctx, to, addr)
	if err != nil {
		return nil, nil, err
	}
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
		return nil, nil, err
	}
	var challenge [wire.ChallengeSize]byte
	if _, err := io.ReadFull(conn, challenge[:]); err != nil {
		return nil, nil, fmt.Errorf("no answer to the greeting: %w", err)
	}
	if err := h.Challenge(&challenge); err != nil {
		return nil, nil, err
	}
	stop()
	stop = interrupt(all, conn)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	var proof [wire.ProofSize]byte
	h.Proof(&proof)
	if _, err := conn.Write(proof[:]); err != nil {
		return nil, nil, err
	}
	var verdict [wire.VerdictSize]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return nil, nil, fmt.Errorf("no verdict: %w", err)
	}
	v, err := h.Verdict(&verdict)
	if err != nil {
		return nil, nil, err
	}
	if v == wire.Crossed {
		return nil, nil, errCrossed
	}
	if far(d.job, to) {
		if err := unwatch(conn); err != nil {
			return nil, nil, err
		}
	}
	return conn, h, nil
}

// interrupt makes reads and writes of conn fail once ctx ends, until stop.
func interrupt(ctx context.Context, conn *socket) (stop func()) {
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
