package coll_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// 8.6: members that are no neighbours may have blocks of other lengths: of a few bytes, of several
// steps through the stages, so long that they are read directly where that is possible, or that all
// members use messages elsewhere. A member may have no neighbours.
func TestXNBC01_NeighborsOfOtherLengths(t *testing.T) {
	lengths := []int{8, 300 << 10, 5 << 20}
	if testrun.Race {
		lengths = lengths[:2]
	}
	for i, f := range append(forms()[:4:4], forms()[:4]...) {
		t.Run(both[i/4]+" "+f.name, func(t *testing.T) {
			run(t, both[i/4], 5, f.c, func(w *world.World) error {
				// Two pairs of neighbours, and one member without.
				me := w.Comm.Rank
				w.Comm.Neighbors = &comm.Neighbors{}
				if me < 4 {
					w.Comm.Neighbors = &comm.Neighbors{Sources: []int{me ^ 1}, Dests: []int{me ^ 1}}
				}
				for _, long := range lengths {
					n := long
					if me < 2 {
						n = 24
					}
					send, recv := bytes.Repeat([]byte{byte(me)}, n), make([]byte, n)
					a := coll.Args{Send: coll.Bytes(send), Recv: coll.Bytes(recv), Width: 1}
					if err := w.Coll.Do(w.Comm, coll.NeighborAllgather, &a); err != nil {
						return err
					}
					if me < 4 && !bytes.Equal(recv, bytes.Repeat([]byte{byte(me ^ 1)}, n)) {
						return fmt.Errorf("rank %d: what it receives of %d bytes is wrong", me, n)
					}
				}
				return nil
			})
		})
	}
}

// 8.6: members wait for their neighbours only: two of them go through collectives of any length while those of
// which they are no neighbours are outside.
func TestXNBC01_OthersMayBeOutside(t *testing.T) {
	lengths := []int{8, 300 << 10, 1 << 20}
	for i, f := range append(forms()[:2:2], forms()[:2]...) {
		ended := make(chan bool)
		run(t, both[i/2], 4, f.c, func(w *world.World) error {
			me := w.Comm.Rank
			w.Comm.Neighbors = &comm.Neighbors{Sources: []int{me ^ 1}, Dests: []int{me ^ 1}}
			exchange := func(n int) error {
				send, recv := bytes.Repeat([]byte{byte(me)}, n), make([]byte, n)
				a := coll.Args{Send: coll.Bytes(send), Recv: coll.Bytes(recv), Width: 1}
				if err := w.Coll.Do(w.Comm, coll.NeighborAllgather, &a); err != nil {
					return err
				}
				if !bytes.Equal(recv, bytes.Repeat([]byte{byte(me ^ 1)}, n)) {
					return fmt.Errorf("rank %d: what it receives of %d bytes is wrong", me, n)
				}
				return nil
			}
			err := exchange(8) // here all members learn how edges pair
			if me >= 2 {
				for range 2 {
					<-ended
				}
			}
			for range 3 {
				for _, n := range lengths {
					err = errors.Join(err, exchange(n))
				}
			}
			if me < 2 {
				for range 2 {
					ended <- true
				}
			}
			return errors.Join(err, w.Coll.Barrier(w.Comm))
		})
	}
}

// 8.6: a member that only sends is at most two collectives ahead of one that receives, whose blocks it would
// overwrite.
func TestXNBC01_SendersAheadOfReceivers(t *testing.T) {
	const calls = 8
	for _, n := range []int{8, 100, 100 << 10} {
		for i, f := range append(forms()[:2:2], forms()[:2]...) {
			var begun atomic.Int32
			run(t, both[i/2], 2, f.c, func(w *world.World) error {
				w.Comm.Neighbors = []*comm.Neighbors{{Dests: []int{1}}, {Sources: []int{0}}}[w.Comm.Rank]
				exchange := func(value byte) ([]byte, error) {
					a := coll.Args{Width: 1}
					b := bytes.Repeat([]byte{value}, n)
					if w.Comm.Rank == 0 {
						a.Send = coll.Bytes(b)
					} else {
						a.Recv = coll.Bytes(b)
					}
					err := w.Coll.Do(w.Comm, coll.NeighborAlltoall, &a)
					return b, err
				}
				if _, err := exchange(0); err != nil { // here all members learn how edges pair
					return err
				}
				for call := byte(1); call <= calls; call++ {
					switch {
					case w.Comm.Rank == 0:
						begun.Store(int32(call))
					case call == 1:
						for k := 0; begun.Load() < 2 || k < 1000 && begun.Load() < calls; k++ {
							runtime.Gosched()
						}
					}
					if b, err := exchange(call); err != nil || !bytes.Equal(b, bytes.Repeat([]byte{call}, n)) {
						return fmt.Errorf("rank %d has %d instead of %d in %d bytes: %v", w.Comm.Rank, b[0], call, n, err)
					}
				}
				return nil
			})
		}
	}
}

// Edges of a graph that do not pair are an error at all members that share memory, and again in the next
// collective; one of them names both ranks and the counts. Nobody waits, and the slot remains usable.
func TestXNBC01_EdgesThatDoNotPair(t *testing.T) {
	for _, f := range []form{{"cells", slots(slot.Cells), nil}, {"counter", slots(slot.Counter), nil}} {
		run(t, "inproc", 3, f.c, func(w *world.World) error {
			me := w.Comm.Rank
			w.Comm.Neighbors = []*comm.Neighbors{
				{Sources: []int{1}, Dests: []int{1, 1}},
				{Sources: []int{0}, Dests: []int{0}},
				{},
			}[me]
			for range 2 {
				a := coll.Args{Send: coll.Bytes([]byte{1}), Recv: coll.Bytes(make([]byte, 1)), Width: 1}
				err := w.Coll.Do(w.Comm, coll.NeighborAllgather, &a)
				var e *class.Error
				want := "edges do not pair, as rank 1 has found"
				if me == 1 {
					want = "rank 0 has 2 edges to rank 1, which has 1 from it"
				}
				if !errors.As(err, &e) || e.Class != class.Topology || !strings.Contains(e.Text, want) {
					return fmt.Errorf("%s: rank %d: %v, want %q", f.name, me, err, want)
				}
			}
			return everything(w, w.Comm, 5, 5)
		})
	}
}

// 5.1, 8.6: a long block that is read directly from contiguous memory is received into any layout, of
// long blocks, which the kernel stores where they belong, or of short ones. The sender may overwrite it
// as soon as the call returns.
func TestXNBC01_LongBlocksIntoLayouts(t *testing.T) {
	const size = 37 * 8192
	for _, fabric := range both {
		run(t, fabric, 3, auto(), func(w *world.World) error {
			one, me := predefined().Type(dtype.Byte), w.Comm.Rank
			w.Comm.Neighbors = &comm.Neighbors{Sources: []int{(me + 2) % 3, (me + 1) % 3}, Dests: []int{(me + 1) % 3, (me + 2) % 3}}
			from := func(r, i int) []byte {
				b := make([]byte, size)
				fill(b, rand.New(rand.NewPCG(uint64(r), uint64(i))))
				return b
			}
			var in []*laid
			for _, typ := range []*dtype.Type{must(dtype.Vector(37, 8192, 9000, one)), must(dtype.Vector(size/8, 8, 9, one))} {
				typ.Commit()
				_, reach := typ.TrueExtent()
				in = append(in, &laid{flat: make([]byte, size), typ: typ, count: 1, mem: make([]byte, reach)})
			}
			for range 5 {
				out := [2][]byte{from(me, 0), from(me, 1)}
				for _, l := range in {
					l.load(rand.New(rand.NewPCG(1, 2)))
				}
				err := w.Coll.DoPairs(w.Comm, coll.NeighborAlltoallw, coll.Pairs{Sends: 2, Receives: 2,
					At: func(i int) (send, recv coll.Side) { return coll.Bytes(out[i]), coll.Elements(in[i].all()) }})
				if err != nil {
					return err
				}
				clear(out[0])
				clear(out[1])
				for i, l := range in {
					copy(l.flat, from(w.Comm.Neighbors.Sources[i], i))
					if err := l.verify(); err != nil {
						return fmt.Errorf("from source %d over %s: %w", i, fabric, err)
					}
				}
			}
			return nil
		})
	}
}

// 8.6: blocks of a length of which time decides how they are copied arrive in whichever way they go, also
// beside edges that a member has to itself, and neighbours that do not exist. The sender may overwrite them
// as soon as the call returns.
func TestXNBC01_BlocksOfAMiddleLength(t *testing.T) {
	const n = coll.CopiesMin + 24
	for i, f := range append(forms()[:4:4], forms()[:4]...) {
		t.Run(both[i/4]+" "+f.name, func(t *testing.T) {
			run(t, both[i/4], 4, f.c, func(w *world.World) error {
				me := w.Comm.Rank
				list := []int{me ^ 1, me, -1, me ^ 2}
				w.Comm.Neighbors = &comm.Neighbors{Sources: list, Dests: list}
				send, recv := make([]byte, 4*n), make([]byte, 4*n)
				for call := range 3 * coll.Trials {
					for _, k := range []coll.Kind{coll.NeighborAlltoall, coll.NeighborAllgather, coll.NeighborAlltoallv} {
						a := coll.Args{Send: coll.Bytes(send), Recv: coll.Bytes(recv), Width: 1}
						switch k {
						case coll.NeighborAllgather:
							a.Send = coll.Bytes(send[:n])
						case coll.NeighborAlltoallv:
							a.SendCounts, a.RecvCounts = []int{n, n, n, n}, []int{n, n, n, n}
						}
						value := func(r, i int) byte {
							if k == coll.NeighborAllgather {
								i = 0
							}
							return byte(64*r + 16*i + call + int(k))
						}
						for i := range list {
							fillWith(send[i*n:(i+1)*n], value(me, i))
						}
						fillWith(recv, 0xaa)
						err := w.Coll.Do(w.Comm, k, &a)
						fillWith(send, 0x55)
						if err != nil {
							return err
						}
						for i, r := range list {
							want := byte(0xaa)
							if r >= 0 {
								want = value(r, i)
							}
							if !bytes.Equal(recv[i*n:(i+1)*n], bytes.Repeat([]byte{want}, n)) {
								return fmt.Errorf("rank %d: call %d of %v: what source %d sends is wrong", me, call, k, i)
							}
						}
					}
				}
				return nil
			})
		})
	}
}

func fillWith(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
