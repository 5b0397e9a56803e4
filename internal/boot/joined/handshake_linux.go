package joined

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// accept accepts the leaders below until the process ends.
func (t *tree) accept() {
	for {
		conn, err := sys.Accept(t.listener)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		t.slots <- struct{}{}
		go func() {
			t.welcome(conn)
			<-t.slots
		}()
	}
}

// welcome runs the acceptor's side of the handshake. A caller that fails it gets no explanation.
func (t *tree) welcome(conn *os.File) {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	from, h, err := t.handshake(conn)
	if err != nil {
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	t.grow(from, conn, h.Sealed())
}

func (t *tree) handshake(conn *os.File) (from int, h *wire.Acceptor, err error) {
	var hello [wire.HelloSize]byte
	if _, err := io.ReadFull(conn, hello[:]); err != nil {
		return 0, nil, err
	}
	node := t.server.node
	from = wire.HelloFrom(&hello)
	if first, end := below(node, t.server.count); from < first || from >= end {
		return 0, nil, wire.ErrRefused
	}
	peer, err := t.contactOf(from)
	if err != nil {
		return 0, nil, err
	}
	pair, err := t.pair(0, node, peer)
	if err != nil {
		return 0, nil, err
	}
	h = wire.NewAcceptor(pair, t.server.count)
	if from, err = h.Hello(&hello); err != nil {
		return 0, nil, err
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
	var verdict [wire.VerdictSize]byte
	h.Verdict(&verdict, wire.Accepted)
	_, err = conn.Write(verdict[:])
	return from, h, err
}

// callersMax bounds the handshakes of callers at the same time, who may be anybody.
const callersMax = 64

// open connects to the leader above. It is called once. With some engines a process leaves a fence before
// others have entered it, so it tries again until the other leader has published its contact, and has
// found that of this one.
func (t *tree) open() error {
	node := t.server.node
	if node == 0 {
		return nil
	}
	up := above(node)
	end := time.Now().Add(reachTimeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		peer, err := t.contactOf(up)
		var conn *os.File
		var h *wire.Dialler
		if err == nil {
			if conn, h, err = t.dial(up, peer); err == nil {
				t.grow(up, conn, h.Sealed())
				return nil
			}
			err = fmt.Errorf("node %d (%s) cannot reach node %d, rank %d, at %s: %w: if that is not an address by which this host reaches the other, "+
				"name the interface by %s", node, t.server.hostname, up, peer.rank, peer.addr, err, envInterface)
		}
		if time.Now().After(end) || errors.Is(err, errContact) {
			return err
		}
		time.Sleep(pause)
	}
}

// dial connects to another leader.
func (t *tree) dial(to int, peer contact) (_ *os.File, _ *wire.Dialler, err error) {
	pair, err := t.pair(t.server.node, to, peer)
	if err != nil {
		return nil, nil, err
	}
	ip, port, err := address.Split(peer.addr)
	if err != nil {
		return nil, nil, err
	}
	end := sys.TCPEndpoint(ip, port)
	conn, err := end.Socket()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	conn.SetDeadline(time.Now().Add(reachTimeout))
	if err := end.Connect(conn); err != nil {
		return nil, nil, err
	}
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
	var proof [wire.ProofSize]byte
	h.Proof(&proof)
	if _, err := conn.Write(proof[:]); err != nil {
		return nil, nil, err
	}
	var verdict [wire.VerdictSize]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return nil, nil, fmt.Errorf("no verdict: %w", err)
	}
	if _, err := h.Verdict(&verdict); err != nil {
		return nil, nil, err
	}
	conn.SetDeadline(time.Time{})
	return conn, h, nil
}
