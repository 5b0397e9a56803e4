// Package plain calls functions of package mpi with elements of many types.
package plain

import (
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

type node struct {
	Value int
	Next  *node
}

type particle struct {
	At   [3]float64
	Spin int8
	_    [7]byte
}

type tagged struct {
	particle
	Tags [2]struct{ Name string }
}

type names []string

type pair[A, B any] struct {
	First  A
	Second B
}

func messages(c *mpi.Comm, nodes []node, particles []particle) error {
	mpi.Send(c, nodes, 1, 0) // want `mpi.Send: plain.node.Next is a ptr: memory of this process, which means nothing to another`
	mpi.Send(c, particles, 1, 0)
	mpi.Send(c, []string{"a"}, 1, 0)            // want `mpi.Send: string is a string: .*; send \[\]byte\(s\)`
	mpi.Recv[tagged](c, nil, 1, 0)              // want `mpi.Recv: plain.tagged.Tags\[i\].Name is a string`
	mpi.Recv(c, []names{}, 1, 0)                // want `mpi.Recv: plain.names is a slice: .*; flatten \[\]\[\]T`
	mpi.Recv(c, []uintptr{}, 1, 0)              // want `uintptr is a uintptr`
	mpi.Recv(c, []unsafe.Pointer{}, 1, 0)       // want `unsafe.Pointer is a unsafe.Pointer`
	mpi.Recv(c, []chan int{}, 1, 0)             // want `chan int is a chan`
	mpi.Recv(c, []any{1}, 1, 0)                 // want `any is a interface`
	mpi.Recv(c, []map[int]int{}, 1, 0)          // want `map\[int\]int is a map`
	mpi.Recv(c, []pair[int8, bool]{}, 1, 0)     // plain data of a generic type
	mpi.Recv(c, []pair[int8, []bool]{}, 1, 0)   // want `plain.pair\[int8, \[\]bool\].Second is a slice`
	mpi.Sendrecv(c, []int{}, 0, 0, nodes, 0, 0) // want `mpi.Sendrecv: plain.node.Next is a ptr`
	f := mpi.Bcast[func()]                      // want `mpi.Bcast: func\(\) is a func`
	_ = f
	_, err := mpi.AllgatherOne(c, &particles[0]) // want `mpi.AllgatherOne: \*plain.particle is a ptr`
	return err
}

func others(c *mpi.Comm, nodes []node) {
	c.Send(mpi.Buf(nodes), 1, 0)                  // want `mpi.Buf: plain.node.Next is a ptr`
	mpi.TypeOf[error]()                           // want `mpi.TypeOf: error is a interface`
	mpi.CreateOp(func(in, inout []node) {}, true) // want `mpi.CreateOp: plain.node.Next is a ptr`
	mpi.AllocMem[*int](c, 1, nil)                 // want `mpi.AllocMem: \*int is a ptr`
	mpi.Address(nodes)                            // takes any type
	key := mpi.CreateKeyval[*mpi.Comm, *node](nil, nil)
	mpi.SetAttr(c, key, &nodes[0]) // attributes stay in the process
}

type table struct {
	rows mpi.Win[particle]
	list mpi.Win[node] // want `mpi.Win: plain.node.Next is a ptr`
}

func windows(c *mpi.Comm, nodes []node) (t table, err error) {
	t.rows, err = mpi.WinAllocate[particle](c, 10, nil)
	if err != nil {
		return t, err
	}
	t.list, err = mpi.WinCreate(c, nodes, nil) // want `mpi.WinCreate: plain.node.Next is a ptr`
	return t, err
}

func syncs(c *mpi.Comm, s []mpi.Sync, v []mpi.ValueIndex[float64, int]) error {
	mpi.Send(c, v, 1, 0)
	return mpi.Send(c, s, 1, 0)
}
