package main

import "github.com/halo-mpi/halo/mpi"

// notified puts a tile into the window of the next rank, with a notification. When that rank has
// read the tile, it notifies back by a put without data. No message is sent, and only the
// reader waits for a put. Each slot has a counter at either end, because
// notifications have no order: that of a later tile may arrive first.
type notified struct {
	*pipe
	win  mpi.Win[uint64]
	out  [][]uint64
	full []mpi.Request // of each slot: a tile has come
	room []mpi.Request // of each slot: the next rank has read the tile
}

func byNotification(p *pipe) (stream, error) {
	win, err := mpi.WinAllocate[uint64](p.world, p.depth*p.numbers)
	if err != nil {
		return nil, err
	}
	n := &notified{pipe: p, win: win, out: p.slots()}
	for slot := range p.depth {
		n.full = append(n.full, win.NotifyInit(n.counterOfTile(slot), 1))
		n.room = append(n.room, win.NotifyInit(n.counterOfRoom(slot), 1))
	}
	return n, win.LockAll(mpi.ModeNoCheck)
}

func (n *notified) counterOfTile(slot int) int { return 2 * slot }
func (n *notified) counterOfRoom(slot int) int { return 2*slot + 1 }

func (n *notified) receive(i int) ([]uint64, error) {
	slot := i % n.depth
	return n.win.Local()[slot*n.numbers:][:n.numbers], wait(&n.full[slot])
}

func (n *notified) release(i int) error {
	return n.win.PutNotify(nil, n.before, 0, n.counterOfRoom(i%n.depth))
}

func (n *notified) space(i int) ([]uint64, error) {
	slot := i % n.depth
	if i >= n.depth {
		if err := wait(&n.room[slot]); err != nil {
			return nil, err
		}
		// The put is complete, since the tile was read; but only a call of MPI tells that
		// the memory can be written again.
		if err := n.win.FlushLocal(n.next); err != nil {
			return nil, err
		}
	}
	return n.out[slot], nil
}

func (n *notified) send(i int) error {
	slot := i % n.depth
	return n.win.PutNotify(n.out[slot], n.next, slot*n.numbers, n.counterOfTile(slot))
}

func (n *notified) free() error {
	for slot := range n.depth {
		if err := n.full[slot].Free(); err != nil {
			return err
		}
		if err := n.room[slot].Free(); err != nil {
			return err
		}
	}
	if err := n.win.UnlockAll(); err != nil {
		return err
	}
	return n.win.Free()
}

// wait starts a persistent request and waits for it.
func wait(q *mpi.Request) error {
	if err := q.Start(); err != nil {
		return err
	}
	_, err := q.Wait()
	return err
}
