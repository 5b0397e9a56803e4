package shmfmt

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Counter is one of the numbered counters of a window at a target, a line in memory that
// the target's node maps. Origins add to it when what they have done is complete, and the
// target waits for it to reach a value.
//
// No wake-up is lost, by the order of two stores and two loads, all of them sequentially
// consistent. Who waits stores the value that it waits for (Want) and looks at the counter
// after that; who adds, adds, and looks at what is wanted after that. One of the two comes
// second and sees what the other has stored: either the waiter finds the counter far
// enough, or the adder finds that somebody waits, and rings. And while nobody waits for
// that value the adder has one line to do with, and no door.
type Counter struct {
	value atomic.Int64
	want  atomic.Int64 // math.MaxInt64 if nobody waits
	// Waiters is how many wait. It is the target's own, which keeps it here so that it
	// need not look for a second place.
	Waiters int64
	_       [Line - 24]byte
}

// Add adds n and returns the sum, and whether somebody waits for so much. What the caller
// has stored before is seen by who finds the sum: a full fence on amd64, release and acquire
// elsewhere.
func (c *Counter) Add(n int64) (sum int64, reached bool) {
	sum = c.value.Add(n)             // pairs with the load in Value by who waits
	return sum, sum >= c.want.Load() // pairs with the store in Want
}

// Value is the sum.
func (c *Counter) Value() int64 { return c.value.Load() } // pairs with the Add of origins

// Set makes the counter x, and reports whether somebody waits for so much.
func (c *Counter) Set(x int64) (reached bool) {
	c.value.Store(x)
	return x >= c.want.Load()
}

// Want says from which value on who adds is to ring: math.MaxInt64 for never. The target
// alone calls it.
func (c *Counter) Want(x int64) { c.want.Store(x) } // pairs with the load in Add

// Wanted is what Want has said.
func (c *Counter) Wanted() int64 { return c.want.Load() }

const (
	// CountersMax is how many counters a window has at most at each target: what 16 bits
	// of a frame name.
	CountersMax = 1 << 16
	// countersFirst is how many are in the first chunk: 4 KiB of lines. The second has as
	// many, and each one after that as many as all before. They grow from both ends of the
	// numbers, so that the window's program takes the low ones and the layer above the high
	// ones, and neither pays for those in the middle.
	countersFirst = 64
	// countersHalf is how many chunks grow from either end.
	countersHalf = 10
	// CounterChunks is how many chunks there are at most.
	CounterChunks = 2 * countersHalf
)

// CounterChunk says in which chunk counter i is, and where in it.
func CounterChunk(i int) (chunk, at int) {
	if i >= CountersMax/2 {
		i = CountersMax - 1 - i
		chunk = countersHalf
	}
	if n := bits.Len(uint(i) / countersFirst); n > 0 {
		return chunk + n, i - countersFirst<<(n-1)
	}
	return chunk, i
}

// CounterChunkLen is how many counters a chunk has.
func CounterChunkLen(chunk int) int { return countersFirst << max(chunk%countersHalf-1, 0) }

// CounterChunkSize is the size of a chunk in bytes.
func CounterChunkSize(chunk int) int64 { return int64(CounterChunkLen(chunk)) * Line }

// FormatCounters makes zeroed memory, which begins at a line, a chunk of counters that
// nobody waits for.
func FormatCounters(mem []byte, chunk int) ([]Counter, error) {
	list, err := OpenCounters(mem, chunk)
	for i := range list {
		list[i].want.Store(math.MaxInt64)
	}
	return list, err
}

// OpenCounters returns the counters of a chunk in memory of another process.
func OpenCounters(mem []byte, chunk int) ([]Counter, error) {
	if size := CounterChunkSize(chunk); int64(len(mem)) < size {
		return nil, fmt.Errorf("shmfmt: %d bytes for chunk %d of counters, want %d", len(mem), chunk, size)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%Line != 0 {
		return nil, fmt.Errorf("shmfmt: counters at %p, want the beginning of a line", &mem[0])
	}
	return unsafe.Slice((*Counter)(unsafe.Pointer(&mem[0])), CounterChunkLen(chunk)), nil
}

// windowCounters is the directory of the chunks in a control block.
type windowCounterHead struct {
	at [CounterChunks]atomic.Uint64 // 0: there is none that others could use; else 1 + its offset in the target's heap
	_  [3*Line - 8*CounterChunks]byte
}

func (w *Window) counters() *windowCounterHead {
	return (*windowCounterHead)(unsafe.Pointer(&w.mem[windowCounters]))
}

// SetCounterChunk tells where in its heap the target has made a chunk, once for each, and
// after it has been formatted.
func (w *Window) SetCounterChunk(chunk int, off int64) {
	w.counters().at[chunk].Store(uint64(off) + 1) // pairs with the load in CounterChunkAt
}

// CounterChunkAt is where in the target's heap a chunk is, and false if there is none:
// then only the target's service can count.
func (w *Window) CounterChunkAt(chunk int) (off int64, ok bool) {
	x := w.counters().at[chunk].Load() // pairs with the store in SetCounterChunk
	return int64(x - 1), x != 0
}
