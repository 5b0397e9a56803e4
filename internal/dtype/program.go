package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// programDepth is how deep programs for C may be nested: C runs them by recursion, on
	// a stack that does not grow.
	programDepth = 16
	// programMost is the greatest length in bytes of a program for C. A longer program moves
	// thousands of runs, which takes much longer than the call to Go that C avoids.
	programMost = 64 << 10
	// packMost is the greatest number of bytes that C packs or unpacks itself. For more
	// bytes, the call to Go is a small part of the time.
	packMost = 64 << 10
)

const (
	word      = int(unsafe.Sizeof(int64(0)))
	nodeWords = int(unsafe.Sizeof(shmfmt.Node{})) / word
)

// words is the length in words of the program for C; ok is false if the program is too long or
// nested too deeply.
func (n *node) words(depth int) (total int, ok bool) {
	if depth == 0 {
		return 0, false
	}
	subs := n.subs
	if n.sub != nil {
		subs = []*node{n.sub}
	}
	total = nodeWords + len(n.subs) + len(n.offs) + len(n.cum)
	for _, s := range subs {
		more, ok := s.words(depth - 1)
		total += more
		if !ok || total*word > programMost {
			return 0, false
		}
	}
	return total, total*word <= programMost
}

// forC returns the program in the form that C reads, in memory of package offheap; nil if it is too
// long or nested too deeply.
func (n *node) forC() []byte {
	total, ok := n.words(programDepth)
	if !ok {
		return nil
	}
	block := offheap.Bytes(total * word)
	w := programWriter{unsafe.Slice((*int64)(unsafe.Pointer(&block[0])), total), 0}
	w.node(n)
	return block
}

// programWriter writes a program to memory that is long enough. Positions are indexes of words.
type programWriter struct {
	memory []int64
	used   int
}

// take allocates n words and returns their position.
func (w *programWriter) take(n int) int {
	w.used += n
	return w.used - n
}

// node writes a node, followed by its lists and subs, and returns its position. References in
// the node are distances from it in bytes.
func (w *programWriter) node(n *node) (at int) {
	at = w.take(nodeWords)
	from := func(position int) int64 { return int64((position - at) * word) }
	list := func(numbers []int64) int64 {
		if len(numbers) == 0 {
			return 0
		}
		position := w.take(len(numbers))
		copy(w.memory[position:], numbers)
		return from(position)
	}
	d := (*shmfmt.Node)(unsafe.Pointer(&w.memory[at]))
	*d = shmfmt.Node{
		Kind: int64(n.kind), Off: n.off, Size: n.size, N: n.n, Stride: n.stride, Runs: n.runs, Span: n.hi - n.lo,
		Offs: list(n.offs), Cum: list(n.cum),
	}
	if n.sub != nil {
		d.Sub = from(w.node(n.sub))
	}
	if len(n.subs) > 0 {
		positions := w.take(len(n.subs))
		d.Subs = from(positions)
		for i, s := range n.subs {
			w.memory[positions+i] = from(w.node(s))
		}
	}
	return at
}
