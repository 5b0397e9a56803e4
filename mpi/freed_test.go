package mpi_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// inUse is what a pending operation uses of the objects of the program.
type inUse struct {
	c          *mpi.Comm
	d          mpi.Datatype // two int64 with one between them
	op         mpi.Op       // a sum that asks its datatype
	send, recv []int64      // usedElements elements of d for each member
}

const usedElements = 40

func (u *inUse) out(n int) mpi.Buffer { return mpi.BufOf(u.send, n, u.d) }
func (u *inUse) in(n int) mpi.Buffer  { return mpi.BufOf(u.recv, n, u.d) }
func (u *inUse) next() int            { return (u.c.Rank() + 1) % u.c.Size() }
func (u *inUse) previous() int        { return (u.c.Rank() + u.c.Size() - 1) % u.c.Size() }

// pendings are operations that can be pending while objects are freed, and the element at index i of
// what a member with the rank me of n receives, where member r sends 1000*r + i.
var pendings = []struct {
	name  string
	start func(u *inUse) []mpi.Request
	want  func(me, n, i int) int64
}{
	{"Ireduce", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Ireduce(u.out(usedElements), u.in(usedElements), u.op, 0)}
	}, usedSumAt(func(me int) bool { return me == 0 })},
	{"ReduceInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.ReduceInit(u.out(usedElements), u.in(usedElements), u.op, 0)}
	}, usedSumAt(func(me int) bool { return me == 0 })},
	{"Iallreduce", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Iallreduce(u.out(usedElements), u.in(usedElements), u.op)}
	}, usedSumAt(nil)},
	{"AllreduceInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.AllreduceInit(u.out(usedElements), u.in(usedElements), u.op)}
	}, usedSumAt(nil)},
	{"Iscan", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Iscan(u.out(usedElements), u.in(usedElements), u.op)}
	}, func(me, n, i int) int64 { return usedSum(me+1, i) }},
	{"ScanInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.ScanInit(u.out(usedElements), u.in(usedElements), u.op)}
	}, func(me, n, i int) int64 { return usedSum(me+1, i) }},
	{"Iexscan", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Iexscan(u.out(usedElements), u.in(usedElements), u.op)}
	}, usedExscan},
	{"ExscanInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.ExscanInit(u.out(usedElements), u.in(usedElements), u.op)}
	}, usedExscan},
	{"IreduceScatterBlock", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.IreduceScatterBlock(u.out(u.c.Size()), u.in(1), u.op)}
	}, usedScattered},
	{"ReduceScatterBlockInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.ReduceScatterBlockInit(u.out(u.c.Size()), u.in(1), u.op)}
	}, usedScattered},
	{"IreduceScatter", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.IreduceScatter(u.out(u.c.Size()), u.in(1), usedOnes(u.c.Size()), u.op)}
	}, usedScattered},
	{"ReduceScatterInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.ReduceScatterInit(u.out(u.c.Size()), u.in(1), usedOnes(u.c.Size()), u.op)}
	}, usedScattered},
	{"Irecv", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Irecv(u.in(usedElements), u.previous(), 3), u.c.Isend(u.out(usedElements), u.next(), 3)}
	}, usedFromPrevious},
	{"Issend", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Irecv(u.in(usedElements), u.previous(), 3), u.c.Issend(u.out(usedElements), u.next(), 3)}
	}, usedFromPrevious},
	{"RecvInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.RecvInit(u.in(usedElements), u.previous(), 3), u.c.SendInit(u.out(usedElements), u.next(), 3)}
	}, usedFromPrevious},
	{"SsendInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.RecvInit(u.in(usedElements), u.previous(), 3), u.c.SsendInit(u.out(usedElements), u.next(), 3)}
	}, usedFromPrevious},
	{"PrecvInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.PrecvInit(u.in(usedElements), 4, u.previous(), 3), u.c.PsendInit(u.out(usedElements), 4, u.next(), 3)}
	}, usedFromPrevious},
	{"Ibcast", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Ibcast(u.out(usedElements), 1)}
	}, func(me, n, i int) int64 { return 1000 + int64(i) }},
	{"BcastInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.BcastInit(u.out(usedElements), 1)}
	}, func(me, n, i int) int64 { return 1000 + int64(i) }},
	{"Iallgather", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Iallgather(u.out(1), u.in(u.c.Size()))}
	}, usedGathered},
	{"AllgatherInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.AllgatherInit(u.out(1), u.in(u.c.Size()))}
	}, usedGathered},
	{"Ialltoall", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.Ialltoall(u.out(u.c.Size()), u.in(u.c.Size()))}
	}, usedExchanged},
	{"AlltoallInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.AlltoallInit(u.out(u.c.Size()), u.in(u.c.Size()))}
	}, usedExchanged},
	{"IneighborAllgather", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.IneighborAllgather(u.out(1), u.in(2))}
	}, usedNeighbors},
	{"NeighborAllgatherInit", func(u *inUse) []mpi.Request {
		return []mpi.Request{u.c.NeighborAllgatherInit(u.out(1), u.in(2))}
	}, usedNeighbors},
}

func usedOnes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// usedSum is the sum of element i of the first n members.
func usedSum(n, i int) int64 { return int64(n*(n-1)/2*1000 + n*i) }

func usedSumAt(at func(me int) bool) func(me, n, i int) int64 {
	return func(me, n, i int) int64 {
		if at != nil && !at(me) {
			return -1
		}
		return usedSum(n, i)
	}
}

func usedExscan(me, n, i int) int64 {
	if me == 0 {
		return -1
	}
	return usedSum(me, i)
}

func usedScattered(me, n, i int) int64 {
	if i >= 3 {
		return -1
	}
	return usedSum(n, 3*me+i)
}

func usedFromPrevious(me, n, i int) int64 { return int64((me+n-1)%n*1000 + i) }

func usedGathered(me, n, i int) int64 {
	if i >= 3*n {
		return -1
	}
	return int64(i/3*1000 + i%3)
}

func usedExchanged(me, n, i int) int64 {
	if i >= 3*n {
		return -1
	}
	return int64(i/3*1000 + 3*me + i%3)
}

// usedNeighbors is for a periodic grid of one dimension.
func usedNeighbors(me, n, i int) int64 {
	switch i / 3 {
	case 0:
		return int64((me+n-1)%n*1000 + i%3)
	case 1:
		return int64((me+1)%n*1000 + i%3)
	}
	return -1
}

// askingSum is a sum of elements of two int64 with one between them, which asks the datatype of its
// operands everything that can be asked. It counts what is refused.
func askingSum(refused *atomic.Int64) mpi.Op {
	return mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		d := inout.Datatype()
		size, err := d.Size()
		_, extent, err2 := d.Extent()
		_, reach, err3 := d.TrueExtent()
		e, err4 := d.Envelope()
		_, err5 := d.Contents()
		again, err6 := d.Dup()
		if err != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil || err6 != nil || size != 16 || extent != 24 || reach != 24 ||
			!d.Committed() || fmt.Sprint(e.Combiner) == "" || again.Free() != nil {
			refused.Add(1)
			return
		}
		a, _ := mpi.MemoryOf[int64](in)
		b, _ := mpi.MemoryOf[int64](inout)
		for i := range inout.Len() {
			b[3*i] += a[3*i]
			b[3*i+2] += a[3*i+2]
		}
	}, true)
}

// check compares what the member has received, and prepares for the next start.
func (u *inUse) check(t testing.TB, name string, round int, want func(me, n, i int) int64) {
	t.Helper()
	got := u.recv
	if strings.Contains(name, "cast") {
		got = u.send
	}
	for i, v := range got {
		before := int64(-1)
		if &got[0] == &u.send[0] {
			before = int64(1000*u.c.Rank() + i)
		}
		w := before
		if i%3 != 1 {
			w = want(u.c.Rank(), u.c.Size(), i)
		}
		if v != w {
			t.Errorf("%s: rank %d, start %d: number %d is %d, want %d", name, u.c.Rank(), round, i, v, w)
			return
		}
		got[i] = before
	}
}

// BRD-02: whatever of its objects the program frees while an operation is pending, and between the
// starts of a persistent one, the operation has its result, and its functions can ask the objects
// that they are given.
func TestBRD02_FreedObjectsServePendingOperations(t *testing.T) {
	int64s := must(mpi.TypeOf[int64]())
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, p := range pendings {
			for _, free := range []bool{false, true} {
				grid := must(world.CartCreate([]int{world.Size()}, []bool{true}, false))
				var refused atomic.Int64
				u := &inUse{c: grid, op: askingSum(&refused), send: make([]int64, 3*usedElements), recv: make([]int64, 3*usedElements)}
				u.d = must(mpi.TypeResized(must(mpi.TypeVector(2, 1, 2, int64s)), 0, 24))
				ok(t, u.d.Commit())
				for i := range u.send {
					u.send[i], u.recv[i] = int64(1000*world.Rank()+i), -1
				}
				own := mpi.CreateCommErrhandler(func(_ *mpi.Comm, err *mpi.Error) { t.Errorf("%s: %v", p.name, err) })
				ok(t, u.c.SetErrhandler(own))
				ok(t, own.Free())
				list := p.start(u)
				name := fmt.Sprintf("%s, freed %v", p.name, free)
				for round := range 3 {
					persistent := p.name[0] != 'I'
					if !persistent && round > 0 {
						break
					}
					begin := func() {
						if persistent {
							ok(t, mpi.Startall(list))
						}
						if p.name == "PrecvInit" {
							for i := range 4 {
								ok(t, list[1].Pready(i))
							}
						}
					}
					if round < 2 {
						begin()
					}
					if free && round == 0 {
						ok(t, u.d.Free())
						ok(t, u.op.Free())
						ok(t, u.c.Free())
					}
					if round == 2 {
						begin()
					}
					if err := mpi.Waitall(list, nil); err != nil {
						t.Errorf("%s: rank %d, round %d: %v", name, world.Rank(), round, err)
					}
					u.check(t, name, round, p.want)
				}
				if n := refused.Load(); n > 0 {
					t.Errorf("%s: the operation could not ask its type %d times", name, n)
				}
				for i := range list {
					if !list[i].IsNull() {
						ok(t, list[i].Free())
					}
				}
				if !free {
					ok(t, u.c.Free())
				}
			}
		}
	})
}
