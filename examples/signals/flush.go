package main

import "github.com/halo-mpi/halo/mpi"

// flushed puts a tile, flushes, and announces it by an empty message, with the means of the standard
// only. The next rank answers with an empty message when it has read the tile.
type flushed struct {
	*pipe
	win mpi.Win[uint64]
	out [][]uint64
}

// The tags of messages.
const (
	tileTag = iota
	roomTag
)

func byFlush(p *pipe) (stream, error) {
	win, err := mpi.WinAllocate[uint64](p.world, p.depth*p.numbers)
	if err != nil {
		return nil, err
	}
	return &flushed{p, win, p.slots()}, win.LockAll(mpi.ModeNoCheck)
}

func (f *flushed) receive(i int) ([]uint64, error) {
	if _, err := mpi.Recv(f.world, []byte{}, f.before, tileTag); err != nil {
		return nil, err
	}
	return f.win.Local()[i%f.depth*f.numbers:][:f.numbers], f.win.Sync()
}

func (f *flushed) release(int) error { return mpi.Send(f.world, []byte{}, f.before, roomTag) }

func (f *flushed) space(i int) ([]uint64, error) {
	if i >= f.depth {
		if err := f.room(); err != nil {
			return nil, err
		}
	}
	return f.out[i%f.depth], nil
}

func (f *flushed) room() error {
	_, err := mpi.Recv(f.world, []byte{}, f.next, roomTag)
	return err
}

func (f *flushed) send(i int) error {
	slot := i % f.depth
	if err := f.win.Put(f.out[slot], f.next, slot*f.numbers); err != nil {
		return err
	}
	if err := f.win.Flush(f.next); err != nil {
		return err
	}
	return mpi.Send(f.world, []byte{}, f.next, tileTag)
}

func (f *flushed) free() error {
	for range min(f.depth, f.tiles) { // of the last tiles
		if err := f.room(); err != nil {
			return err
		}
	}
	if err := f.win.UnlockAll(); err != nil {
		return err
	}
	return f.win.Free()
}
