package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

// Records of datatypes are outside of the Go heap (package offheap). Go writes them and C reads them.
// Other processes do not.

// Type is what C reads of a datatype while it has a handle of it. All fields but the two atomic ones
// are written before C gets the handle, and do not change until the handle is freed.
type Type struct {
	// Committed is 1 once C has committed the type: stored by C, loaded by dtype.Type.Committed.
	Committed atomic.Uint32
	// ProgramBytes is the length of the program. C does not read it.
	ProgramBytes uint32
	Size         int64 // bytes of data
	LB, UB       int64
	TrueLB       int64 // bounds of the data
	TrueUB       int64
	Most         int64 // largest count with which no product exceeds 64 bits
	// Program is the address of the loop program's first Node, 0 while C must not move
	// elements. It is stored after the program is written; C loads it before it reads that.
	Program atomic.Uintptr
}

// Node is one node of a loop program. The type node of package dtype describes its fields. A program
// is one block of nodes and lists of 64-bit numbers, with its outermost node first. A position is a
// number of bytes from the beginning of the node that contains it, so that a program can be copied
// to any address; 0 is none.
type Node struct {
	Kind   int64
	Off    int64
	Size   int64
	N      int64
	Stride int64
	Runs   int64
	Span   int64 // bytes from the first byte of data to the end of the last
	Sub    int64 // position of a node
	Subs   int64 // position of a list of N positions of nodes
	Offs   int64 // position of a list of N numbers
	Cum    int64 // position of a list of N+1 numbers
}

// TypeLayout returns the layouts of Type and Node.
func TypeLayout() []Field {
	var t Type
	var n Node
	return []Field{
		{"TYPE_COMMITTED", int64(unsafe.Offsetof(t.Committed))},
		{"TYPE_SIZE", int64(unsafe.Offsetof(t.Size))},
		{"TYPE_LB", int64(unsafe.Offsetof(t.LB))},
		{"TYPE_UB", int64(unsafe.Offsetof(t.UB))},
		{"TYPE_TRUE_LB", int64(unsafe.Offsetof(t.TrueLB))},
		{"TYPE_TRUE_UB", int64(unsafe.Offsetof(t.TrueUB))},
		{"TYPE_MOST", int64(unsafe.Offsetof(t.Most))},
		{"TYPE_PROGRAM", int64(unsafe.Offsetof(t.Program))},
		{"NODE_KIND", int64(unsafe.Offsetof(n.Kind))},
		{"NODE_OFF", int64(unsafe.Offsetof(n.Off))},
		{"NODE_SIZE", int64(unsafe.Offsetof(n.Size))},
		{"NODE_N", int64(unsafe.Offsetof(n.N))},
		{"NODE_STRIDE", int64(unsafe.Offsetof(n.Stride))},
		{"NODE_RUNS", int64(unsafe.Offsetof(n.Runs))},
		{"NODE_SPAN", int64(unsafe.Offsetof(n.Span))},
		{"NODE_SUB", int64(unsafe.Offsetof(n.Sub))},
		{"NODE_SUBS", int64(unsafe.Offsetof(n.Subs))},
		{"NODE_OFFS", int64(unsafe.Offsetof(n.Offs))},
		{"NODE_CUM", int64(unsafe.Offsetof(n.Cum))},
	}
}
