package mpi_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// gapped is a predefined type with gaps: which bytes of an element are data, and the operations that are
// defined on it.
type gapped struct {
	reducibleType
	data []bool
	ops  []mpi.Op
}

// gappedTypes are the predefined types, and pairs without a name, of which bytes of an element are no data:
// those between and behind the parts of pairs, and the last six of the x87's format.
func gappedTypes() (list []gapped) {
	all := reducible()
	for _, value := range []string{"MPI_INT8_T", "MPI_UINT8_T", "MPI_INT16_T", "MPI_UINT16_T", "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT64_T", "MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE"} {
		for _, index := range []string{"MPI_INT32_T", "MPI_INT64_T"} {
			d := must(mpi.TypeValueIndex(must(mpi.Predefined(value)), must(mpi.Predefined(index))))
			all = append(all, reducibleType{d, must(types.ValueIndex(types.Named(value), types.Named(index)))})
		}
	}
	for _, x := range all {
		_, extent := x.engine.Extent()
		g := gapped{x, make([]bool, extent), nil}
		part := func(at int64, e *dtype.Elem) {
			n := e.Size
			if e.Format == dtype.Extended {
				n = 10
			}
			for i := range n {
				g.data[at+i] = true
			}
		}
		switch value, index, pair := x.engine.Pair(); {
		case pair:
			part(0, value.Elem())
			part((value.Size()+index.Size()-1)/index.Size()*index.Size(), index.Elem())
		case x.engine.Elem() == nil || x.engine.Elem().Format != dtype.Extended:
			continue
		default:
			part(0, x.engine.Elem())
			if extent == 32 { // complex
				part(16, x.engine.Elem())
			}
		}
		if !slices.Contains(g.data, false) {
			continue
		}
		for o, operation := range operations() {
			if o > 0 && op.Op(o) != op.NoOp && op.CheckAccumulate(op.Op(o), op.For(x.engine)) == nil {
				g.ops = append(g.ops, operation)
			}
		}
		list = append(list, g)
	}
	return list
}

// fill returns n elements with small numbers, and a pattern in the gaps.
func (g *gapped) fill(n, seed int, pattern byte) []byte {
	size := len(g.data)
	b := bytes.Repeat([]byte{pattern}, n*size)
	for i := range n {
		e := b[i*size:]
		if value, index, pair := g.engine.Pair(); pair {
			v := number(value.Elem(), 1+(seed*7+i*3)%5)
			if value.Elem().Format == dtype.Extended {
				v = v[:10]
			}
			copy(e, v)
			copy(e[(value.Size()+index.Size()-1)/index.Size()*index.Size():], number(index.Elem(), seed))
			continue
		}
		one := &dtype.Elem{Kind: dtype.Floating, Format: dtype.Extended, Size: 16}
		for at := 0; at < size; at += 16 {
			copy(e[at:at+10], number(one, 1+(seed*7+i*3)%5))
		}
	}
	return b
}

// same compares the data of elements with those of want, and what lies in gaps with the pattern.
func (g *gapped) same(t testing.TB, name string, got, want []byte, pattern byte) {
	t.Helper()
	for i, v := range got {
		switch data := g.data[i%len(g.data)]; {
		case data && v != want[i]:
			t.Errorf("%s of %v: byte %d of element %d is %#x, want %#x", name, g.Datatype, i%len(g.data), i/len(g.data), v, want[i])
			return
		case !data && v != pattern:
			t.Errorf("%s of %v: byte %d of element %d, which is no data, was %#x and is %#x", name, g.Datatype, i%len(g.data), i/len(g.data), pattern, v)
			return
		}
	}
}

// reduced is the result of a reduction of n elements of ranks 0 to upto-1.
func (g *gapped) reduced(t testing.TB, n, upto int, o mpi.Op) []byte {
	all := g.fill(n, upto-1, 0)
	for r := upto - 2; r >= 0; r-- {
		ok(t, o.ReduceLocal(mpi.BufOf(g.fill(n, r, 0), n, g.Datatype), mpi.BufOf(all, n, g.Datatype)))
	}
	return all
}

// gapFabrics are those of all tests, and two with several hosts.
func gapFabrics() []string {
	return append(mpitest.Fabrics(), testrun.Fabrics("shm@001", "inproc@011")...)
}

// BRD-03: reductions, blocking, started and persistent, of few and of many elements, in place and not,
// give the result, and what the program has put into gaps of the elements stays there.
func TestBRD03_ReductionsLeaveGaps(t *testing.T) {
	list := gappedTypes()
	if len(list) < 20 {
		t.Errorf("%d types have gaps", len(list))
	}
	for _, fabric := range gapFabrics() {
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 3, func(t testing.TB, c *mpi.Comm) {
				for _, g := range list {
					for _, o := range g.ops {
						if o == mpi.Replace {
							continue
						}
						counts := []int{2}
						if o == mpi.Minloc || o == mpi.Sum {
							counts = []int{2, 900}
						}
						for _, n := range counts {
							g.reductions(t, c, o, n)
						}
					}
				}
			})
		})
	}
}

func (g *gapped) reductions(t testing.TB, c *mpi.Comm, o mpi.Op, n int) {
	const mine, result = 0x5a, 0xc3
	me, ranks, size := c.Rank(), c.Size(), len(g.data)
	all := g.reduced(t, n*ranks, ranks, o)
	counts := slices.Repeat([]int{n}, ranks)
	forms := []string{"", "I", "Init"}
	for _, k := range []struct {
		name        string
		sends       int
		has         bool
		want        []byte
		inPlace     bool
		start, init func(send, recv mpi.Buffer) mpi.Request
		do          func(send, recv mpi.Buffer) error
	}{
		{"Reduce", n, me == 1, all, me == 1,
			func(s, r mpi.Buffer) mpi.Request { return c.Ireduce(s, r, o, 1) }, func(s, r mpi.Buffer) mpi.Request { return c.ReduceInit(s, r, o, 1) },
			func(s, r mpi.Buffer) error { return c.Reduce(s, r, o, 1) }},
		{"Allreduce", n, true, all, true,
			func(s, r mpi.Buffer) mpi.Request { return c.Iallreduce(s, r, o) }, func(s, r mpi.Buffer) mpi.Request { return c.AllreduceInit(s, r, o) },
			func(s, r mpi.Buffer) error { return c.Allreduce(s, r, o) }},
		{"Scan", n, true, g.reduced(t, n, me+1, o), true,
			func(s, r mpi.Buffer) mpi.Request { return c.Iscan(s, r, o) }, func(s, r mpi.Buffer) mpi.Request { return c.ScanInit(s, r, o) },
			func(s, r mpi.Buffer) error { return c.Scan(s, r, o) }},
		{"Exscan", n, me > 0, g.reduced(t, n, max(me, 1), o), me > 0,
			func(s, r mpi.Buffer) mpi.Request { return c.Iexscan(s, r, o) }, func(s, r mpi.Buffer) mpi.Request { return c.ExscanInit(s, r, o) },
			func(s, r mpi.Buffer) error { return c.Exscan(s, r, o) }},
		{"ReduceScatterBlock", n * ranks, true, all[me*n*size:], false,
			func(s, r mpi.Buffer) mpi.Request { return c.IreduceScatterBlock(s, r, o) }, func(s, r mpi.Buffer) mpi.Request { return c.ReduceScatterBlockInit(s, r, o) },
			func(s, r mpi.Buffer) error { return c.ReduceScatterBlock(s, r, o) }},
		{"ReduceScatter", n * ranks, true, all[me*n*size:], false,
			func(s, r mpi.Buffer) mpi.Request { return c.IreduceScatter(s, r, counts, o) }, func(s, r mpi.Buffer) mpi.Request { return c.ReduceScatterInit(s, r, counts, o) },
			func(s, r mpi.Buffer) error { return c.ReduceScatter(s, r, counts, o) }},
	} {
		for _, form := range forms {
			for _, inPlace := range []bool{false, true} {
				if inPlace && !k.inPlace && k.name != "Reduce" && k.name != "Exscan" {
					continue
				}
				name := fmt.Sprintf("%s%s of %d by %v, in place %v", k.name, form, n, o, inPlace)
				send := g.fill(k.sends, me, mine)
				recv, pattern := g.fill(n, 2, result), byte(result)
				if inPlace && k.inPlace {
					recv, pattern = send, mine
				}
				before := bytes.Clone(recv)
				s, r := mpi.BufOf(send, k.sends, g.Datatype), mpi.BufOf(recv, n, g.Datatype)
				var err error
				switch form {
				case "":
					err = k.do(s, r)
				case "I":
					err = waited(k.start(s, r))
				default:
					q := k.init(s, r)
					ok(t, q.Start())
					_, err = q.Wait()
					ok(t, q.Free())
				}
				ok(t, err)
				want := before
				if k.has {
					want = k.want
				}
				g.same(t, name, recv[:n*size], want, pattern)
				if !inPlace {
					g.same(t, name+", operands", send, g.fill(k.sends, me, 0), mine)
				}
			}
		}
	}
}

// BRD-03: ReduceLocal of all types and operations.
func TestBRD03_ReduceLocalLeavesGaps(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, c *mpi.Comm) {
		for _, g := range gappedTypes() {
			for _, o := range g.ops {
				if o == mpi.Replace {
					continue
				}
				in, inout := g.fill(5, 0, 0x11), g.fill(5, 1, 0x22)
				ok(t, o.ReduceLocal(mpi.BufOf(in, 5, g.Datatype), mpi.BufOf(inout, 5, g.Datatype)))
				g.same(t, fmt.Sprintf("%v", o), inout, g.reduced(t, 5, 2, o), 0x22)
			}
		}
	})
}

// BRD-03: accumulates of one element and several, in arrays and vectors, aligned for the processor's
// operations or not, leave what is in the gaps of the window and of the result.
func TestBRD03_AccumulatesLeaveGaps(t *testing.T) {
	list := gappedTypes()
	const n = 7
	for _, fabric := range gapFabrics() {
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 3, func(t testing.TB, c *mpi.Comm) {
				w, err := c.WinAllocate(4096, 1)
				ok(t, err)
				u, target := w.Untyped(), (c.Rank()+1)%c.Size()
				local := u.Local()
				for _, g := range list {
					size := len(g.data)
					vector := committed(mpi.TypeVector(n, 1, 2, g.Datatype))
					for _, o := range slices.Concat(g.ops, []mpi.Op{mpi.NoOp}) {
						for _, at := range []int{0, 64, 4} {
							for _, v := range []struct {
								name  string
								count int // elements at both sides
								step  int
								do    func(mine, old []byte) error
								old   bool
							}{
								{"Accumulate", n, 1, func(mine, old []byte) error {
									return u.Accumulate(mpi.BufOf(mine, n, g.Datatype), target, int64(at), n, g.Datatype, o)
								}, false},
								{"Accumulate of one", 1, 1, func(mine, old []byte) error {
									return u.Accumulate(mpi.BufOf(mine, 1, g.Datatype), target, int64(at), 1, g.Datatype, o)
								}, false},
								{"GetAccumulate", n, 1, func(mine, old []byte) error {
									return u.GetAccumulate(mpi.BufOf(mine, n, g.Datatype), mpi.BufOf(old, n, g.Datatype), target, int64(at), n, g.Datatype, o)
								}, true},
								{"GetAccumulate of one", 1, 1, func(mine, old []byte) error {
									return u.GetAccumulate(mpi.BufOf(mine, 1, g.Datatype), mpi.BufOf(old, 1, g.Datatype), target, int64(at), 1, g.Datatype, o)
								}, true},
								{"RgetAccumulate of vectors", n, 2, func(mine, old []byte) error {
									return waited(u.RgetAccumulate(mpi.BufOf(mine, 1, vector), mpi.BufOf(old, 1, vector), target, int64(at), 1, vector, o))
								}, true},
								{"FetchAndOp", 1, 1, func(mine, old []byte) error {
									return u.FetchAndOp(mpi.BufOf(mine, 1, g.Datatype), mpi.BufOf(old, 1, g.Datatype), target, int64(at), o)
								}, true},
							} {
								if o == mpi.NoOp && !v.old {
									continue
								}
								name := fmt.Sprintf("%s at %d by %v", v.name, at, o)
								all := (v.count-1)*v.step + 1
								copy(local[at:], g.fill(all, 0, 0xaa))
								mine, old := g.fill(all, 1, 0x33), g.fill(all, 4, 0x77)
								ok(t, c.Barrier())
								ok(t, w.Lock(mpi.LockShared, target, 0))
								ok(t, v.do(mine, old))
								ok(t, w.Unlock(target))
								ok(t, c.Barrier())
								is, was := g.fill(all, 0, 0), g.fill(all, 4, 0)
								for e := 0; e < all; e += v.step {
									part, with := is[e*size:][:size], bytes.Clone(mine[e*size:][:size])
									copy(was[e*size:][:size], part)
									switch o {
									case mpi.NoOp:
									case mpi.Replace:
										copy(part, with)
									default: // the operand at the target is the left one
										ok(t, o.ReduceLocal(mpi.BufOf(bytes.Clone(part), 1, g.Datatype), mpi.BufOf(with, 1, g.Datatype)))
										copy(part, with)
									}
								}
								g.same(t, name, local[at:][:all*size], is, 0xaa)
								if v.old {
									g.same(t, name+", result", old, was, 0x77)
								}
								ok(t, c.Barrier())
							}
						}
					}
				}
				ok(t, w.Free())
			})
		})
	}
}

// BRD-03: messages, collectives that move data, put and get leave the gaps of pairs.
func TestBRD03_TransfersLeaveGaps(t *testing.T) {
	list := gappedTypes()
	for _, fabric := range gapFabrics() {
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 3, func(t testing.TB, c *mpi.Comm) {
				me, ranks := c.Rank(), c.Size()
				next, previous := (me+1)%ranks, (me+ranks-1)%ranks
				for _, g := range list {
					if _, _, pair := g.engine.Pair(); !pair {
						continue // a long double has all its bytes in the type map
					}
					if value, _, _ := g.engine.Pair(); value.Elem().Format == dtype.Extended {
						continue // nor are these six bytes a gap between members
					}
					for _, n := range []int{1, 5, 9000} {
						size := len(g.data)
						w, err := c.WinAllocate(int64(n*size), 1)
						ok(t, err)
						local := w.Untyped().Local()
						send := g.fill(n, me, 0x5a)
						buf := func(b []byte) mpi.Buffer { return mpi.BufOf(b, len(b)/size, g.Datatype) }
						arrives := func(name string, from int, count int, do func(into []byte) error) {
							t.Helper()
							into := bytes.Repeat([]byte{0xc3}, count*size)
							ok(t, do(into))
							want := bytes.Repeat([]byte{0xc3}, count*size)
							for r := range count / n {
								copy(want[r*n*size:], g.fill(n, (from+r)%ranks, 0x00))
							}
							g.same(t, fmt.Sprintf("%s of %d", name, n), into, want, 0xc3)
						}
						arrives("Sendrecv", previous, n, func(into []byte) error {
							return second(c.Sendrecv(buf(send), next, 1, buf(into), previous, 1))
						})
						arrives("Bcast", 1, n, func(into []byte) error {
							if me == 1 {
								copy(into, g.fill(n, 1, 0xc3))
							}
							return c.Bcast(buf(into), 1)
						})
						arrives("Allgather", 0, n*ranks, func(into []byte) error { return c.Allgather(buf(send), buf(into)) })
						arrives("Iallgather", 0, n*ranks, func(into []byte) error { return waited(c.Iallgather(buf(send), buf(into))) })
						u := w.Untyped()
						copy(local, bytes.Repeat([]byte{0xc3}, n*size))
						ok(t, w.Fence(0))
						ok(t, u.Put(buf(send), next, 0, n, g.Datatype))
						ok(t, w.Fence(0))
						g.same(t, "Put", local, g.fill(n, previous, 0), 0xc3)
						ok(t, w.Fence(0))
						arrives("Get", me, n, func(into []byte) error {
							if err := u.Get(buf(into), next, 0, n, g.Datatype); err != nil {
								return err
							}
							return w.Fence(0)
						})
						ok(t, w.Free())
					}
				}
			})
		})
	}
}
