package apply

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// together runs f as the given number of processes of the node at the same time, two goroutines
// each.
func together(processes int, r Region, f func(worker int, r *Region, g *rand.Rand)) {
	var all sync.WaitGroup
	for w := range 2 * processes {
		all.Go(func() {
			mine := r
			mine.Me = w % processes
			f(w, &mine, rand.New(rand.NewPCG(uint64(w), uint64(len(r.Mem)))))
		})
	}
	all.Wait()
}

// RC-03, RC-11, RC-14, RC-17: for each operation and type, concurrent updates of the same
// elements by several processes, of one element and of many, leave the result of some order. The
// operands are chosen so that all orders have the same result.
func TestRC11_AnyOrderOfEveryOperation(t *testing.T) {
	const count, rounds = 300, 12
	legal(func(o op.Op, typ op.Type) {
		if o == op.Replace || o == op.NoOp {
			return // TestRC16_NothingIsTorn
		}
		size := typ.Size()
		for _, at := range []int{0, 1} {
			r, _ := regionOf(t, count*size, at, op.BestKernel(), false)
			want := make([]byte, count*size)
			for i := 0; i < len(want); i += size {
				switch o {
				case op.Prod:
					copy(want[i:], one(typ))
				case op.Band, op.Land:
					for k := range size {
						want[i+k] = 0xff
					}
				}
			}
			copy(r.Mem, want)
			// The first element and the operands of each update of each worker.
			type update struct {
				from int
				data []byte
			}
			plans := make([][]update, 4)
			g := rand.New(rand.NewPCG(uint64(o), uint64(typ)))
			all := make([]byte, 0, 64*size)
			for range 64 {
				all = append(all, operand(g, o, typ)...)
			}
			for w := range plans {
				for range rounds {
					n := 1
					if g.IntN(2) == 0 {
						n = 2 + g.IntN(60)
					}
					from := g.IntN(8) // many updates of the same elements
					if g.IntN(2) == 0 {
						from = g.IntN(count - n)
					}
					u := update{from, all[g.IntN(64-n+1)*size:][:n*size]}
					plans[w] = append(plans[w], u)
					e := want[from*size:][:n*size]
					op.Apply(o, typ, e, e, u.data)
				}
			}
			together(2, r, func(w int, r *Region, _ *rand.Rand) {
				old := make([]byte, 64*size)
				for i, u := range plans[w] {
					var was []byte
					if i%3 == 0 {
						was = old[:len(u.data)]
					}
					if len(u.data) == size && i%2 == 0 {
						r.FetchOp(int64(u.from*size), o, typ, u.data, was)
					} else {
						r.Accumulate(int64(u.from*size), o, typ, u.data, was)
					}
				}
			})
			for i := 0; i < len(want); i += size {
				unsigned(typ, r.Mem[i:i+size])
				if !bytes.Equal(r.Mem[i:i+size], unsigned(typ, want[i:i+size])) {
					t.Fatalf("%v of %v, %d bytes off alignment, element %d: %x, want %x", o, typ, at, i/size, r.Mem[i:i+size], want[i:i+size])
				}
			}
			idle(t, r.Stripes)
		}
	})
}

// Types in which a number can be counted up.
var counters = []op.Type{op.Uint8, op.Uint16, op.Int32, op.Float32, op.Int64, op.Float64, op.Int128, op.Complex128, op.Float128, op.Complex256}

// RC-03, RC-04, RC-05, RC-06, RC-14, RC-17, X-RMA-16: sums of ones are exact, with any mix of
// fetch-and-op, compare-and-swap, get-accumulate and accumulate of one element and of many, in
// elements that the processor updates atomically and in others, in fine regions and others. The
// previous values of one element are all different: the updates have an order.
func TestRC17_SumsAreExact(t *testing.T) {
	for _, typ := range counters {
		for _, fine := range []bool{false, true} {
			for _, at := range []int{0, 1} {
				t.Run(fmt.Sprintf("%v/fine=%t/at=%d", typ, fine, at), func(t *testing.T) {
					sumsAreExact(t, typ, fine, at)
				})
			}
		}
	}
}

func sumsAreExact(t *testing.T, typ op.Type, fine bool, at int) {
	const count, rounds, hot = 1000, 150, 3
	size := typ.Size()
	base := 1<<shmfmt.StripeShift - count/2*size // a stripe ends in the middle
	r, _ := regionOf(t, base+count*size, at, op.BestKernel(), fine)
	ones := bytes.Repeat(one(typ), count)
	var mu sync.Mutex
	added := make([]int, count)
	seen := map[string]int{} // previous values of the hot element
	together(3, r, func(w int, r *Region, g *rand.Rand) {
		mine := make([]int, count)
		var before [][]byte
		old := make([]byte, count*size)
		for range rounds {
			from, n := hot, 1
			switch g.IntN(4) {
			case 0:
				from = g.IntN(count)
			case 1:
				from, n = g.IntN(hot+1), 4+g.IntN(60)
			case 2:
				n = 1 + g.IntN(count/2)
				from = g.IntN(count - n)
			}
			at := int64(base + from*size)
			var was []byte
			switch {
			case n == 1 && size <= 16 && g.IntN(2) == 0:
				was = old[:size]
				r.FetchOp(at, op.NoOp, typ, nil, was)
				for {
					expected := slices.Clone(was)
					next := slices.Clone(was)
					op.Apply(op.Sum, typ, next, next, ones[:size])
					r.CompareSwap(at, size, next, expected, was)
					if bytes.Equal(was, expected) {
						break
					}
				}
			case n == 1 && g.IntN(2) == 0:
				was = old[:size]
				r.FetchOp(at, op.Sum, typ, ones, was)
			case from <= hot && hot < from+n || g.IntN(3) == 0:
				was = old[:n*size]
				r.Accumulate(at, op.Sum, typ, ones[:n*size], was)
			default:
				r.Accumulate(at, op.Sum, typ, ones[:n*size], nil)
			}
			for e := from; e < from+n; e++ {
				mine[e]++
			}
			if from <= hot && hot < from+n {
				before = append(before, slices.Clone(was[(hot-from)*size:][:size]))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for e, n := range mine {
			added[e] += n
		}
		for _, b := range before {
			seen[string(b)]++
		}
	})
	for e, n := range added {
		if want := number(typ, n); !bytes.Equal(r.Mem[base+e*size:][:size], want) {
			t.Fatalf("element %d is %x, want %d: %x", e, r.Mem[base+e*size:][:size], n, want)
		}
	}
	for n := range added[hot] { // small types wrap around
		value := string(number(typ, n))
		seen[value]--
		if seen[value] == 0 {
			delete(seen, value)
		}
	}
	if len(seen) != 0 {
		t.Fatalf("the values before are no permutation of 0 to %d: %d are missing or twice", added[hot]-1, len(seen))
	}
	idle(t, r.Stripes)
}

// RC-05: no update is lost when updates follow each other as closely as possible. A process that
// is done goes on until all are, so that there always are concurrent updates, within limits that
// keep sums exact.
func TestRC05_HotElements(t *testing.T) {
	rounds := 40_000
	if sys.Race {
		rounds = 2000
	}
	for _, typ := range counters {
		r, _ := regionOf(t, 256, 0, op.BestKernel(), false)
		r.Stripes = shmfmt.HeapStripes(2)
		size := int64(typ.Size())
		add := one(typ)
		var done, total atomic.Int64
		together(2, r, func(w int, r *Region, _ *rand.Rand) {
			i := 0
			for ; i < 20*rounds && (i < rounds || done.Load() < 4); i++ {
				r.FetchOp(size, op.Sum, typ, add, nil)
				if i == rounds-1 {
					done.Add(1)
				}
			}
			total.Add(int64(i))
		})
		if got, want := r.Mem[size:2*size], number(typ, int(total.Load())); !bytes.Equal(got, want) {
			t.Errorf("%v: %x, want %d: %x", typ, got, total.Load(), want)
		}
		idle(t, r.Stripes)
	}
}

// RC-05, RC-16: elements are replaced and read as wholes, one and many, of any size and
// alignment.
func TestRC16_NothingIsTorn(t *testing.T) {
	const count = 40
	for _, typ := range []op.Type{op.Uint16, op.Float32, op.Pair(op.Float32, op.Int32), op.Int64, op.Complex128, op.Pair(op.Float64, op.Int32), op.Complex256} {
		for _, at := range []int{0, 1, 4} {
			size := typ.Size()
			r, _ := regionOf(t, count*size, at, op.BestKernel(), false)
			together(2, r, func(w int, r *Region, g *rand.Rand) {
				data, old := make([]byte, count*size), make([]byte, count*size)
				for i := range 500 {
					n := 1
					if g.IntN(2) == 0 {
						n = 2 + g.IntN(count-2)
					}
					from := g.IntN(count - n + 1)
					data, old := data[:n*size], old[:n*size]
					for k := range data {
						data[k] = byte(i<<2 | w)
					}
					switch off := int64(from * size); {
					case w%2 == 1:
						r.Accumulate(off, op.NoOp, typ, nil, old)
					case n == 1 && i%2 == 0:
						r.FetchOp(off, op.Replace, typ, data, old)
					default:
						r.Accumulate(off, op.Replace, typ, data, old)
					}
					for e := 0; e < len(old); e += size {
						was := slices.Repeat(old[e:e+1], size)
						for k := range was { // what is in gaps is never written, and stays 0
							if typ == op.Pair(op.Float64, op.Int32) && k >= 12 {
								was[k] = 0
							}
						}
						if !bytes.Equal(old[e:e+size], was) {
							t.Errorf("%v, %d bytes off alignment: %x", typ, at, old[e:e+size])
							return
						}
					}
				}
			})
			idle(t, r.Stripes)
		}
	}
}

// RC-05, RC-06, RC-11: a process that has been the only one in a stripe for a while updates
// single elements by plain stores. No update is lost when another process enters the stripe
// meanwhile, with one element or many.
func TestRC11_SomebodyComesInBetween(t *testing.T) {
	rounds, types := 100, []op.Type{op.Uint8, op.Uint16, op.Float32, op.Int64, op.Float64}
	if sys.Race {
		rounds, types = 30, types[2:] // the others are not direct
	}
	const most = 1_000_000 // sums up to this number are exact
	for _, typ := range types {
		r, _ := regionOf(t, 256, 0, op.BestKernel(), false)
		r.Stripes = shmfmt.HeapStripes(2)
		r.Me = 0
		size := typ.Size()
		ones := bytes.Repeat(one(typ), 8)
		var over atomic.Bool
		var total atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { // the process that the stripe is biased to
			n, was := int64(0), make([]byte, size)
			for ; !over.Load() && n < most; n++ {
				if n%2 == 0 {
					r.FetchOp(0, op.Sum, typ, ones, was)
					continue
				}
				r.FetchOp(0, op.NoOp, typ, nil, was)
				for {
					next, expected := slices.Clone(was), slices.Clone(was)
					op.Apply(op.Sum, typ, next, next, ones[:size])
					r.CompareSwap(0, size, next, expected, was)
					if bytes.Equal(was, expected) {
						break
					}
				}
			}
			total.Add(n)
		})
		other := r
		other.Me = 1
		met := 0
		for i := range rounds {
			for !r.Stripes.Biased(0, 0) && total.Load() < most {
				runtime.Gosched()
			}
			if r.Stripes.Biased(0, 0) {
				met++
			}
			if i%3 == 0 {
				other.Accumulate(0, op.Sum, typ, ones, nil)
			} else {
				other.FetchOp(0, op.Sum, typ, ones, nil)
			}
			total.Add(1)
		}
		over.Store(true)
		all.Wait()
		if got, want := r.Mem[:size], number(typ, int(total.Load())); !bytes.Equal(got, want) {
			t.Errorf("%v: %x, want %d: %x", typ, got, total.Load(), want)
		}
		if met == 0 {
			t.Errorf("%v: met no biased stripe in %d rounds", typ, rounds)
		}
		idle(t, r.Stripes)
	}
}

// Readers enter a stripe although writers follow each other without a pause, and the other way
// round.
func TestNobodyStarves(t *testing.T) {
	const size, rounds = 1 << shmfmt.StripeShift, 300
	r, _ := regionOf(t, size, 0, op.BestKernel(), false)
	ones := bytes.Repeat(one(op.Int64), size/8)
	for _, few := range []bool{true, false} {
		var ended sync.WaitGroup
		stop := make(chan struct{})
		run := func(n int, until func(i int) bool) {
			for i := 0; until(i); i++ {
				r.Accumulate(0, op.Sum, op.Int64, ones[:n], nil)
			}
		}
		many, one := size, 8
		if !few {
			many, one = one, many
		}
		for range 3 {
			ended.Go(func() {
				run(many, func(int) bool {
					select {
					case <-stop:
						return false
					default:
						return true
					}
				})
			})
		}
		run(one, func(i int) bool { return i < rounds })
		close(stop)
		ended.Wait()
	}
	idle(t, r.Stripes)
}

// RC-06, RC-11: for all processes, an element that begins in one stripe and ends in the next
// belongs to the first: compare-and-swap and updates of one element and of many are atomic with
// each other.
func TestRC06_ElementsAcrossTheEndOfAStripe(t *testing.T) {
	rounds := 30_000
	if sys.Race {
		rounds /= 30
	}
	for _, typ := range []op.Type{op.Int32, op.Int64, op.Int128} {
		size := typ.Size()
		r, _ := regionOf(t, 1<<shmfmt.StripeShift+64, 0, op.BestKernel(), false)
		at := int64(1<<shmfmt.StripeShift - size/2)
		ones := bytes.Repeat(one(typ), 3)
		together(2, r, func(w int, r *Region, _ *rand.Rand) {
			was := make([]byte, size)
			for range rounds {
				if w%2 == 0 {
					r.Accumulate(at, op.Sum, typ, ones, nil)
					continue
				}
				r.FetchOp(at, op.NoOp, typ, nil, was)
				for {
					next, expected := slices.Clone(was), slices.Clone(was)
					op.Apply(op.Sum, typ, next, next, ones[:size])
					r.CompareSwap(at, size, next, expected, was)
					if bytes.Equal(was, expected) {
						break
					}
				}
			}
		})
		if got, want := r.Mem[at:at+int64(size)], number(typ, 4*rounds); !bytes.Equal(got, want) {
			t.Errorf("%v: %x, want %d: %x", typ, got, 4*rounds, want)
		}
		idle(t, r.Stripes)
	}
}
