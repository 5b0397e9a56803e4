package joined

import (
	"errors"
	"fmt"
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

// welcome meets a caller. One that fails the handshake gets no explanation.
func (t *tree) welcome(conn *os.File) {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	node := t.server.node
	from, seal, err := wire.Welcome(conn, t.server.count, func(from int) (wire.Pair, error) {
		if first, end := below(node, t.server.count); from < first || from >= end {
			return wire.Pair{}, wire.ErrRefused
		}
		peer, err := t.contactOf(from)
		if err != nil {
			return wire.Pair{}, err
		}
		return t.pair(0, node, peer)
	})
	if err != nil {
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	t.grow(from, conn, seal)
}

// callersMax bounds the handshakes at the same time, because anybody may connect.
const callersMax = 64

// open connects to the leader above. It is called once. With some engines a process leaves a fence before
// others have entered it, so open tries again until the leader above has published its contact, and has
// found the contact of this leader.
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
		var seal *wire.Sealed
		if err == nil {
			conn, seal, err = t.dial(up, peer)
			if err == nil {
				t.grow(up, conn, seal)
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
func (t *tree) dial(to int, peer contact) (_ *os.File, _ *wire.Sealed, err error) {
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
	seal, err := wire.Meet(conn, pair)
	if err != nil {
		return nil, nil, err
	}
	conn.SetDeadline(time.Time{})
	return conn, seal, nil
}
