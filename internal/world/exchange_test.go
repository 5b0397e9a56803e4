package world

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
)

// A job has processes that check and others. Those that check find errors of the messages
// among themselves, the others communicate as ever, and a collective is checked if all
// members check.
func TestSomeProcessesCheck(t *testing.T) {
	checks := func(i int) bool { return i != 1 }
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@0010", "tcp@0110") {
		t.Run(fabric, func(t *testing.T) {
			boots := boot.Memory(4)
			name, err := pretend(fabric, boots)
			if err != nil {
				t.Fatal(err)
			}
			open, release, err := opener(name, boots, checks)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			defer release()
			worlds, errs := make([]*World, len(boots)), make([]error, len(boots))
			var all sync.WaitGroup
			for i := range boots {
				all.Go(func() {
					worlds[i], errs[i] = open(i)
					if errs[i] == nil {
						errs[i] = worlds[i].Join()
					}
					if errs[i] == nil {
						errs[i] = someCheck(worlds[i], checks)
					}
				})
			}
			all.Wait()
			for i, w := range worlds {
				if errs[i] != nil {
					t.Errorf("rank %d: %v", i, errs[i])
				}
				if w == nil {
					continue
				}
				if err := w.Proc.Stop(); err != nil {
					t.Errorf("rank %d: Stop: %v", i, err)
				}
			}
			for _, w := range worlds {
				if w != nil && w.Proc.Node() != nil {
					w.Proc.Node().Release(false)
				}
			}
		})
	}
}

func someCheck(w *World, checks func(i int) bool) error {
	me := w.Comm.Rank
	if w.Checks() != checks(me) || w.SlowPath() != checks(me) {
		return fmt.Errorf("checks: %t, odd: %t", w.Checks(), w.SlowPath())
	}
	// Each process sends an integer to each, which receives it as a double.
	set := dtype.Predefined()
	out, err := dtype.Bind(make([]byte, 8), 0, set.Type(dtype.Int64), 1)
	if err != nil {
		return err
	}
	for r := range w.Comm.Size() {
		in, err := dtype.Bind(make([]byte, 8), 0, set.Type(dtype.Double), 1)
		if err != nil {
			return err
		}
		w.Proc.Lock()
		v := p2p.Envelope{Comm: w.Comm, Ctx: w.Comm.Ctx, Peer: r, Tag: 1, Type: in.Type(), Count: 1}
		receive := w.P2P.Irecv(&v, mem.In(&in))
		v.Type = out.Type()
		send := w.P2P.Isend(&v, mem.In(&out))
		w.P2P.Wait(send)
		w.P2P.Free(send)
		w.P2P.Wait(receive)
		err = receive.Status.Err
		w.P2P.Free(receive)
		w.Proc.Unlock()
		var e *class.Error
		found := errors.As(err, &e) && e.Class == class.Type
		if found != (checks(me) && checks(r)) || !found && err != nil {
			return fmt.Errorf("a message of rank %d: %v", r, err)
		}
	}
	// The processes that check have a communicator of their own.
	color := 0
	if !checks(me) {
		color = 1
	}
	own, err := w.Coll.Split(w.Comm, color, 0)
	if err != nil {
		return err
	}
	for _, c := range []*comm.Comm{w.Comm, own} {
		buf := []byte{byte(c.Rank)}
		if err := w.Coll.Bcast(c, buf, dtype.Mixed, c.Size()-1); err != nil || int(buf[0]) != c.Size()-1 {
			return fmt.Errorf("broadcast of %d: %v", buf[0], err)
		}
		if err := w.Coll.Barrier(c); err != nil {
			return err
		}
	}
	err = w.Coll.Bcast(own, []byte{1}, dtype.Mixed, min(own.Rank, 1))
	var e *class.Error
	if found := errors.As(err, &e) && e.Class == class.Root; found != checks(me) {
		return fmt.Errorf("a broadcast from several roots: %v", err)
	}
	return w.Close()
}
