package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// The pauses between attempts to reach a peer: its slots may be in use by other callers, or
// its own call may be on its way.
const (
	firstPause = time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// errNoAnswer says that no kernel answered at an address: the kernel of a slow or stopped
// process answers.
var errNoAnswer = errors.New("no answer from the host")

// errCrossed says that the peer dials too and its connection is the one that stays.
var errCrossed = errors.New("the peer's own call is on its way")

// dialLoop dials until there is a connection, the peer's own call was accepted instead (ctx
// ends), or an error is permanent. ctx is attempt, which identifies the attempts, with a limit of
// time.
func (d *connector) dialLoop(ctx, attempt context.Context, to int, addr string) {
	pause := firstPause
	end, _ := ctx.Deadline()
	var silent time.Duration // how long the peer's host has not answered, while this process was running
	var last error           // of an attempt that was not cancelled
	for looked, turn := time.Now(), 0; ; turn++ {
		who, conn, h, err := d.attempt(ctx, to, addr, turn)
		if err == nil {
			d.established(who, conn, h, attempt, true)
			return
		}
		d.withdraw(attempt, to)
		// An attempt that took longer than a host has to answer shows that this process was
		// not running.
		silent += min(time.Since(looked), d.limits.connect)
		looked = time.Now()
		if !errors.Is(err, errNoAnswer) {
			silent = 0
		}
		if last == nil || ctx.Err() == nil && time.Now().Before(end) { // a socket may reach its deadline before ctx does
			last = err
		}
		if permanent(err) || d.far(to) && silent >= d.limits.silence {
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
	d.fail(attempt, to, addr, last)
}

// prove reports whether an attempt to reach a process may send its proof. From then on the process may have accepted the
// call, so that only the verdict ends the attempt.
func (d *connector) prove(ctx context.Context, to int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	d.peers.At(to).proved = true
	return true
}

// withdraw undoes prove after an attempt that the process has not accepted.
func (d *connector) withdraw(attempt context.Context, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.peers.At(to); p.attempt == attempt {
		p.proved = false
	}
}

// attempt makes one attempt to reach a peer, the first one in turn 0. who describes the peer as it was before.
func (d *connector) attempt(ctx context.Context, to int, addr string, turn int) (who visitor, conn *socket, h *wire.Dialler, err error) {
	who = d.visitor(to)
	if to < d.job.Size {
		conn, h, err = d.dial(ctx, to, addr)
		return who, conn, h, err
	}
	r := d.abroad.turn(to, turn)
	who.sealed = r.Sealed
	conn, h, err = d.dialAs(ctx, to, r.Addr, r.Out)
	return who, conn, h, err
}

// permanent reports whether another attempt cannot succeed: nobody listens (a peer listens
// before anyone learns its address), or the process that listens is not of the job, or has
// another version.
func permanent(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wire.ErrRefused) || errors.Is(err, wire.ErrVersion)
}

// fail marks the peer as lost, unless its own call was accepted or this end is closing.
func (d *connector) fail(ctx context.Context, to int, addr string, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers.At(to).attempt == ctx && d.ctx.Err() == nil {
		where, _, _ := strings.Cut(addr, KeyMark)
		if d.far(to) {
			where = d.hostOf(to) + ", " + where
		}
		d.lose(to, fmt.Errorf("tcp: process %d cannot reach %s at %s: %w", d.job.Rank, d.called(to), where, cause))
	}
}

// call connects to the address of a peer. If another host does not answer soon, the attempt
// is cancelled for the next one: the kernel itself would wait for a second before it sends
// again. The kernel is asked whether the host has answered, since this process may have had
// no time to see the answer.
func (d *connector) call(all context.Context, to int, addr string) (conn *socket, err error) {
	var prepare func(syscall.RawConn) error
	ctx := all
	if d.far(to) {
		var giveUp context.CancelFunc
		ctx, giveUp = context.WithCancel(all)
		defer giveUp()
		prepare = func(c syscall.RawConn) error {
			limitCall(ctx, c, d.limits.connect, giveUp)
			return limitHandshake(c, d.limits.silence)
		}
	}
	err = d.limits.inside(func() (err error) {
		conn, err = connect(ctx, addr, prepare)
		return err
	})
	switch {
	case errors.Is(err, context.Canceled) && all.Err() == nil:
		return nil, fmt.Errorf("%w within %v", errNoAnswer, d.limits.connect)
	case err != nil && !permanent(err):
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return conn, err
}

// limitCall cancels the connect of a socket that is not connected within some time, unless
// ctx has ended.
func limitCall(ctx context.Context, c syscall.RawConn, within time.Duration, giveUp func()) {
	late := time.AfterFunc(within, func() {
		if !answered(c) {
			giveUp()
		}
	})
	context.AfterFunc(ctx, func() { late.Stop() })
}

// dial makes one attempt to reach a process of the own job. An acceptor that has the proof may have accepted the call.
// Therefore only its verdict or the end of all attempts ends the attempt from then on, and
// not a delay of either process.
func (d *connector) dial(all context.Context, to int, addr string) (*socket, *wire.Dialler, error) {
	pair, err := d.pair(d.job.Rank, to, addr)
	if err != nil {
		return nil, nil, err
	}
	return d.dialAs(all, to, addr, pair)
}

// dialAs is dial with the secret of the connection.
func (d *connector) dialAs(all context.Context, to int, addr string, pair wire.Pair) (_ *socket, _ *wire.Dialler, err error) {
	ctx, cancel := context.WithTimeout(all, d.limits.handshake)
	defer cancel()
	endpoint, _, _ := strings.Cut(addr, KeyMark)
	conn, err := d.call(ctx, to, endpoint)
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

	h := wire.NewDialler(pair)
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
	if to >= d.job.Size && !d.prove(all, to) {
		return nil, nil, all.Err()
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
	if d.far(to) {
		if err := unlimit(conn); err != nil {
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
