package memhandle

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Space is the first of the addresses by which frames name the memory of handles. Real addresses of
// processes are below it on all systems.
const Space = 1 << 63

// Size is the length of an encoded handle in bytes.
const Size = 40

// mark begins a handle: "HMH" and the version of the layout.
const mark = 0x484d4801

// Handle is the decoded form of a handle, whose encoding is
//
//	mark uint32 | process uint32 | window uint64 | key uint64 | size uint64 | slot uint32 | check uint32
//
// in little-endian words. The check detects bytes that have changed in transit. A process that has a
// handle can make other handles from it, but only to parts of the same memory.
type Handle struct {
	Process uint32 // proc.Brief of the process whose memory it is
	Window  uint64
	Key     uint64
	Size    uint64
	Slot    uint32
}

// Append appends the bytes of x to b.
func (x *Handle) Append(b []byte) []byte {
	le := binary.LittleEndian
	from := len(b)
	b = le.AppendUint32(b, mark)
	b = le.AppendUint32(b, x.Process)
	for _, w := range [...]uint64{x.Window, x.Key, x.Size} {
		b = le.AppendUint64(b, w)
	}
	b = le.AppendUint32(b, x.Slot)
	return le.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// Parse decodes a handle that Append has written, from at least Size bytes; it ignores bytes after
// the handle. It reports false for bytes that Append never writes.
func Parse(b []byte) (x Handle, ok bool) {
	le := binary.LittleEndian
	x = Handle{le.Uint32(b[4:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint32(b[32:])}
	ok = le.Uint32(b) == mark && le.Uint32(b[36:]) == crc32.ChecksumIEEE(b[:36]) && x.Key >= Space && x.Size <= Space/2 && x.Slot < shmfmt.HandleSlots
	return x, ok
}
