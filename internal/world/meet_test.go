package world_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/meet"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// disconnect is what the API does.
func disconnect(w *world.World, c *comm.Comm) {
	w.Meet.Unlink(c)
	w.Coll.Free(c)
}

// accept accepts at a port of rank 0, whose name it sends to names.
func accept(ctx context.Context, w *world.World, names chan<- string) (*comm.Comm, error) {
	name := ""
	if w.Comm.Rank == 0 {
		var err error
		name, err = w.Meet.Open(meet.Options{})
		if err != nil {
			return nil, err
		}
		defer w.Meet.ClosePort(name)
		names <- name
	}
	return linked(w)(w.Meet.Accept(ctx, name, w.Comm, 0))
}

// connect connects to a port of accept.
func connect(ctx context.Context, w *world.World, names <-chan string) (*comm.Comm, error) {
	name := ""
	if w.Comm.Rank == 0 {
		select {
		case name = <-names:
		case <-ctx.Done():
		}
	}
	return linked(w)(w.Meet.Connect(ctx, name, w.Comm, 0))
}

func linked(w *world.World) func(c *comm.Comm, err error) (*comm.Comm, error) {
	return func(c *comm.Comm, err error) (*comm.Comm, error) {
		if err == nil {
			w.Meet.Link(c)
		}
		return c, err
	}
}

// mappings is how many segments shared with processes of other jobs this process has mapped.
func mappings() int {
	b, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(b), "halo-pair")
}

// A server meets one job after the other: numbers, descriptors and goroutines do not grow, and no process that has
// left counts as failed (X-DYN-01).
func TestJobsMeetAgainAndAgain(t *testing.T) {
	files := func() int {
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	for _, fabric := range fabrics() {
		names, before, goroutines := make(chan string, 1), 0, 0
		err := world.RunGoroutines(fabric, 1, func(w *world.World) error {
			for i := range 40 {
				client := make(chan error)
				go func() {
					client <- world.RunGoroutines(fabric, 2, func(w *world.World) error {
						c, err := connect(context.Background(), w, names)
						if err != nil {
							return err
						}
						if err := w.Coll.Barrier(c); err != nil {
							return err
						}
						disconnect(w, c)
						return nil
					})
				}()
				c, err := accept(context.Background(), w, names)
				if err != nil {
					return err
				}
				if err := w.Coll.Barrier(c); err != nil {
					return err
				}
				disconnect(w, c)
				if err := <-client; err != nil {
					return err
				}
				if i == 5 {
					before, goroutines = files(), runtime.NumGoroutine()
				}
			}
			if n := mappings(); n > 2 { // those of the last job
				return fmt.Errorf("%d segments of two jobs are mapped after 40 jobs", n)
			}
			w.Proc.Lock()
			defer w.Proc.Unlock()
			if n := w.Proc.Known(); n > 1+2*3 {
				return fmt.Errorf("%d numbers after 40 jobs of 2", n)
			}
			if n := files(); n > before+4 {
				return fmt.Errorf("%d descriptors, %d before", n, before)
			}
			if n := runtime.NumGoroutine(); n > goroutines+4 {
				return fmt.Errorf("%d goroutines, %d before", n, goroutines)
			}
			for i := range w.Proc.Known() {
				if cause := w.Proc.DownCause(i); cause != nil {
					return fmt.Errorf("process %d counts as failed: %v", i, cause)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// Who waits for a process of another job, with which it has no connection yet, learns of its death (X-DYN-01, ERR-15).
func TestDeathWithoutAConnection(t *testing.T) {
	died := errors.New("it has died")
	for _, fabric := range fabrics() {
		names := make(chan string, 1)
		stop := testrun.Watch(fabric + ": a receive from a process that has died does not end")
		err := world.RunJobs(fabric, []int{2, 2}, func(ctx context.Context, job int, w *world.World) error {
			if job == 1 {
				if _, err := connect(ctx, w, names); err != nil {
					return err
				}
				return died
			}
			c, err := accept(ctx, w, names)
			if err != nil {
				return err
			}
			w.Proc.Lock()
			r := w.P2P.Irecv(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: 1 - w.Comm.Rank, Tag: 1}, mem.Of(make([]byte, 8)))
			w.P2P.Wait(r)
			err = r.Status.Err
			w.P2P.Free(r)
			w.Proc.Unlock()
			var ce *class.Error
			if !errors.As(err, &ce) || ce.Class != class.ProcFailed {
				t.Errorf("%s: a receive from a process that has died: %v", fabric, err)
			}
			if err := w.Coll.Barrier(w.Comm); err != nil {
				t.Errorf("%s: the own job: %v", fabric, err)
			}
			disconnect(w, c)
			return nil
		})
		stop()
		if !errors.Is(err, died) {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// All processes of two groups send to all others as soon as Accept and Connect have returned, again and
// again (X-DYN-01).
func TestGroupsSendAtOnce(t *testing.T) {
	for _, fabric := range fabrics() {
		names := make(chan string, 1)
		err := world.RunJobs(fabric, []int{3, 3}, func(ctx context.Context, job int, w *world.World) (err error) {
			for range 10 {
				var c *comm.Comm
				if job == 0 {
					c, err = accept(ctx, w, names)
				} else {
					c, err = connect(ctx, w, names)
				}
				if err != nil {
					return err
				}
				var sends []*p2p.Request
				w.Proc.Lock()
				for r := range c.Size() {
					sends = append(sends, w.P2P.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: r, Tag: 1}, mem.Of([]byte{1})))
				}
				w.Proc.Unlock()
				for range c.Size() {
					var s p2p.Status
					w.P2P.Recv(c, make([]byte, 1), p2p.AnySource, 1, &s)
					if s.Err != nil {
						return s.Err
					}
				}
				w.Proc.Lock()
				for _, r := range sends {
					w.P2P.Wait(r)
					w.P2P.Free(r)
				}
				w.Proc.Unlock()
				disconnect(w, c)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// A client that has been accepted and does not answer keeps an acceptor until the context of the call ends
// (X-DYN-01).
func TestClientsThatDoNotAnswer(t *testing.T) {
	client, _, err := tcp.Listen(tcp.Config{Job: boot.Memory(1)[0].Job(), Alone: true, Parted: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, fabric := range fabrics() {
		ctx, cancel := context.WithCancel(context.Background())
		names := make(chan string, 1)
		go func() {
			defer cancel()
			addr, key, _ := strings.Cut(strings.TrimPrefix(<-names, "halo://"), "/")
			secret, err := base64.RawURLEncoding.DecodeString(key)
			if err != nil {
				t.Error(err)
				return
			}
			call, err := client.CallPort(ctx, addr, [32]byte(secret))
			if err != nil {
				t.Error(err)
				return
			}
			defer call.Close()
			const hello = 3
			if _, err := call.Write(frame.New(hello).Bytes()); err != nil {
				t.Error(err)
			}
			if _, err := call.Read(make([]byte, 1)); err != nil { // the group of the acceptor
				t.Error(err)
			}
			cancel()
			io.Copy(io.Discard, call) // until the acceptor ends the connection
		}()
		err := world.RunGoroutines(fabric, 2, func(w *world.World) error {
			_, err := accept(ctx, w, names)
			var ce *class.Error
			if !errors.As(err, &ce) || ce.Class != class.Port || !strings.Contains(err.Error(), "has not answered before the call was cancelled") {
				t.Errorf("%s: rank %d: %v", fabric, w.Comm.Rank, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}
