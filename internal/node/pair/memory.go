package pair

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Memory is the memory that this process shares with one of another job.
type Memory struct {
	*shmfmt.Pair
	end    int
	mapped []byte
	probe  *[16]byte // the other process reads it to find out whether the kernel permits it; kept alive here
	read   permission
}

// permission says whether the kernel permits an access, as one attempt has shown.
type permission uint8

const (
	unknown permission = iota
	granted
	denied
)

// An offer, the first message on a connection:
//
//	kind uint32: offered or none | pid uint32 | descriptor uint32 | mark
//
// The answer is a byte: taken or refused.
const (
	offerSize = 12 + len(shmfmt.Mark{})

	none    = 0
	offered = 1

	refused = 0
	taken   = 1
)

// ErrUnwanted is the reason for no memory if one of the two processes does not use shared memory.
var ErrUnwanted = errors.New("one of the two uses no shared memory")

// Offer offers new memory to the other end of conn, or none if wanted is false. m is nil if the two processes
// then share no memory, and why is the reason. failed is an error of conn.
func Offer(conn io.ReadWriter, wanted bool) (m *Memory, why, failed error) {
	var b [offerSize]byte
	var f *os.File
	why = ErrUnwanted
	if wanted {
		m, f, why = create(&b)
	}
	if f != nil {
		defer f.Close()
	}
	var answer [1]byte
	_, failed = conn.Write(b[:])
	if failed == nil {
		_, failed = io.ReadFull(conn, answer[:])
	}
	if m != nil && (failed != nil || answer[0] != taken) {
		m.Close()
		m, why = nil, errors.New("the other process does not take it")
	}
	return m, why, failed
}

// create makes memory and describes it in an offer.
func create(b *[offerSize]byte) (*Memory, *os.File, error) {
	f, err := sys.PairFile("halo-pair", shmfmt.PairSize)
	if err != nil {
		return nil, nil, err
	}
	mem, err := sys.Map(f, shmfmt.PairSize)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	var mark shmfmt.Mark
	rand.Read(mark[:])
	le := binary.LittleEndian
	le.PutUint32(b[0:], offered)
	le.PutUint32(b[4:], uint32(os.Getpid()))
	le.PutUint32(b[8:], uint32(f.Fd()))
	copy(b[12:], mark[:])
	return open(shmfmt.FormatPair(mem, mark), 0, mem), f, nil
}

// Take answers the offer of the other end of conn: it takes the memory if wanted is true. The results are those
// of Offer.
func Take(conn io.ReadWriter, wanted bool) (m *Memory, why, failed error) {
	var b [offerSize]byte
	_, failed = io.ReadFull(conn, b[:])
	if failed != nil {
		return nil, nil, failed
	}
	le := binary.LittleEndian
	switch {
	case !wanted:
		why = ErrUnwanted
	case le.Uint32(b[0:]) != offered:
		why = errors.New("the other process offers none")
	default:
		m, why = take(int(le.Uint32(b[4:])), int(le.Uint32(b[8:])), shmfmt.Mark(b[12:]))
	}
	answer := [1]byte{refused}
	if m != nil {
		answer[0] = taken
	}
	_, failed = conn.Write(answer[:])
	if failed != nil && m != nil {
		m.Close()
		m = nil
	}
	return m, why, failed
}

// take maps the memory file that process pid has open as descriptor fd.
func take(pid, fd int, mark shmfmt.Mark) (*Memory, error) {
	f, err := sys.OpenPairFile(pid, fd, shmfmt.PairSize)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	mem, err := sys.Map(f, shmfmt.PairSize)
	if err != nil {
		return nil, err
	}
	p, err := shmfmt.OpenPair(mem, mark)
	if err != nil {
		sys.Unmap(mem)
		return nil, fmt.Errorf("process %d is another one here: %w", pid, err)
	}
	return open(p, 1, mem), nil
}

// open makes the Memory of an end, whose memory others may read from then on.
func open(p *shmfmt.Pair, end int, mem []byte) *Memory {
	m := &Memory{Pair: p, end: end, mapped: mem, probe: new([16]byte)}
	rand.Read(m.probe[:])
	d := p.Door(end)
	d.Probe = *m.probe
	d.ProbeAddr = uint64(uintptr(unsafe.Pointer(m.probe)))
	d.Pid.Store(int32(os.Getpid())) // pairs with the load in CanRead
	return m
}

// Mine is the door of this process.
func (m *Memory) Mine() *shmfmt.Door { return m.Door(m.end) }

// Theirs is the door of the other process.
func (m *Memory) Theirs() *shmfmt.Door { return m.Door(1 - m.end) }

// In is the ring that this process empties.
func (m *Memory) In() []byte { return m.Ring(m.end) }

// Out is the ring that this process fills.
func (m *Memory) Out() []byte { return m.Ring(1 - m.end) }

// CanRead reports whether the kernel lets this process read the memory of the other one. The first call
// tries to read the probe there. The caller holds the engine's lock.
func (m *Memory) CanRead() bool {
	if d := m.Theirs(); m.read == unknown {
		m.read = denied
		var got [len(d.Probe)]byte
		if err := sys.ReadProcess(int(d.Pid.Load()), [][]byte{got[:]}, d.ProbeAddr); err == nil && got == d.Probe { // pairs with the store in open
			m.read = granted
		}
	}
	return m.read == granted
}

// Read fills the slices of dst one after the other with the bytes from address addr on in the other process. The
// error wraps fabric.ErrUnsupported unless CanRead has returned true.
func (m *Memory) Read(dst [][]byte, addr uint64) error {
	if m.read != granted {
		return fmt.Errorf("pair: read of %d blocks: %w", len(dst), fabric.ErrUnsupported)
	}
	return sys.ReadProcess(int(m.Theirs().Pid.Load()), dst, addr)
}

// Close unmaps the memory. Nobody may use it any more.
func (m *Memory) Close() error {
	mem := m.mapped
	m.mapped, m.read = nil, denied
	if mem == nil {
		return nil
	}
	return sys.Unmap(mem)
}
