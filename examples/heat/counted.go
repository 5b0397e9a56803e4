package main

import "github.com/halo-mpi/halo/mpi"

// The two methods of this file notify a neighbour of an edge by a counter in the neighbour's
// memory; each rank waits until its counter has reached the number of its neighbours. Ranks wait for
// nothing else, and send no message.
//
// Each half of the window has a counter of its own: a neighbour may be a step ahead,
// and its notification must not count for the edge of another neighbour in the present step.

// neighbours is how many there are.
func (o *oneSided) neighbours() (n int) {
	for _, e := range o.edges {
		if e.neighbour != mpi.ProcNull {
			n++
		}
	}
	return n
}

// byNotification uses puts that increment the counter when their data have arrived.
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

// bySyncObjects uses a synchronisation object of the neighbour, which is signalled when the puts to
// it have arrived. The requests of a half, to wait and to signal, are started and waited
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
