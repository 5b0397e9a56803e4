package main

import "github.com/halo-mpi/halo/mpi"

// oneSided fills the halo by one-sided communication: each rank puts the edges of its
// block into a window of its neighbours, which read them after the synchronisation.
//
// The window of a block has two halves, each with room for the edges of four neighbours. Steps
// alternate between the halves, so that a neighbour that is one step ahead does not overwrite
// edges that have not been read. No neighbour can be two steps ahead, because it needs the edges of
// this rank, too.
type oneSided struct {
	*block
	win    mpi.Win[float64]
	begin  func() error                       // begins a step: from now on neighbours may put
	put    func(mine []float64, e edge) error // an edge to a neighbour
	finish func() error                       // own puts and those of the neighbours have arrived
	end    func() error                       // of the whole exchange
	edges  [4]edge
	turn   int // which half
}

// edge is a side of the block and the neighbour there.
type edge struct {
	neighbour int
	there     int // where my edge goes in the first half of the neighbour's window
	half      int // the length of a half of his
	here      int // where his edge arrives in the first half of mine
	length    int
}

// newOneSided is collective over the plate.
func newOneSided(plate *mpi.Comm, l layout, b *block, how way) (*oneSided, error) {
	o := &oneSided{block: b}
	north, south, west, east := 0, b.w, 2*b.w, 2*b.w+b.h // of the edges in a half
	o.edges = [4]edge{
		{neighbour: b.north, here: north, length: b.w},
		{neighbour: b.south, here: south, length: b.w},
		{neighbour: b.west, here: west, length: b.h},
		{neighbour: b.east, here: east, length: b.h},
	}
	for i := range o.edges {
		e := &o.edges[i]
		if e.neighbour == mpi.ProcNull {
			continue
		}
		x0, y0, x1, y1 := l.bounds(e.neighbour)
		w, h := x1-x0, y1-y0
		e.half = 2 * (w + h)
		e.there = [4]int{w, 0, 2*w + h, 2 * w}[i] // my north is his south
	}
	var err error
	o.win, err = mpi.WinAllocate[float64](plate, 4*(b.w+b.h))
	if err != nil {
		return nil, err
	}
	o.put = func(mine []float64, e edge) error {
		return o.win.Put(mine, e.neighbour, o.turn*e.half+e.there)
	}
	switch how {
	case byNotification:
		err = o.byNotification()
	case bySyncObjects:
		err = o.bySyncObjects(plate)
	case byFence:
		err = o.byFence()
	case byPost:
		err = o.byPost()
	case byLock:
		err = o.byLock(plate)
	}
	return o, err
}

// byFence makes all ranks wait for all. One fence is the end of a step and the beginning
// of the next.
func (o *oneSided) byFence() error {
	o.begin = func() error { return nil }
	o.finish = func() error { return o.win.Fence(0) }
	o.end = func() error { return nil }
	return o.win.Fence(mpi.ModeNoPrecede)
}

// byPost makes a rank wait for its neighbours only.
func (o *oneSided) byPost() error {
	var ranks []int
	for _, e := range o.edges {
		if e.neighbour != mpi.ProcNull {
			ranks = append(ranks, e.neighbour)
		}
	}
	all, err := o.win.Group()
	if err != nil {
		return err
	}
	neighbours, err := all.Incl(ranks)
	o.begin = func() error {
		if err := o.win.Post(neighbours, 0); err != nil {
			return err
		}
		return o.win.Start(neighbours, 0)
	}
	o.finish = func() error {
		if err := o.win.Complete(); err != nil {
			return err
		}
		return o.win.Wait()
	}
	o.end = func() error { return nil }
	return err
}

// byLock locks the window for all targets all the time. The neighbour must be told that the
// edges have arrived, here by an empty message.
func (o *oneSided) byLock(plate *mpi.Comm) error {
	o.begin = func() error { return nil }
	o.finish = func() error {
		if err := o.win.FlushAll(); err != nil {
			return err
		}
		for i, e := range o.edges {
			o.requests[i] = mpi.Irecv(plate, []byte{}, e.neighbour, arrived)
			o.requests[4+i] = mpi.Isend(plate, []byte{}, e.neighbour, arrived)
		}
		if err := mpi.Waitall(o.requests[:], nil); err != nil {
			return err
		}
		return o.win.Sync()
	}
	o.end = o.win.UnlockAll
	return o.win.LockAll(mpi.ModeNoCheck)
}

// exchange fills the halo.
func (o *oneSided) exchange() error {
	o.copyEdges()
	if err := o.begin(); err != nil {
		return err
	}
	for i, mine := range [4][]float64{o.row(1), o.row(o.h), o.toWest, o.toEast} {
		if err := o.put(mine, o.edges[i]); err != nil {
			return err
		}
	}
	if err := o.finish(); err != nil {
		return err
	}
	half := o.win.Local()[o.turn*2*(o.w+o.h):]
	for i, halo := range [4][]float64{o.row(0), o.row(o.h + 1), o.fromWest, o.fromEast} {
		if e := o.edges[i]; e.neighbour != mpi.ProcNull {
			copy(halo, half[e.here:][:e.length])
		}
	}
	o.pasteColumns()
	o.turn = 1 - o.turn
	return nil
}

// free is collective.
func (o *oneSided) free() error {
	if err := o.end(); err != nil {
		return err
	}
	return o.win.Free()
}
