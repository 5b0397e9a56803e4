package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// endpoint is memory that messages are sent from or received into: a Buffer, with the methods of
// Comm, or a slice, with the functions of the same names.
type endpoint interface {
	send(c *mpi.Comm, form, dest, tag int) error        // one of blockingSends
	isend(c *mpi.Comm, form, dest, tag int) mpi.Request // one of laterSends, started
	recv(c *mpi.Comm, source, tag int) (mpi.Status, error)
	irecv(c *mpi.Comm, source, tag int) mpi.Request
	recvInit(c *mpi.Comm, source, tag int) mpi.Request
	mrecv(m *mpi.Message) (mpi.Status, error)
	imrecv(m *mpi.Message) mpi.Request
	buf() mpi.Buffer
}

// The forms of sends: standard, synchronous, buffered and ready mode.
const (
	blockingSends = 4
	laterSends    = 8 // nonblocking, then persistent
)

// buffer is an endpoint that is a Buffer.
type buffer struct{ mpi.Buffer }

func (b buffer) send(c *mpi.Comm, form, dest, tag int) error {
	return [...]func(mpi.Buffer, int, int) error{c.Send, c.Ssend, c.Bsend, c.Rsend}[form](b.Buffer, dest, tag)
}

func (b buffer) isend(c *mpi.Comm, form, dest, tag int) mpi.Request {
	return started([...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Ibsend, c.Irsend,
		c.SendInit, c.SsendInit, c.BsendInit, c.RsendInit}[form](b.Buffer, dest, tag), form >= 4)
}

func (b buffer) recv(c *mpi.Comm, source, tag int) (mpi.Status, error) {
	return c.Recv(b.Buffer, source, tag)
}

func (b buffer) irecv(c *mpi.Comm, source, tag int) mpi.Request {
	return c.Irecv(b.Buffer, source, tag)
}

func (b buffer) recvInit(c *mpi.Comm, source, tag int) mpi.Request {
	return started(c.RecvInit(b.Buffer, source, tag), true)
}

func (b buffer) mrecv(m *mpi.Message) (mpi.Status, error) { return m.Recv(b.Buffer) }

func (b buffer) imrecv(m *mpi.Message) mpi.Request { return m.Irecv(b.Buffer) }

func (b buffer) buf() mpi.Buffer { return b.Buffer }

// numbers is an endpoint that is a slice.
type numbers[T mpi.Elem] []T

func (s numbers[T]) send(c *mpi.Comm, form, dest, tag int) error {
	return [...]func(*mpi.Comm, []T, int, int) error{mpi.Send[T], mpi.Ssend[T], mpi.Bsend[T], mpi.Rsend[T]}[form](c, s, dest, tag)
}

func (s numbers[T]) isend(c *mpi.Comm, form, dest, tag int) mpi.Request {
	return started([...]func(*mpi.Comm, []T, int, int) mpi.Request{mpi.Isend[T], mpi.Issend[T], mpi.Ibsend[T], mpi.Irsend[T],
		mpi.SendInit[T], mpi.SsendInit[T], mpi.BsendInit[T], mpi.RsendInit[T]}[form](c, s, dest, tag), form >= 4)
}

func (s numbers[T]) recv(c *mpi.Comm, source, tag int) (mpi.Status, error) {
	return mpi.Recv(c, s, source, tag)
}

func (s numbers[T]) irecv(c *mpi.Comm, source, tag int) mpi.Request {
	return mpi.Irecv(c, s, source, tag)
}

func (s numbers[T]) recvInit(c *mpi.Comm, source, tag int) mpi.Request {
	return started(mpi.RecvInit(c, s, source, tag), true)
}

func (s numbers[T]) mrecv(m *mpi.Message) (mpi.Status, error) { return mpi.Mrecv(m, s) }

func (s numbers[T]) imrecv(m *mpi.Message) mpi.Request { return mpi.Imrecv(m, s) }

func (s numbers[T]) buf() mpi.Buffer { return mpi.Buf(s) }

// rawBytes is memory as MPI_BYTE, which matches any type.
func rawBytes(mem []byte) mpi.Buffer {
	return mpi.BufOf(mem, len(mem), mpi.Byte())
}

// started starts a persistent request; an error is returned by the wait for it.
func started(r mpi.Request, persistent bool) mpi.Request {
	if persistent {
		if err := r.Start(); err != nil {
			panic(err)
		}
	}
	return r
}

// placed is one side of a pair in the memory of a rank.
type placed struct {
	*half
	mem    []byte
	origin int64 // index of displacement 0
	endpoint
}

// lay places a side in random memory. It frees the type after the use.
func (h *half) lay(r *rand.Rand) (*placed, error) {
	m := &placed{half: h}
	if h.id != 0 {
		m.endpoint, m.mem = sliceOf(h.id, int(h.count))
		m.fill(r)
		return m, nil
	}
	d, err := datatypeOf(h.spec)
	if err != nil {
		return nil, err
	}
	if err := d.Commit(); err != nil {
		return nil, err
	}
	if err := h.hasTraits(d); err != nil {
		return nil, err
	}
	lo, hi := h.bounds()
	front := r.Int64N(9)
	m.origin = front - min(lo, 0)
	m.mem = make([]byte, m.origin+max(hi, 0)+r.Int64N(9))
	m.fill(r)
	m.endpoint = buffer{mpi.BufAt(m.mem, int(m.origin), int(h.count), d)}
	if h.spec.Combiner == dtype.CombinerNamed {
		return m, nil
	}
	return m, d.Free()
}

// hasTraits checks size and bounds of the type.
func (h *half) hasTraits(d mpi.Datatype) error {
	size, err1 := d.Size()
	lb, extent, err2 := d.Extent()
	trueLB, trueExtent, err3 := d.TrueExtent()
	wantLB, wantUB := h.m.Bounds()
	wantTrueLB, wantTrueUB := h.m.TrueBounds()
	got := [5]int{size, lb, extent, trueLB, trueExtent}
	want := [5]int{int(h.m.Size()), int(wantLB), int(wantUB - wantLB), int(wantTrueLB), int(wantTrueUB - wantTrueLB)}
	if err := errors.Join(err1, err2, err3); err != nil || got != want {
		return fmt.Errorf("size, lb, extent, true lb, true extent are %v, want %v: %w", got, want, err)
	}
	return nil
}

// fill writes random bytes.
func (m *placed) fill(r *rand.Rand) { fill(m.mem, r.Uint64()) }

func (m *placed) data() []byte { return m.packed(m.mem, m.origin) }

// holds checks that receiving data changed exactly its places in the memory before.
func (m *placed) holds(before, data []byte) error {
	m.unpack(before, m.origin, data)
	if bytes.Equal(m.mem, before) {
		return nil
	}
	wrong, first := 0, -1
	for i, b := range before {
		if m.mem[i] != b {
			wrong++
			if first < 0 {
				first = i
			}
		}
	}
	return fmt.Errorf("%d of %d bytes of memory are wrong; that at displacement %d is %#x, want %#x",
		wrong, len(before), int64(first)-m.origin, m.mem[first], before[first])
}

// sliceable reports whether Go has slices of a basic type.
func sliceable(e *dtype.Elem) bool {
	s, _ := sliceOf(e.ID, 0)
	return s != nil
}

// sliceOf makes a slice of numbers; it returns nil if Go has none of that type.
func sliceOf(id dtype.ID, n int) (endpoint, []byte) {
	switch id {
	case dtype.Int8:
		return numbersOf[int8](n)
	case dtype.Byte, dtype.Uint8:
		return numbersOf[byte](n)
	case dtype.Int16:
		return numbersOf[int16](n)
	case dtype.Int:
		return numbersOf[int32](n)
	case dtype.Float, dtype.FortranReal:
		return numbersOf[float32](n)
	case dtype.Double:
		return numbersOf[float64](n)
	case dtype.Long:
		return numbersOf[int64](n)
	case dtype.CDoubleComplex:
		return numbersOf[complex128](n)
	}
	return nil, nil
}

func numbersOf[T mpi.Elem](n int) (endpoint, []byte) {
	s := make([]T, n)
	var t T
	return numbers[T](s), unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), n*int(unsafe.Sizeof(t)))
}
