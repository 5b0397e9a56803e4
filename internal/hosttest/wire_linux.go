package hosttest

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// A Line says what a wire does to frames, each way. What happens to the n-th
// frame of a direction follows from Seed and n alone.
type Line struct {
	Delay     time.Duration // of every frame
	Loss      float64       // share of frames that are lost
	Duplicate float64       // share of frames that come twice
	Reorder   float64       // share of frames that come late, behind others: later by up to Delay plus a millisecond
	Seed      uint64
}

// A wire joins two TAP devices, one in a host and one in the hub. Each direction
// has two goroutines of this process: one reads frames and decides what happens to
// them, the other writes the frames that are due.
type wire struct {
	ends  [2]*os.File
	works sync.WaitGroup
}

// wireQueue is how many frames may be under way in one direction of a wire;
// more are lost.
const wireQueue = 4096

// Wire replaces the cable of host i by a wire that follows l. Connections of the
// host do not survive that.
func (h *Hosts) Wire(i int, l Line) {
	h.t.Helper()
	if err := h.lay(i, l); err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			h.t.Skipf("hosttest: a wire wants TAP devices: %v", err)
		}
		h.t.Fatalf("hosttest: wire of host%d: %v", i, err)
	}
}

func (h *Hosts) lay(i int, l Line) error {
	w := &wire{}
	near := fmt.Sprintf("h%d", i)
	if old := h.wire[i]; old != nil {
		old.close()
		delete(h.wire, i)
	} else if err := h.hub.ip("link del " + near); err != nil {
		return err
	}
	for end, where := range []struct {
		a    *anchor
		name string
	}{{h.host[i], "eth0"}, {h.hub, near}} {
		// A deleted device may take a moment to disappear.
		err := await(func() error {
			return sys.InNetwork(where.a.cmd.Process.Pid, func() (err error) {
				w.ends[end], err = sys.OpenTAP(where.name)
				return err
			})
		})
		if err != nil {
			w.close()
			return err
		}
	}
	h.wire[i] = w
	for end := range w.ends {
		due := make(chan parcel, wireQueue)
		w.works.Go(func() { w.read(end, l, due) })
		w.works.Go(func() { w.write(1-end, due) })
	}
	if err := h.host[i].ip(h.address(i)...); err != nil {
		return err
	}
	return h.hub.ip(mute(near), fmt.Sprintf("link set %s master br0 up", near))
}

// parcel is a frame under way.
type parcel struct {
	frame []byte
	due   time.Time
	n     int // orders frames that are due at the same time by their arrival
}

// read takes frames at one end and decides what happens to them.
func (w *wire) read(end int, l Line, due chan<- parcel) {
	defer close(due)
	b := make([]byte, 1<<16)
	for n := 0; ; n++ {
		k, err := w.ends[end].Read(b)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return
			}
			continue // the device is down for a moment
		}
		r := rand.New(rand.NewPCG(l.Seed^uint64(end), uint64(n)))
		lost, twice, late := r.Float64() < l.Loss, r.Float64() < l.Duplicate, r.Float64() < l.Reorder
		if lost {
			continue
		}
		p := parcel{frame: append([]byte(nil), b[:k]...), due: time.Now().Add(l.Delay), n: 2 * n}
		if late {
			p.due = p.due.Add(time.Duration(r.Int64N(int64(l.Delay + time.Millisecond))))
		}
		copies := 1
		if twice {
			copies = 2
		}
		for range copies {
			select {
			case due <- p:
			default: // the queue is full, as in a switch
			}
			p.n++
		}
	}
}

// write hands frames to one end when they are due.
func (w *wire) write(end int, due <-chan parcel) {
	var q parcels
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for len(q) > 0 && !time.Now().Before(q[0].due) {
			w.ends[end].Write(heap.Pop(&q).(parcel).frame) // lost if the device is down
		}
		if len(q) > 0 {
			timer.Reset(time.Until(q[0].due))
		}
		select {
		case p, ok := <-due:
			if !ok {
				return
			}
			heap.Push(&q, p)
		case <-timer.C:
		}
	}
}

// close removes the devices.
func (w *wire) close() {
	for _, f := range w.ends {
		if f != nil {
			f.Close()
		}
	}
	w.works.Wait()
}

// parcels is a heap by due time and number.
type parcels []parcel

func (q parcels) Len() int { return len(q) }
func (q parcels) Less(i, j int) bool {
	return q[i].due.Before(q[j].due) || q[i].due.Equal(q[j].due) && q[i].n < q[j].n
}
func (q parcels) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *parcels) Push(p any)   { *q = append(*q, p.(parcel)) }
func (q *parcels) Pop() any {
	old := *q
	p := old[len(old)-1]
	old[len(old)-1] = parcel{}
	*q = old[:len(old)-1]
	return p
}
