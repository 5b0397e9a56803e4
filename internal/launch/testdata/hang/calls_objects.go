package main

import (
	"context"
	"path/filepath"

	"github.com/halo-mpi/halo/mpi"
)

// constructorCalls are the calls that make communicators and windows, open files and free them.
func constructorCalls() map[string]func(p *pair) error {
	return map[string]func(p *pair) error{
		"Dup":                     func(p *pair) error { return only(p.c.Dup()) },
		"Idup":                    func(p *pair) error { _, r := p.c.Idup(); return waited(r) },
		"Split":                   func(p *pair) error { return only(p.c.Split(0, 0)) },
		"SplitType":               func(p *pair) error { return only(p.c.SplitType(mpi.CommTypeShared, 0)) },
		"Create":                  func(p *pair) error { return only(p.c.Create(groupOf(p))) },
		"CreateGroup":             func(p *pair) error { return only(p.c.CreateGroup(groupOf(p), 3)) },
		"CartCreate":              func(p *pair) error { return only(p.c.CartCreate([]int{2}, []bool{true}, false)) },
		"GraphCreate":             func(p *pair) error { return only(p.c.GraphCreate([]int{1, 2}, []int{1, 0}, false)) },
		"DistGraphCreate":         func(p *pair) error { return only(p.c.DistGraphCreate([]int{1}, []int{1}, []int{0}, nil, false)) },
		"DistGraphCreateAdjacent": func(p *pair) error { return only(p.c.DistGraphCreateAdjacent([]int{0}, nil, []int{0}, nil, false)) },
		"IntercommCreate":         func(p *pair) error { return only(mpi.IntercommCreate(p.c.Self(), 0, p.c, 0, 4)) },
		"CommFromGroup":           func(p *pair) error { return only(mpi.CommFromGroup(groupOf(p), "names", mpi.ErrorsReturn)) },
		"Disconnect": func(p *pair) error {
			mpi.Irecv(p.c, p.one, 0, 1)
			return p.c.Disconnect()
		},
		"WinCreate":         func(p *pair) error { return only(mpi.WinCreate(p.c, p.one)) },
		"WinAllocate":       func(p *pair) error { return only(mpi.WinAllocate[int64](p.c, 2)) },
		"WinAllocateShared": func(p *pair) error { return only(mpi.WinAllocateShared[int64](p.c, 2)) },
		"WinCreateDynamic":  func(p *pair) error { return only(p.c.WinCreateDynamic()) },
		"OpenFile": func(p *pair) error {
			return only(mpi.OpenFile(p.c, filepath.Join(p.tempDir, "opened"), mpi.ModeCreate|mpi.ModeReadWrite))
		},
		"Spawn": func(p *pair) error {
			_, _, err := p.c.Spawn(context.Background(), 0, mpi.Command{Program: "none", N: 1})
			return err
		},
		"Connect": func(p *pair) error { return only(mpi.Connect(context.Background(), "", p.c, 0)) },
		"Accept": func(p *pair) error {
			port, err := mpi.OpenPort(p.c)
			if err != nil {
				return err
			}
			return only(port.Accept(context.Background(), p.c, 0))
		},
	}
}

// groupOf is the group of a pair.
func groupOf(p *pair) mpi.Group {
	g, _ := p.c.Group()
	return g
}

// neighbourCalls are the collectives of a grid in which both members are neighbours.
func neighbourCalls() map[string]callOf {
	calls := map[string]func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error{
		"NeighborAllgather": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return mpi.NeighborAllgather(c, send[:1], recv)
		},
		"NeighborAllgatherv": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return mpi.NeighborAllgatherv(c, send[:1], recv, counts, displs)
		},
		"NeighborAlltoall": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return mpi.NeighborAlltoall(c, send, recv)
		},
		"NeighborAlltoallv": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return mpi.NeighborAlltoallv(c, send, counts, displs, recv, counts, displs)
		},
		"NeighborAlltoallw": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return c.NeighborAlltoallw(parts(send), parts(recv))
		},
		"IneighborAllgather": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return waited(mpi.IneighborAllgather(c, send[:1], recv))
		},
		"IneighborAllgatherv": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return waited(mpi.IneighborAllgatherv(c, send[:1], recv, counts, displs))
		},
		"IneighborAlltoall": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return waited(mpi.IneighborAlltoall(c, send, recv))
		},
		"IneighborAlltoallv": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return waited(mpi.IneighborAlltoallv(c, send, counts, displs, recv, counts, displs))
		},
		"IneighborAlltoallw": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return waited(c.IneighborAlltoallw(parts(send), parts(recv)))
		},
		"NeighborAllgatherInit": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return again(mpi.NeighborAllgatherInit(c, send[:1], recv))
		},
		"NeighborAllgathervInit": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return again(mpi.NeighborAllgathervInit(c, send[:1], recv, counts, displs))
		},
		"NeighborAlltoallInit": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return again(mpi.NeighborAlltoallInit(c, send, recv))
		},
		"NeighborAlltoallvInit": func(p *pair, c *mpi.Comm, send, recv []int64, counts, displs []int) error {
			return again(mpi.NeighborAlltoallvInit(c, send, counts, displs, recv, counts, displs))
		},
		"NeighborAlltoallwInit": func(p *pair, c *mpi.Comm, send, recv []int64, _, _ []int) error {
			return again(c.NeighborAlltoallwInit(parts(send), parts(recv)))
		},
		"Sub": func(p *pair, c *mpi.Comm, _, _ []int64, _, _ []int) error { return only(c.Cart().Sub(true)) },
	}
	all := map[string]callOf{}
	for name, call := range calls {
		all[name] = func(p *pair) (func() error, error) {
			c, err := p.c.CartCreate([]int{2}, []bool{true}, false)
			if err != nil {
				return nil, err
			}
			return func() error { return call(p, c, p.one, p.two, p.counts, p.displs) }, c.SetName("pair")
		}
	}
	return all
}

// intercommunicatorCalls are calls on an intercommunicator with one process on each side.
func intercommunicatorCalls() map[string]callOf {
	all := map[string]callOf{}
	for name, call := range map[string]func(p *pair, c *mpi.Comm) error{
		"Merge":           func(p *pair, c *mpi.Comm) error { return only(c.Merge(false)) },
		"inter Barrier":   func(p *pair, c *mpi.Comm) error { return c.Barrier() },
		"inter Bcast":     func(p *pair, c *mpi.Comm) error { return mpi.Bcast(c, p.one, 0) },
		"inter Allreduce": func(p *pair, c *mpi.Comm) error { return mpi.Allreduce(c, p.one, p.two, mpi.Sum) },
		"inter Alltoall":  func(p *pair, c *mpi.Comm) error { return mpi.Alltoall(c, p.one[:1], p.two[:1]) },
		"inter Split":     func(p *pair, c *mpi.Comm) error { return only(c.Split(0, 0)) },
	} {
		all[name] = func(p *pair) (func() error, error) {
			c, err := mpi.IntercommCreate(p.c.Self(), 0, p.c, 1-p.c.Rank(), 4)
			if err != nil {
				return nil, err
			}
			return func() error { return call(p, c) }, c.SetName("pair")
		}
	}
	return all
}

// windowCalls are the calls of windows. The last rank has its own memory locked where a call waits for a lock.
func windowCalls() map[string]callOf {
	put := func(p *pair, w mpi.Win[int64]) error { return w.Put(p.one[:1], 0, 0) }
	all := map[string]callOf{}
	for name, call := range map[string]func(p *pair, w mpi.Win[int64]) error{
		"Fence": func(p *pair, w mpi.Win[int64]) error { return w.Fence(0) },
		"Complete": func(p *pair, w mpi.Win[int64]) error {
			if err := w.Start(lastOf(p), 0); err != nil {
				return err
			}
			if err := put(p, w); err != nil {
				return err
			}
			return w.Complete()
		},
		"Wait": func(p *pair, w mpi.Win[int64]) error {
			if err := w.Post(lastOf(p), 0); err != nil {
				return err
			}
			return w.Wait()
		},
		"Free":          func(p *pair, w mpi.Win[int64]) error { return w.Free() },
		"WinChangeComm": func(p *pair, w mpi.Win[int64]) error { return only(mpi.WinChangeComm(w.Window, p.c, 0)) },
		"SyncObjectInit": func(p *pair, w mpi.Win[int64]) error {
			list, err := w.AllocSyncObjects(1, nil)
			if err != nil {
				return err
			}
			return again(w.SyncObjectInit(list[0], 1))
		},
		"WaitNotify":  func(p *pair, w mpi.Win[int64]) error { return w.WaitNotify(0, 1) },
		"IwaitNotify": func(p *pair, w mpi.Win[int64]) error { return waited(w.IwaitNotify(0, 1)) },
		"NotifyInit":  func(p *pair, w mpi.Win[int64]) error { return again(w.NotifyInit(0, 1)) },
		"NotifyReach": func(p *pair, w mpi.Win[int64]) error { return waited(w.NotifyReach(0, 1)) },
	} {
		all[name] = func(p *pair) (func() error, error) {
			w, err := mpi.WinAllocate[int64](p.c, 2)
			if err != nil {
				return nil, err
			}
			return func() error { return call(p, w) }, w.SetName("pair")
		}
	}
	for name, call := range map[string]func(p *pair, w mpi.Win[int64]) error{
		"Unlock":   func(p *pair, w mpi.Win[int64]) error { return w.Unlock(0) },
		"Flush":    func(p *pair, w mpi.Win[int64]) error { return w.Flush(0) },
		"FlushAll": func(p *pair, w mpi.Win[int64]) error { return w.FlushAll() },
		"Rflush":   func(p *pair, w mpi.Win[int64]) error { return waited(w.Rflush(0)) },
		"Rget":     func(p *pair, w mpi.Win[int64]) error { return waited(w.Rget(p.one[:1], 0, 0)) },
		"RfetchAndOp": func(p *pair, w mpi.Win[int64]) error {
			return waited(w.RfetchAndOp(&p.one[0], &p.one[1], 0, 0, mpi.Sum))
		},
	} {
		all[name] = locked(func(p *pair, w mpi.Win[int64]) error {
			if err := w.Lock(mpi.LockExclusive, 0, 0); err != nil {
				return err
			}
			if err := put(p, w); err != nil {
				return err
			}
			return call(p, w)
		})
	}
	all["UnlockAll"] = locked(func(p *pair, w mpi.Win[int64]) error {
		if err := w.LockAll(0); err != nil {
			return err
		}
		if err := put(p, w); err != nil {
			return err
		}
		return w.UnlockAll()
	})
	return all
}

// locked makes a window of which the last rank locks its own memory.
func locked(call func(p *pair, w mpi.Win[int64]) error) callOf {
	return func(p *pair) (func() error, error) {
		w, err := mpi.WinAllocate[int64](p.c, 2)
		if err != nil {
			return nil, err
		}
		if p.sleeps {
			if err := w.Lock(mpi.LockExclusive, 0, 0); err != nil {
				return nil, err
			}
		}
		return func() error { return call(p, w) }, p.c.Barrier()
	}
}

// lastOf is the group of the last rank of the job.
func lastOf(p *pair) mpi.Group {
	g, _ := groupOf(p).Incl([]int{0})
	return g
}

// fileCallsOf are the calls of files in which all members take part.
func fileCallsOf() map[string]callOf {
	all := map[string]callOf{}
	for name, call := range map[string]func(p *pair, f *mpi.File) error{
		"Close":        func(p *pair, f *mpi.File) error { return f.Close() },
		"SetView":      func(p *pair, f *mpi.File) error { return f.SetView(0, mpi.Byte(), mpi.Byte(), "native") },
		"SetSize":      func(p *pair, f *mpi.File) error { return f.SetSize(8) },
		"Preallocate":  func(p *pair, f *mpi.File) error { return f.Preallocate(8) },
		"SetAtomicity": func(p *pair, f *mpi.File) error { return f.SetAtomicity(true) },
		"Sync":         func(p *pair, f *mpi.File) error { return f.Sync() },
		"SeekShared":   func(p *pair, f *mpi.File) error { return only(f.SeekShared(0, 0)) },
		"ReadAll":      func(p *pair, f *mpi.File) error { return only(mpi.ReadAll(f, p.one)) },
		"WriteAll":     func(p *pair, f *mpi.File) error { return only(mpi.WriteAll(f, p.one)) },
		"ReadAtAll":    func(p *pair, f *mpi.File) error { return only(mpi.ReadAtAll(f, 0, p.one)) },
		"WriteAtAll":   func(p *pair, f *mpi.File) error { return only(mpi.WriteAtAll(f, 0, p.one)) },
		"ReadOrdered":  func(p *pair, f *mpi.File) error { return only(mpi.ReadOrdered(f, p.one)) },
		"WriteOrdered": func(p *pair, f *mpi.File) error { return only(mpi.WriteOrdered(f, p.one)) },
		"IreadAll":     func(p *pair, f *mpi.File) error { return waited(mpi.IreadAll(f, p.one)) },
		"IwriteAll":    func(p *pair, f *mpi.File) error { return waited(mpi.IwriteAll(f, p.one)) },
		"IreadAtAll":   func(p *pair, f *mpi.File) error { return waited(mpi.IreadAtAll(f, 0, p.one)) },
		"IwriteAtAll":  func(p *pair, f *mpi.File) error { return waited(mpi.IwriteAtAll(f, 0, p.one)) },
		"ReadAllEnd": func(p *pair, f *mpi.File) error {
			if err := mpi.ReadAllBegin(f, p.one); err != nil {
				return err
			}
			return only(f.ReadAllEnd())
		},
		"WriteAtAllEnd": func(p *pair, f *mpi.File) error {
			if err := mpi.WriteAtAllBegin(f, 0, p.one); err != nil {
				return err
			}
			return only(f.WriteAtAllEnd())
		},
		"WriteOrderedEnd": func(p *pair, f *mpi.File) error {
			if err := mpi.WriteOrderedBegin(f, p.one); err != nil {
				return err
			}
			return only(f.WriteOrderedEnd())
		},
	} {
		all[name] = func(p *pair) (func() error, error) {
			f, err := mpi.OpenFile(p.c, filepath.Join(p.tempDir, name), mpi.ModeCreate|mpi.ModeReadWrite)
			return func() error { return call(p, f) }, err
		}
	}
	return all
}
