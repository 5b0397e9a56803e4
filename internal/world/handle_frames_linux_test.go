package world_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/internal/wire"
	"github.com/halo-mpi/halo/internal/world"
	"github.com/halo-mpi/halo/mpi"
)

// counting is a tcp fabric that counts the frames that are given to it.
type counting struct {
	*tcp.Fabric
	frames *atomic.Int64 // of all ranks
}

func (f *counting) Send(to int, h *wire.Header, payload []byte) bool {
	f.frames.Add(1)
	return f.Fabric.Send(to, h, payload)
}

func (f *counting) SendRun(to int, h *wire.Header, payload [][]byte) int {
	f.frames.Add(int64(len(payload)))
	return f.Fabric.SendRun(to, h, payload)
}

func (f *counting) Hold(to int, h *wire.Header, payload []byte) bool {
	f.frames.Add(1)
	return f.Fabric.Hold(to, h, payload)
}

// counted runs fn as n ranks over a fabric. sent returns how much all ranks have sent so far: bytes
// in rings, or frames over tcp.
func counted(name string, n int, fn func(c *mpi.Comm, sent func() uint64) error) error {
	type api interface {
		RunBy(run func(rank func(w *world.World) error) error, fn func(world *mpi.Comm) error) error
	}
	worlds, frames := make([]atomic.Pointer[world.World], n), new(atomic.Int64)
	sent := func() uint64 {
		sum := uint64(frames.Load())
		for i := range worlds {
			p := worlds[i].Load().Proc
			p.Lock()
			for to := range n {
				if f := p.Direct(to); f != nil {
					sum += reflect.ValueOf(&f.Record(to).Out).Elem().FieldByName("tail").Uint()
				} else if to != i && name != "tcp" {
					panic("a ring is full")
				}
			}
			p.Unlock()
		}
		return sum
	}
	run := func(rank func(w *world.World) error) error {
		keep := func(w *world.World) error {
			worlds[w.Comm.Rank].Store(w)
			return rank(w)
		}
		if name == "tcp" {
			return world.RunWrapped(n, func(_ int, f *tcp.Fabric) fabric.Fabric { return &counting{f, frames} }, keep)
		}
		return world.RunGoroutines(name, n, keep)
	}
	return unexported.Get[api]().RunBy(run, func(c *mpi.Comm) error { return fn(c, sent) })
}

// QV-42: no rank sends anything over any fabric when memory handles and windows of them are made
// and freed, of one's own memory and that of others, the first time and again. The messages before
// and afterwards are counted.
func TestQV42_WindowsOfHandlesAreMadeWithoutMessages(t *testing.T) {
	const n = 3
	for _, name := range fabrics() {
		var waiting [2]chan struct{} // all ranks are outside of MPI between them
		waiting[0], waiting[1] = make(chan struct{}, n), make(chan struct{})
		err := counted(name, n, func(c *mpi.Comm, sent func() uint64) error {
			me := c.Rank()
			parent, err := c.WinCreateDynamic()
			if err != nil {
				return err
			}
			mine, failed := mpi.AllocMem[int64](c, 100)
			heap := make([]int64, 100)
			a, wrong := mpi.MemhandleCreate(parent, mine, nil)
			b, bad := mpi.MemhandleCreate(parent, heap, nil)
			give := append(a, b...)
			all := make([]byte, n*len(give))
			err = errors.Join(failed, wrong, bad, mpi.Allgather(c, give, all), parent.LockAll(0), c.Barrier())
			if err == nil {
				err = c.Barrier() // all frames of the one before have left
			}
			waiting[0] <- struct{}{}
			if me != 0 {
				<-waiting[1]
			} else {
				for range n {
					<-waiting[0]
				}
				if err == nil {
					err = quiet(parent, all, len(a), n, sent)
				}
				if before := sent(); err == nil {
					err = mpi.Send(c, []int64{1}, 1, 0)
					if err == nil && sent() == before {
						err = errors.New("a message is not counted")
					}
				}
				close(waiting[1])
			}
			if err == nil && me == 1 {
				_, err = mpi.Recv(c, make([]int64, 1), 0, 0)
			}
			if err != nil {
				return err // the others find this rank dead
			}
			return errors.Join(c.Barrier(), parent.UnlockAll(), parent.Free(), mpi.FreeMem(c, mine))
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// quiet makes and frees handles and windows of handles, and returns an error if anything is sent.
func quiet(parent *mpi.Window, handles []byte, size, n int, sent func() uint64) error {
	own, wide := make([]int32, 50), mpi.NewInfo()
	if err := errors.Join(wide.Set("mpi_win_scope", "thread"), wide.Set("mpi_win_order", "true")); err != nil {
		return err
	}
	before := sent()
	silent := func(what string, err error) error {
		if now := sent(); err == nil && now != before {
			err = fmt.Errorf("%s sends something: %d so far, %d before it", what, now, before)
		}
		return err
	}
	for round := range 20 {
		for i := range 2 * n {
			handle := handles[i*size : (i+1)*size]
			for _, hints := range [][]mpi.WinHint{nil, {wide}} {
				w, err := mpi.WinFromMemhandle[int64](parent, handle, i/2, hints...)
				if err := silent(fmt.Sprintf("window %d in round %d", i, round), err); err != nil {
					return err
				}
				if err := silent("SetName", w.SetName("tile")); err != nil {
					return err
				}
				if err := silent("Free", w.Free()); err != nil {
					return err
				}
			}
		}
		handle, err := mpi.MemhandleCreate(parent, own, nil)
		if err := silent("MemhandleCreate", err); err != nil {
			return err
		}
		w, err := mpi.WinFromMemhandle[int32](parent, handle, 0)
		if err := silent("a window of one's own handle", err); err != nil {
			return err
		}
		if err := silent("Free", w.Free()); err != nil {
			return err
		}
		if err := silent("MemhandleRelease", parent.MemhandleRelease(handle)); err != nil {
			return err
		}
	}
	return nil
}
