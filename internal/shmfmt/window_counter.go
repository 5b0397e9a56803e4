package shmfmt

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Counter is one of the numbered counters of a window at a target: a line in memory that the
// processes of the target's node map. Origins add to it when their operations are complete, and the
// target waits until it reaches a value.
//
// No wake-up is lost, since two stores and two loads are sequentially consistent. The waiter stores
// the value that it waits for (Want) and then loads the counter. An origin adds to the counter and
// then loads the wanted value. At least one of the two sees the store of the other: either the
// waiter finds that the counter is high enough, or the origin finds that the target waits, and
// rings. If nobody waits for that value, the origin uses one line and no door.
type Counter struct {
	value atomic.Int64
	want  atomic.Int64 // math.MaxInt64 if nobody waits
	// Waiters is the number of goroutines that wait. Only the target uses it; it is here so
	// that the target needs no second table.
	Waiters int64
	_       [Line - 24]byte
}

// Add adds n. It returns the sum, and whether the target waits for a value that the sum has reached.
// A process that loads the sum sees what the caller has stored before: Add is a full fence on
// amd64, and release with acquire elsewhere.
func (c *Counter) Add(n int64) (sum int64, reached bool) {
	sum = c.value.Add(n)             // pairs with the load in Value by the waiter
	return sum, sum >= c.want.Load() // pairs with the store in Want
}

// Value returns the sum.
func (c *Counter) Value() int64 { return c.value.Load() } // pairs with the Add of origins

// Set sets the counter to x, and reports whether the target waits for a value that x has reached.
func (c *Counter) Set(x int64) (reached bool) {
	c.value.Store(x)
	return x >= c.want.Load()
}

// Want sets the value from which on an origin that adds must ring: math.MaxInt64 for never. Only the
// target calls it.
func (c *Counter) Want(x int64) { c.want.Store(x) } // pairs with the load in Add

// Wanted returns the value of the last Want.
func (c *Counter) Wanted() int64 { return c.want.Load() }

const (
	// CountersMax is the largest number of counters of a window at each target: 16 bits of a
	// frame contain the number of a counter.
	CountersMax = 1 << 16
	// countersFirst is the number of counters in the first chunk: 4 KiB of lines. The second has
	// as many, and each further chunk as many as all before. Chunks grow from both ends of the
	// numbers: the program uses low numbers and a layer above it high ones, and neither needs
	// memory for the numbers in the middle.
	countersFirst = 64
	// countersHalf is the number of chunks that grow from either end.
	countersHalf = 10
	// CounterChunks is the largest number of chunks.
	CounterChunks = 2 * countersHalf
)

// CounterChunk returns the chunk of counter i, and the index of the counter in it.
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

// CounterChunkLen returns the number of counters in a chunk.
func CounterChunkLen(chunk int) int { return countersFirst << max(chunk%countersHalf-1, 0) }

// CounterChunkSize returns the size of a chunk in bytes.
func CounterChunkSize(chunk int) int64 { return int64(CounterChunkLen(chunk)) * Line }

// FormatCounters formats zeroed memory, which begins at a line, as a chunk of counters that nobody
// waits for.
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

// windowCounterHead is the directory of the chunks in a control block.
type windowCounterHead struct {
	at [CounterChunks]atomic.Uint64 // 1 + the offset of the chunk in the target's heap; 0 if there is none that others can map
	_  [3*Line - 8*CounterChunks]byte
}

func (w *Window) counters() *windowCounterHead {
	return (*windowCounterHead)(unsafe.Pointer(&w.mem[windowCounters]))
}

// SetCounterChunk publishes the offset of a chunk in the target's heap. The target calls it once for
// each chunk, after it has formatted the chunk.
func (w *Window) SetCounterChunk(chunk int, off int64) {
	w.counters().at[chunk].Store(uint64(off) + 1) // pairs with the load in CounterChunkAt
}

// CounterChunkAt returns the offset of a chunk in the target's heap. It returns false if there is
// none: then only the target's service can count.
func (w *Window) CounterChunkAt(chunk int) (off int64, ok bool) {
	x := w.counters().at[chunk].Load() // pairs with the store in SetCounterChunk
	return int64(x - 1), x != 0
}
