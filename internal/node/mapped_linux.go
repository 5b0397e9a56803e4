package node

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node/sparse"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Open joins the shared memory of this node. It does not need the other processes, which may map
// the own segment, and send to it, before.
func Open(b boot.Boot) (*Node, error) {
	job := b.Job()
	n := len(job.Local)
	me := slices.Index(job.Local, job.Rank)
	m := &mapped{boot: b, job: job.Local, n: n, me: me, segments: make([]*shmfmt.Segment, n), heaps: make([]mappedHeap, n)}
	m.heap = heap.Shared(m.openHeap)
	if job.Oversubscribed() {
		if err := m.openBells(); err != nil {
			return nil, err
		}
	}
	mem, open, err := m.mapSegment(-1, shmfmt.ControlSize(n), shmfmt.DoorsSize(n))
	if err != nil {
		return nil, err
	}
	m.control, err = shmfmt.OpenControl(mem, n, open)
	if err != nil {
		return nil, err
	}
	mem, open, err = m.mapSegment(job.Rank, shmfmt.SegmentSize(n), shmfmt.HeadSize(n))
	if err != nil {
		return nil, err
	}
	m.segments[me], err = shmfmt.FormatSegment(mem, me, n, open)
	if err != nil {
		return nil, err
	}
	m.probe = new([16]byte)
	for i := range m.probe {
		m.probe[i] = byte(rand.Uint32()) // of package math: it is no secret
	}
	d := m.control.Door(me)
	d.Probe = *m.probe
	d.ProbeAddr = uint64(uintptr(unsafe.Pointer(m.probe)))
	d.Pid.Store(int32(os.Getpid())) // pairs with the load in CanRead
	return New("shm", m, me, job.Local, job.Size)
}

// mapped is the Backend of processes of the operating system. It maps segments when they are first
// used, through descriptors that it requests from the launcher.
type mapped struct {
	boot    boot.Boot
	job     []int
	n, me   int
	heap    *heap.Heap
	control *shmfmt.Control
	probe   *[16]byte // peers read it to find out whether the kernel permits it; kept alive here

	segments []*shmfmt.Segment

	mu     sync.Mutex // guards what follows
	maps   []*sparse.Mapping
	heaps  []mappedHeap // by local process
	file   *os.File     // with the own heap; nil until that is used
	closed bool         // by Close or Release: no bell is requested any more

	bells *pollerBells // nil if processes sleep in a futex
}

// mapSegment maps the segment of a rank: size bytes, of which the first head bytes are accessible. open
// makes others accessible.
func (m *mapped) mapSegment(rank int, size, head int64) (mem []byte, open shmfmt.Opener, err error) {
	f, err := m.boot.Segment(rank)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	s, err := sparse.New(f, 0, size, size, m.n)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	m.maps = append(m.maps, s)
	m.mu.Unlock()
	return s.Bytes(), s.Open, s.Open(0, head)
}

func (m *mapped) Control() *shmfmt.Control { return m.control }

func (m *mapped) Segment(i int) (*shmfmt.Segment, error) {
	if s := m.segments[i]; s != nil {
		return s, nil
	}
	mem, open, err := m.mapSegment(m.job[i], shmfmt.SegmentSize(m.n), shmfmt.HeadSize(m.n))
	if err != nil {
		return nil, err
	}
	s, err := shmfmt.ShareSegment(mem, i, m.n, open)
	if err == nil {
		m.segments[i] = s
	}
	return s, err
}

// mappedHeap is the mapping of a heap. It is made at the first use, and is shorter than the heap
// where address space is limited. The owner opens the memory that it has allocated; other
// processes open what their views use.
type mappedHeap struct {
	mem  *sparse.Mapping
	size int64 // of the heap
}

// mapHeap maps as much as possible of the heap of local process i, and keeps the mapping. The
// caller holds the mutex.
func (m *mapped) mapHeap(i int) (*os.File, error) {
	f, err := m.boot.Segment(m.job[i])
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if h := &m.heaps[i]; err == nil && h.mem == nil {
		start := shmfmt.HeapStart(m.n)
		h.size = info.Size() - start
		if h.size < shmfmt.HeapUnit {
			err = fmt.Errorf("segment of %d bytes has none", info.Size())
		} else {
			h.mem, err = sparse.New(f, start, h.size, shmfmt.HeapUnit, m.n)
			if err == nil {
				m.maps = append(m.maps, h.mem)
			}
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("heap of local process %d: %w", i, err)
	}
	return f, nil
}

// openHeap opens the own heap.
func (m *mapped) openHeap() (*os.File, int64, *sparse.Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.mapHeap(m.me)
	if err != nil {
		return nil, 0, nil, err
	}
	m.file = f
	return f, shmfmt.HeapStart(m.n), m.heaps[m.me].mem, nil
}

func (m *mapped) Heap() *heap.Heap { return m.heap }

func (m *mapped) View(i int) View { return &mappedView{mapped: m, process: i} }

// mappedView is a View of the heap of a process.
type mappedView struct {
	mapped  *mapped
	process int
	use     *sparse.Use // nil until it is used; under the mutex of mapped
}

func (v *mappedView) Memory(off, size int64) ([]byte, error) {
	m := v.mapped
	m.mu.Lock()
	defer m.mu.Unlock()
	h := &m.heaps[v.process]
	if h.mem == nil {
		f, err := m.mapHeap(v.process)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	switch here := int64(len(h.mem.Bytes())); {
	case off < 0 || size < 0 || off > h.size || size > h.size-off:
		return nil, class.Errorf(class.RMARange, "%d bytes at offset %d of a heap of %d", size, off, h.size)
	case off+size > here:
		return nil, fmt.Errorf("%d bytes at offset %d of a heap of which %d bytes can be mapped: %w", size, off, here, fabric.ErrUnsupported)
	}
	if v.use == nil {
		v.use = h.mem.Use()
	}
	return v.use.Memory(off, size)
}

func (v *mappedView) Close() {
	v.mapped.mu.Lock()
	defer v.mapped.mu.Unlock()
	if v.use != nil {
		v.use.Close()
	}
}

func (m *mapped) Read(_ int, door *shmfmt.Door, dst [][]byte, addr uint64) error {
	return sys.ReadProcess(int(door.Pid.Load()), dst, addr)
}

func (m *mapped) Write(_ int, door *shmfmt.Door, src [][]byte, addr uint64) error {
	return sys.WriteProcess(int(door.Pid.Load()), src, addr)
}

// Close leaves the memory mapped: a service may still be about to load its bell, and the
// process ends soon. It closes the descriptors, which ends a Sleep in progress.
func (m *mapped) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closeBells()
}

// Release frees the memory. If watched is set it keeps the addresses mapped, to empty memory.
func (m *mapped) Release(watched bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	give := (*sparse.Mapping).Release
	if watched {
		give = (*sparse.Mapping).Clear
	}
	var first error
	for _, mem := range m.maps {
		if err := give(mem); err != nil && first == nil {
			first = err
		}
	}
	m.maps = nil
	if m.file != nil {
		first = errors.Join(first, m.file.Close())
		m.file = nil
	}
	return errors.Join(first, m.closeBells())
}
