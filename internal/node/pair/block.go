package pair

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Block is memory that one process makes and others of its node map, of the same job or of others, such as that
// of a window. It is found as a Memory is: by process and descriptor, with a mark in front that tells it from others.
type Block struct {
	Mem    []byte
	mapped []byte
	file   *os.File // nil if another process has made it, and after Settle
	mark   shmfmt.Mark
}

// BlockAlign is the alignment of the memory of a Block in bytes: its mark takes that much.
const BlockAlign = 4096

// BlockOfferSize is the length of what others find a Block by:
//
//	domain uint64, 0: there is none | pid uint32 | descriptor uint32 | mark
const BlockOfferSize = 16 + len(shmfmt.Mark{})

// ErrTooLarge is why there is no Block of more bytes than the machine has.
var ErrTooLarge = errors.New("more bytes than the memory of this machine")

// ErrGone is why there is no Block of a process that has ended, or has closed the descriptor.
var ErrGone = errors.New("the descriptor is gone")

// blockMagic marks a Block: "HALOBK" and a version.
const blockMagic = uint64(0x48414c4f424b0001)

type blockHead struct {
	magic atomic.Uint64
	mark  shmfmt.Mark
}

func (b *Block) head() *blockHead { return (*blockHead)(unsafe.Pointer(&b.mapped[0])) }

// Domain is a number for the processes that can find the memory of each other: those of this machine since it was
// started, with the same pid namespace and user. It is never 0. The error says why this process has none.
func Domain() (uint64, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0, err
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return 0, err
	}
	h := fnv.New64a()
	fmt.Fprint(h, string(boot), ns, os.Geteuid())
	return h.Sum64() | 1, nil
}

// NewBlock makes a Block of size zero bytes.
func NewBlock(size int64) (*Block, error) {
	if size < 0 || size > int64(sys.PhysicalMemory()) {
		return nil, fmt.Errorf("%d bytes: %w", size, ErrTooLarge)
	}
	f, err := sys.PairFile("halo-block", blockSize(size))
	if err != nil {
		return nil, err
	}
	b, err := newBlock(f, size)
	if err != nil {
		f.Close()
		return nil, err
	}
	rand.Read(b.mark[:])
	b.file, b.head().mark = f, b.mark
	b.head().magic.Store(blockMagic) // pairs with the load in OpenBlock
	return b, nil
}

// blockSize is the size of the file of a block. Memory of 0 bytes has one byte behind it, so that it has an
// address in the file.
func blockSize(size int64) int64 { return BlockAlign + max(size, 1) }

func newBlock(f *os.File, size int64) (*Block, error) {
	mem, err := sys.Map(f, blockSize(size))
	if err != nil {
		return nil, err
	}
	return &Block{mapped: mem, Mem: mem[BlockAlign : BlockAlign+size : BlockAlign+max(size, 1)]}, nil
}

// Offer writes what others find the Block by to out.
func (b *Block) Offer(out []byte) error {
	domain, err := Domain()
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	le.PutUint64(out, domain)
	le.PutUint32(out[8:], uint32(os.Getpid()))
	le.PutUint32(out[12:], uint32(b.file.Fd()))
	copy(out[16:], b.mark[:])
	return nil
}

// OpenBlock maps the Block of size bytes that another process offers.
func OpenBlock(offer []byte, size int64) (*Block, error) {
	domain, err := Domain()
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch told := le.Uint64(offer); {
	case told == 0:
		return nil, errors.New("the other process offers none")
	case told != domain:
		return nil, errors.New("the other process is on another machine, or has another pid namespace or user")
	case size < 0 || size > int64(sys.PhysicalMemory()):
		return nil, fmt.Errorf("%d bytes: %w", size, ErrTooLarge)
	}
	pid := int(le.Uint32(offer[8:]))
	f, err := sys.OpenPairFile(pid, int(le.Uint32(offer[12:])), blockSize(size))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := newBlock(f, size)
	if err != nil {
		return nil, err
	}
	b.mark = shmfmt.Mark(offer[16:])
	if h := b.head(); h.magic.Load() != blockMagic || h.mark != b.mark { // pairs with the store in NewBlock
		b.Close()
		return nil, fmt.Errorf("the memory in process %d is another one", pid)
	}
	return b, nil
}

// Has reports whether mem, which is not empty, is part of the Block.
func (b *Block) Has(mem []byte) bool {
	at, start := uintptr(unsafe.Pointer(&mem[0])), uintptr(unsafe.Pointer(&b.mapped[0]))
	return at >= start && at-start < uintptr(len(b.mapped))
}

// Settle closes the descriptor: nobody else will map the Block.
func (b *Block) Settle() {
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}

// Vacate is Close for a process that may still access the Block: it finds zeros.
func (b *Block) Vacate() error {
	b.Settle()
	if b.mapped == nil {
		return nil
	}
	return sys.Vacate(b.mapped, true)
}

// Close unmaps the Block in this process. Others that have mapped it keep it.
func (b *Block) Close() error {
	b.Settle()
	mem := b.mapped
	b.mapped, b.Mem = nil, nil
	if mem == nil {
		return nil
	}
	return sys.Unmap(mem)
}
