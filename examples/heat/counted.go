package main

import "github.com/halo-mpi/halo/mpi"

// The two ways of this file tell a neighbour that an edge has arrived by a counter in his
// memory, and he waits for as many as he has neighbours. Nobody waits for anything else,
// nor is a message sent.
//
// A step counts by the counter of its half of the window: a neighbour may be a step ahead,
// and what he counts then must not pass for what another one has not put yet.

// neighbours is how many there are.
func (o *oneSided) neighbours() (n int) {
	for _, e := range o.edges {
		if e.neighbour != mpi.ProcNull {
			n++
		}
	}
	return n
}

// byNotification: a put counts itself, when its data is there.
func (o *oneSided) byNotification() error {
	var all [2]mpi.Request
	for turn := range all {
		all[turn] = o.win.NotifyInit(turn, o.neighbours())
	}
	o.begin = func() error { return all[o.turn].Start() }
	o.put = func(mine []float64, e edge) error {
		return o.win.PutNotify(mine, e.neighbour, o.turn*e.half+e.there, o.turn)
	}
	o.finish = func() error {
		if _, err := all[o.turn].Wait(); err != nil {
			return err
		}
		return o.win.FlushLocalAll() // the edges can be written again
	}
	o.end = func() error {
		for turn := range all {
			if err := all[turn].Free(); err != nil {
				return err
			}
		}
		return o.win.UnlockAll()
	}
	return o.win.LockAll(mpi.ModeNoCheck)
}

// bySyncObjects: a synchronisation object of the neighbour is signalled when what was put
// to him is there. The requests of a half, to wait and to signal, are started and waited
// for together.
func (o *oneSided) bySyncObjects(plate *mpi.Comm) error {
	mine, err := o.win.AllocSyncObjects(2, nil)
	if err != nil {
		return err
	}
	var theirs [4][]mpi.Sync
	for i, e := range o.edges {
		theirs[i] = make([]mpi.Sync, 2)
		o.requests[i] = mpi.Irecv(plate, theirs[i], e.neighbour, arrived)
		o.requests[4+i] = mpi.Isend(plate, mine, e.neighbour, arrived)
	}
	if err := mpi.Waitall(o.requests[:], nil); err != nil {
		return err
	}
	var all [2][]mpi.Request
	for turn := range all {
		all[turn] = append(all[turn], o.win.SyncObjectInit(mine[turn], o.neighbours()))
		for i, e := range o.edges {
			all[turn] = append(all[turn], o.win.SyncOpsInit(e.neighbour, mpi.ModeWinPut, theirs[i][turn]))
		}
	}
	o.begin = func() error { return mpi.Startall(all[o.turn]) }
	// Waiting says that all has been put.
	o.finish = func() error { return mpi.Waitall(all[o.turn], nil) }
	o.end = func() error {
		for _, requests := range all {
			for i := range requests {
				if err := requests[i].Free(); err != nil {
					return err
				}
			}
		}
		if err := o.win.FreeSyncObjects(mine); err != nil {
			return err
		}
		return o.win.UnlockAll()
	}
	return o.win.LockAll(mpi.ModeNoCheck)
}
