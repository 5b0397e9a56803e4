package p2p

import (
	"bytes"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// kernel is shared memory on the heap with a kernel that reads other processes,
// or refuses from some read on.
type kernel struct {
	control *shmfmt.Control
	heap    *heap.Heap
	parts   []*shmfmt.Segment
	reads   atomic.Int64 // that still succeed

	write func(dst, src []byte) error // nil: the kernel refuses to write
}

func newKernel(t *testing.T, n int, reads int64) *kernel {
	t.Helper()
	c, err := shmfmt.HeapControl(n)
	if err != nil {
		t.Fatal(err)
	}
	k := &kernel{control: c, heap: heap.Loose()}
	k.reads.Store(reads)
	for i := range n {
		s, err := shmfmt.HeapSegment(i, n)
		if err != nil {
			t.Fatal(err)
		}
		k.parts = append(k.parts, s)
	}
	return k
}

func (k *kernel) Control() *shmfmt.Control               { return k.control }
func (k *kernel) Segment(i int) (*shmfmt.Segment, error) { return k.parts[i], nil }
func (k *kernel) Wake(int, *atomic.Uint32) error         { return nil }
func (k *kernel) Close() error                           { return nil }
func (k *kernel) Heap() *heap.Heap                       { return k.heap }

func (k *kernel) View(int) node.View { return nil }

func (k *kernel) Write(_ int, _ *shmfmt.Door, src [][]byte, addr uint64) error {
	if k.write == nil {
		return errors.ErrUnsupported
	}
	return k.write(at(addr, len(src[0])), src[0])
}

// at is memory at an address that is one of this process here, as the kernel would find it in another.
func at(addr uint64, n int) []byte {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	return unsafe.Slice((*byte)(p), n)
}

func (k *kernel) Sleep(bell *atomic.Uint32, seen uint32) {
	for bell.Load() == seen {
		time.Sleep(20 * time.Microsecond)
	}
}

func (k *kernel) Read(_ int, _ *shmfmt.Door, dst [][]byte, addr uint64) error {
	if k.reads.Add(-1) < 0 {
		return errors.New("the kernel refuses")
	}
	for _, b := range dst {
		copy(b, at(addr, len(b)))
		addr += uint64(len(b))
	}
	return nil
}

// open makes process i of n on the kernel.
func (k *kernel) open(t *testing.T, b boot.Boot, i, n int) (*Engine, *comm.Comm) {
	t.Helper()
	job := make([]int, n)
	members := make([]int32, n)
	for j := range n {
		job[j], members[j] = j, int32(j)
	}
	d := k.control.Door(i)
	probe := new([len(d.Probe)]byte)
	probe[0] = byte(i + 1)
	d.Probe = *probe
	d.ProbeAddr = uint64(uintptr(unsafe.Pointer(probe)))
	d.Pid.Store(1)
	f, err := node.New("kernel", k, i, job, n)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.New(b, f, nil, proc.Policy{Loads: 4, Yields: 50, Yield: runtime.Gosched})
	if err != nil {
		t.Fatal(err)
	}
	e := New(p)
	p.Start(e, e)
	t.Cleanup(func() {
		p.Stop()
		runtime.KeepAlive(probe)
	})
	return e, comm.New(p, 2, i, members)
}

// If the kernel refuses to read the sender's memory, at once or in the middle, the sender
// streams the whole payload from the start.
func TestRefusedReadIsStreamed(t *testing.T) {
	for _, reads := range []int64{0, 1, 2, 3, 1 << 40} { // the first is that of the probe
		k := newKernel(t, 2, reads)
		boots := boot.Memory(2)
		from, c := k.open(t, boots[0], 0, 2)
		to, d := k.open(t, boots[1], 1, 2)
		sent := make([]byte, 4*pullMax+13)
		for i := range sent {
			sent[i] = byte(i * 7)
		}
		done := make(chan error, 1)
		go func() { done <- from.Send(c, Standard, dtype.Mixed, sent, 1, 5) }()
		got := make([]byte, len(sent))
		var s Status
		to.Recv(d, got, 0, 5, &s)
		if s.Err != nil || s.Bytes != uint64(len(sent)) {
			t.Fatalf("after %d reads: received %d bytes: %v", reads, s.Bytes, s.Err)
		}
		if err := <-done; err != nil {
			t.Fatalf("after %d reads: %v", reads, err)
		}
		if !bytes.Equal(got, sent) {
			t.Fatalf("after %d reads: wrong payload", reads)
		}
	}
}
