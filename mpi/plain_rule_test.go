package mpi_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The tests of the analyzers of package vet read the two tables of this file, too.

type (
	listNode struct {
		Value int
		Next  *listNode
	}
	metres       float64
	words        []string
	boxOf[T any] struct {
		N    int32
		Item T
	}
)

// typeError is the error of the run-time check of T.
func typeError[T any]() error { return second(mpi.TypeOf[T]()) }

// plainRule are types of Go, each with the text of its error: empty for plain data.
var plainRule = []struct {
	wrong string
	err   func() error
}{
	{"", typeError[bool]},
	{"", typeError[int8]},
	{"", typeError[uint]},
	{"", typeError[rune]},
	{"", typeError[float32]},
	{"", typeError[complex128]},
	{"", typeError[metres]},
	{"", typeError[time.Duration]},
	{"", typeError[struct{}]},
	{"", typeError[[0]int]},
	{"", typeError[[2][3]metres]},
	{"", typeError[particle]},
	{"", typeError[[4]particle]},
	{"", typeError[outer]},
	{"", typeError[boxOf[metres]]},
	{"", typeError[struct{ _ [3]byte }]},
	{"", typeError[struct{ particle }]},
	{"", typeError[mpi.Sync]},
	{"", typeError[mpi.ValueIndex[float64, int]]},

	{"uintptr is a uintptr", typeError[uintptr]},
	{"string is a string", typeError[string]},
	{"mpi_test.label is a string", typeError[label]},
	{" is a interface", typeError[any]},
	{"error is a interface", typeError[error]},
	{"*int is a ptr", typeError[*int]},
	{"[]int is a slice", typeError[[]int]},
	{"mpi_test.words is a slice", typeError[words]},
	{"map[int]bool is a map", typeError[map[int]bool]},
	{"chan int is a chan", typeError[chan int]},
	{"func() is a func", typeError[func()]},
	{"unsafe.Pointer is a unsafe.Pointer", typeError[unsafe.Pointer]},
	{"mpi_test.listNode.Next is a ptr", typeError[listNode]},
	{"mpi_test.holdsPointer.In[i].Next is a ptr", typeError[holdsPointer]},
	{"mpi_test.boxOf[string].Item is a string", typeError[boxOf[string]]},
	{"mpi_test.boxOf[[]int].Item is a slice", typeError[boxOf[[]int]]},
	{"time.Time.loc is a ptr", typeError[time.Time]},
	{"[0]*int[i] is a ptr", typeError[[0]*int]},
	{"._ is a ptr", typeError[struct{ _ *int }]},
	{".Duration[i] is a chan", typeError[struct {
		N        int
		Duration [2]chan time.Duration
	}]},
	{".label is a string", typeError[struct {
		particle
		label
	}]},
}

// TRM-11: which types are plain data.
func TestTRM11_RuleForPlainData(t *testing.T) {
	for _, r := range plainRule {
		if err := r.err(); r.wrong == "" {
			ok(t, err)
		} else {
			wantText(t, err, mpi.ErrType, r.wrong+": memory of this process")
		}
	}
}

// plainOnly are all functions of package mpi that take elements of any type and fail if these
// are not plain data. Count, CreateOp and MemoryOf report that without an error, or later.
var plainOnly = map[string]func(c *mpi.Comm, w *mpi.Window, x []listNode) error{
	"TypeOf": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.TypeOf[listNode]()) },
	"Buf":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return c.Send(mpi.Buf(x), 0, 0) },
	"BufOf":  func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return c.Send(mpi.BufOf(x, 1, mpi.Byte()), 0, 0) },
	"BufAt": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return c.Send(mpi.BufAt(x, 0, 1, mpi.Byte()), 0, 0)
	},
	"Send":      func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Send(c, x, 0, 0) },
	"Isend":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Isend(c, x, 0, 0)) },
	"SendInit":  func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.SendInit(c, x, 0, 0)) },
	"Ssend":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Ssend(c, x, 0, 0) },
	"Issend":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Issend(c, x, 0, 0)) },
	"SsendInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.SsendInit(c, x, 0, 0)) },
	"Bsend":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Bsend(c, x, 0, 0) },
	"Ibsend":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Ibsend(c, x, 0, 0)) },
	"BsendInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.BsendInit(c, x, 0, 0)) },
	"Rsend":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Rsend(c, x, 0, 0) },
	"Irsend":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Irsend(c, x, 0, 0)) },
	"RsendInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.RsendInit(c, x, 0, 0)) },
	"Recv":      func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.Recv(c, x, 0, 0)) },
	"Irecv":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Irecv(c, x, 0, 0)) },
	"RecvInit":  func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.RecvInit(c, x, 0, 0)) },
	"RecvSlice": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return third(mpi.RecvSlice[listNode](c, 0, 0)) },
	"Mrecv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return probed(c, func(m *mpi.Message) error { return second(mpi.Mrecv(m, x)) })
	},
	"Imrecv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return probed(c, func(m *mpi.Message) error { return waited(mpi.Imrecv(m, x)) })
	},
	"Sendrecv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.Sendrecv(c, x, 0, 0, x, 0, 0)) },
	"Isendrecv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.Isendrecv(c, x, 0, 0, x, 0, 0))
	},
	"SendrecvReplace": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return second(mpi.SendrecvReplace(c, x, 0, 0, 0, 0))
	},
	"IsendrecvReplace": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.IsendrecvReplace(c, x, 0, 0, 0, 0))
	},
	"Bcast":         func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Bcast(c, x, 0) },
	"Ibcast":        func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Ibcast(c, x, 0)) },
	"BcastInit":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.BcastInit(c, x, 0)) },
	"Allgather":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Allgather(c, x, x) },
	"Iallgather":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Iallgather(c, x, x)) },
	"AllgatherInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.AllgatherInit(c, x, x)) },
	"Allgatherv":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Allgatherv(c, x, x, one, zero) },
	"Iallgatherv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.Iallgatherv(c, x, x, one, zero))
	},
	"AllgathervInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.AllgathervInit(c, x, x, one, zero))
	},
	"Alltoall":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Alltoall(c, x, x) },
	"Ialltoall":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Ialltoall(c, x, x)) },
	"AlltoallInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.AlltoallInit(c, x, x)) },
	"Alltoallv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return mpi.Alltoallv(c, x, one, zero, x, one, zero)
	},
	"Ialltoallv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.Ialltoallv(c, x, one, zero, x, one, zero))
	},
	"AlltoallvInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.AlltoallvInit(c, x, one, zero, x, one, zero))
	},
	"Gather":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Gather(c, x, x, 0) },
	"Igather":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Igather(c, x, x, 0)) },
	"GatherInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.GatherInit(c, x, x, 0)) },
	"Gatherv":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Gatherv(c, x, x, one, zero, 0) },
	"Igatherv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.Igatherv(c, x, x, one, zero, 0))
	},
	"GathervInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.GathervInit(c, x, x, one, zero, 0))
	},
	"Scatter":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Scatter(c, x, x, 0) },
	"Iscatter":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.Iscatter(c, x, x, 0)) },
	"ScatterInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.ScatterInit(c, x, x, 0)) },
	"Scatterv":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Scatterv(c, x, one, zero, x, 0) },
	"Iscatterv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.Iscatterv(c, x, one, zero, x, 0))
	},
	"ScattervInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return waited(mpi.ScattervInit(c, x, one, zero, x, 0))
	},
	"NeighborAllgather": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return mpi.NeighborAllgather(c, x, x) })
	},
	"IneighborAllgather": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.IneighborAllgather(c, x, x)) })
	},
	"NeighborAllgatherInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.NeighborAllgatherInit(c, x, x)) })
	},
	"NeighborAllgatherv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return mpi.NeighborAllgatherv(c, x, x, one, zero) })
	},
	"IneighborAllgatherv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.IneighborAllgatherv(c, x, x, one, zero)) })
	},
	"NeighborAllgathervInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.NeighborAllgathervInit(c, x, x, one, zero)) })
	},
	"NeighborAlltoall": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return mpi.NeighborAlltoall(c, x, x) })
	},
	"IneighborAlltoall": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.IneighborAlltoall(c, x, x)) })
	},
	"NeighborAlltoallInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.NeighborAlltoallInit(c, x, x)) })
	},
	"NeighborAlltoallv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return mpi.NeighborAlltoallv(c, x, one, zero, x, one, zero) })
	},
	"IneighborAlltoallv": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.IneighborAlltoallv(c, x, one, zero, x, one, zero)) })
	},
	"NeighborAlltoallvInit": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withNeighbors(c, func(c *mpi.Comm) error { return waited(mpi.NeighborAlltoallvInit(c, x, one, zero, x, one, zero)) })
	},
	"PsendInit":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.PsendInit(c, x, 1, 0, 0)) },
	"PrecvInit":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return waited(mpi.PrecvInit(c, x, 1, 0, 0)) },
	"BcastOne":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.BcastOne(c, x[0], 0)) },
	"AllgatherOne": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.AllgatherOne(c, x[0])) },
	"AllocMem":     func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.AllocMem[listNode](c, 1, nil)) },
	"WinCreate":    func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.WinCreate(c, x, nil)) },
	"WinAllocate": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return second(mpi.WinAllocate[listNode](c, 1, nil))
	},
	"WinAllocateShared": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return second(mpi.WinAllocateShared[listNode](c, 1, nil))
	},
	"WinFromMemhandle": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return second(mpi.WinFromMemhandle[listNode](w, nil, 0, nil))
	},
	"Attach":          func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Attach(w, x) },
	"MemhandleCreate": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return second(mpi.MemhandleCreate(w, x, nil)) },
	"Put":             func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Put(w, x, 0, 0) },
	"Get":             func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Get(w, x, 0, 0) },
	"Accumulate":      func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Accumulate(w, x, 0, 0, mpi.Replace) },
	"GetAccumulate": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return mpi.GetAccumulate(w, x, x, 0, 0, mpi.Replace)
	},
	"Win": func(c *mpi.Comm, w *mpi.Window, x []listNode) error { return mpi.Win[listNode]{Window: w}.Put(x, 0, 0) },
	"ReadAt": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.ReadAt(f, 0, x)) })
	},
	"IreadAt": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IreadAt(f, 0, x)) })
	},
	"ReadAtAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.ReadAtAll(f, 0, x)) })
	},
	"IreadAtAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IreadAtAll(f, 0, x)) })
	},
	"Read": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.Read(f, x)) })
	},
	"Iread": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.Iread(f, x)) })
	},
	"ReadAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.ReadAll(f, x)) })
	},
	"IreadAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IreadAll(f, x)) })
	},
	"ReadShared": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.ReadShared(f, x)) })
	},
	"IreadShared": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IreadShared(f, x)) })
	},
	"ReadOrdered": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.ReadOrdered(f, x)) })
	},
	"ReadAtAllBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.ReadAtAllBegin(f, 0, x), second(f.ReadAtAllEnd())) })
	},
	"ReadAllBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.ReadAllBegin(f, x), second(f.ReadAllEnd())) })
	},
	"ReadOrderedBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.ReadOrderedBegin(f, x), second(f.ReadOrderedEnd())) })
	},
	"WriteAtAllBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.WriteAtAllBegin(f, 0, x), second(f.WriteAtAllEnd())) })
	},
	"WriteAllBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.WriteAllBegin(f, x), second(f.WriteAllEnd())) })
	},
	"WriteOrderedBegin": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return errors.Join(mpi.WriteOrderedBegin(f, x), second(f.WriteOrderedEnd())) })
	},
	"WriteAt": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.WriteAt(f, 0, x)) })
	},
	"IwriteAt": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IwriteAt(f, 0, x)) })
	},
	"WriteAtAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.WriteAtAll(f, 0, x)) })
	},
	"IwriteAtAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IwriteAtAll(f, 0, x)) })
	},
	"Write": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.Write(f, x)) })
	},
	"Iwrite": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.Iwrite(f, x)) })
	},
	"WriteAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.WriteAll(f, x)) })
	},
	"IwriteAll": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IwriteAll(f, x)) })
	},
	"WriteShared": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.WriteShared(f, x)) })
	},
	"IwriteShared": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return waited(mpi.IwriteShared(f, x)) })
	},
	"WriteOrdered": func(c *mpi.Comm, w *mpi.Window, x []listNode) error {
		return withFile(c, func(f *mpi.File) error { return second(mpi.WriteOrdered(f, x)) })
	},
}

var one, zero = []int{1}, []int{0}

// withNeighbors is the error of call on a communicator whose only process has itself as neighbours.
func withNeighbors(c *mpi.Comm, call func(c *mpi.Comm) error) error {
	ring, err := c.CartCreate([]int{1}, []bool{true}, false)
	if err != nil {
		return err
	}
	return errors.Join(call(ring), ring.Free())
}

// withFile is the error of call on a file. The end of a split access reports what is wrong with its
// arguments, as all members learn it.
func withFile(c *mpi.Comm, call func(f *mpi.File) error) error {
	dir, err := os.MkdirTemp("", "halo-plain-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := mpi.OpenFile(c, filepath.Join(dir, "file"), mpi.ModeCreate|mpi.ModeReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(call(f), f.Close())
}

// probed is the error of receive for a message, which is received properly afterwards.
func probed(c *mpi.Comm, receive func(m *mpi.Message) error) error {
	q := mpi.Isend(c, one, 0, 0)
	m, _, err := c.Mprobe(0, 0)
	refused := receive(&m)
	if _, more := mpi.Mrecv(&m, []int{0}); err != nil || more != nil {
		return errors.Join(err, more)
	}
	if _, err := q.Wait(); err != nil {
		return err
	}
	return refused
}

// TRM-11: each function that moves elements refuses elements that are not plain data.
func TestTRM11_AllCallsRefuseWhatIsNoPlainData(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		w, err := c.WinCreateDynamic(nil)
		ok(t, err)
		ok(t, w.LockAll(0))
		for _, name := range slices.Sorted(maps.Keys(plainOnly)) {
			if err := plainOnly[name](c, w, make([]listNode, 1)); !errors.Is(err, mpi.ErrType) {
				t.Errorf("%s: %v, want ErrType", name, err)
			}
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}
