package main

import (
	"bytes"

	"github.com/halo-mpi/halo/mpi"
)

// The blocks of a file of which each rank has one in turn, and after the last rank nobody.
const (
	fileBlock   = 1000
	filePeriods = 30
)

// files opens a file, writes and reads it by all kinds of calls, and closes it, endlessly. A rank writes the
// bytes of its own blocks, always the same.
func files(world *mpi.Comm, path string) error {
	own, n := world.Rank(), world.Size()
	data := bytes.Repeat([]byte{byte(own + 1)}, fileBlock*filePeriods)
	hints := mpi.NewInfo()
	for _, key := range []string{"romio_cb_write", "romio_cb_read"} {
		if err := hints.Set(key, "enable"); err != nil {
			return err
		}
	}
	one, err := mpi.TypeContiguous(fileBlock, mpi.Byte())
	if err != nil {
		return err
	}
	view, err := mpi.TypeResized(one, 0, fileBlock*(n+1))
	if err != nil {
		return err
	}
	if err := view.Commit(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		f, err := mpi.OpenFile(world, path, mpi.ModeReadWrite, hints, mpi.CbBufferSize(4096))
		if err != nil {
			return err
		}
		if err := f.SetView(int64(own*fileBlock), mpi.Byte(), view, "native"); err != nil {
			return err
		}
		if err := fileCalls(f, data); err != nil {
			return err
		}
		if err := f.SetAtomicity(true); err != nil {
			return err
		}
		for range 5 {
			if _, err := mpi.WriteAt(f, 0, data); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// fileCalls are accesses of all kinds.
func fileCalls(f *mpi.File, data []byte) error {
	got := make([]byte, len(data))
	for _, access := range []func() error{
		func() error { _, err := mpi.WriteAt(f, 0, data); return err },
		func() error { _, err := mpi.ReadAt(f, 0, got); return err },
		func() error { q := mpi.IwriteAt(f, 0, data); _, err := q.Wait(); return err },
		func() error { _, err := mpi.WriteAtAll(f, 0, data); return err },
		func() error { _, err := mpi.ReadAtAll(f, 0, got); return err },
		func() error { q := mpi.IwriteAtAll(f, 0, data); _, err := q.Wait(); return err },
		func() error { return mpi.WriteAllBegin(f, data) },
		func() error { _, err := f.WriteAllEnd(); return err },
		func() error { _, err := mpi.WriteShared(f, data[:fileBlock]); return err },
		func() error { _, err := mpi.WriteOrdered(f, data[:fileBlock]); return err },
		func() error { _, err := f.SeekShared(0, mpi.SeekSet); return err },
	} {
		if err := access(); err != nil {
			return err
		}
	}
	return nil
}
