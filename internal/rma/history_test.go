package rma_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// addressOf is where b begins.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// predefined is the types that all layouts are made of.
var predefined = sync.OnceValue(dtype.Predefined)

// must is for types whose arguments are right.
func must(t *dtype.Type, err error) *dtype.Type {
	if err != nil {
		panic(err)
	}
	t.Commit()
	return t
}

// synchroniser is one of the ways to synchronise: after end everything is complete everywhere.
type synchroniser struct {
	name       string
	begin, end func(x *window) error
	requests   bool // passive: requests are allowed
}

func synchronisers() []synchroniser {
	everyone := func(x *window) []int32 {
		all := make([]int32, x.w.Comm.Size())
		for r := range all {
			all[r] = int32(r)
		}
		return all
	}
	each := func(fn func(x *window, r int) error) func(x *window) error {
		return func(x *window) error {
			for r := range x.w.Comm.Size() {
				if err := fn(x, r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	first := func(list ...func(x *window) error) func(x *window) error {
		return func(x *window) error {
			for _, fn := range list {
				if err := fn(x); err != nil {
					return err
				}
			}
			return nil
		}
	}
	meet := func(x *window) error { return barrier(x.w) }
	return []synchroniser{
		{"fence", func(x *window) error { return x.Fence(0) }, func(x *window) error { return x.Fence(rma.ModeNoSucceed) }, false},
		{"post", func(x *window) error {
			if err := x.Post(everyone(x), 0); err != nil {
				return err
			}
			return x.Start(everyone(x), 0)
		}, func(x *window) error {
			if err := x.Complete(); err != nil {
				return err
			}
			return x.Wait()
		}, false},
		{"lock", each(func(x *window, r int) error { return x.Lock(false, r, 0) }),
			first(each(func(x *window, r int) error { return x.Unlock(r) }), meet), true},
		{"lock all", func(x *window) error { return x.LockAll(0) },
			first(func(x *window) error { return x.UnlockAll() }, meet), true},
		{"flush", func(x *window) error { return x.LockAll(0) },
			first(func(x *window) error { return x.FlushAll() }, meet, func(x *window) error { return x.UnlockAll() }, meet), true},
	}
}

const (
	// cell is what one operation at a time touches: the histories draw a kind of access
	// for each cell and epoch, because others would conflict.
	cell = 96
	// cells is how many cells each origin has at each target.
	cells = 8
)

// step is one operation of a history, as all ranks know it.
type step struct {
	target int
	kind   int   // 0 put, 1 get, 2 accumulate, 3 get_accumulate, 4 fetch_and_op, 5 compare_and_swap
	off    int64 // of what is accessed in the origin's part at the target
	layout operation.Place
	near   *dtype.Type // of the origin, nil for bytes
	op     op.Op
	typ    op.Type
	data   []byte // packed
	other  []byte // what compare_and_swap compares with
	want   []byte // what the operation has to return
	form   bool   // with a request
}

// plan draws the operations of an origin in an epoch.
func plan(g *rand.Rand, ranks int) (list []step) {
	for target := range ranks {
		for c := range cells {
			switch g.IntN(5) {
			case 0:
				continue
			case 1: // one put
				s := shape(g, op.Byte, int64(c*cell))
				s.target = target
				list = append(list, s)
			case 2: // one get
				s := shape(g, op.Byte, int64(c*cell))
				s.target, s.kind = target, 1
				list = append(list, s)
			default: // accumulates of one type, which are ordered
				types := []op.Type{op.Int64, op.Float64, op.Int32, op.Uint8, op.Uint16, op.Complex128, op.Float32}
				t := types[g.IntN(len(types))]
				for range 1 + g.IntN(3) {
					s := shape(g, t, int64(c*cell))
					s.target, s.typ, s.kind = target, t, 2+g.IntN(2)
					if s.layout.Type == nil && s.near == nil && len(s.data) == t.Size() {
						s.kind = 2 + g.IntN(3)
						if t == op.Int64 || t == op.Int32 || t == op.Uint8 {
							s.kind = 2 + g.IntN(4)
						}
					}
					s.op = operations(t)[g.IntN(len(operations(t)))]
					if s.kind == 2 && s.op == op.NoOp {
						s.kind = 3 // what it would return is all that it does
					}
					s.other = make([]byte, len(s.data))
					if g.IntN(2) == 0 {
						noise(g, s.other)
					}
					list = append(list, s)
				}
			}
		}
	}
	// Cells are independent: any order will do, but within a cell it is kept.
	for i := range list {
		list[i].form = g.IntN(3) == 0
	}
	return list
}

func operations(t op.Type) (list []op.Op) {
	for o := op.Op(1); int(o) <= op.Ops; o++ {
		if op.CheckAccumulate(o, t) == nil {
			list = append(list, o)
		}
	}
	return list
}

func noise(g *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(g.IntN(4)) // small numbers, so that comparisons succeed now and then
	}
}

// shape draws elements in a cell with a layout at the target, and one at the origin.
func shape(g *rand.Rand, t op.Type, at int64) (s step) {
	size := int64(t.Size())
	room := cell / size
	s.off = at
	n := 1 + g.Int64N(room)
	base := must(dtype.Contiguous(size, predefined().Type(dtype.Byte)))
	switch g.IntN(3) {
	case 0: // contiguous, perhaps not from the beginning on
		s.off += 16 * g.Int64N(max((cell-n*size)/16, 0)+1)
		if g.IntN(2) == 0 {
			n = 1
		}
	case 1: // blocks apart
		n = max(room/3, 1)
		s.layout = operation.Place{Type: must(dtype.Vector(n, 1, 2+g.Int64N(2), base)), Count: 1}
	default: // several elements of a type with gaps
		s.layout = operation.Place{Type: must(dtype.Resized(base, 0, 2*size)), Count: max(room/2, 1)}
		n = s.layout.Count
	}
	s.data = make([]byte, n*size)
	noise(g, s.data)
	if g.IntN(3) == 0 {
		s.near = must(dtype.Resized(base, 0, size+3))
	}
	return s
}

// apply applies s to the model of the origin's part at its target.
func (s *step) apply(part []byte) {
	l := s.layout
	if l.Type == nil {
		l = operation.Place{Type: must(dtype.Contiguous(int64(len(s.data)), predefined().Type(dtype.Byte))), Count: 1}
	}
	b, err := dtype.Bind(part, s.off, l.Type, l.Count)
	if err != nil {
		panic(err)
	}
	before := make([]byte, len(s.data))
	b.Pack(before, 0)
	after := bytes.Clone(s.data)
	switch s.kind {
	case 1:
		after = before
	case 2, 3, 4:
		after = bytes.Clone(before)
		op.Apply(s.op, s.typ, after, before, s.data)
	case 5:
		if !bytes.Equal(before, s.other) {
			after = before
		}
	}
	s.want = before
	b.Unpack(after, 0)
}

// issued is an operation under way and what it has to return.
type issued struct {
	step    step
	result  []byte
	layout  *dtype.Buffer
	request *p2p.Request
}

// bytesOf is memory that is contiguous.
func bytesOf(m mem.Mem) []byte {
	b, _ := m.Bytes()
	return b
}

// issue starts s.
func (x *window) issue(s step, requests bool) (i issued, err error) {
	i = issued{step: s}
	data, result := mem.Of(s.data), mem.Mem{}
	if s.kind != 0 && s.kind != 2 {
		i.result = make([]byte, len(s.data))
		result = mem.Of(i.result)
	}
	if s.near != nil && s.kind < 4 {
		n := int64(len(s.data)) / s.near.Size()
		buf := make([]byte, int64(len(s.data))+3*n)
		b, err := dtype.Bind(buf, 0, s.near, n)
		if err != nil {
			return i, err
		}
		b.Unpack(s.data, 0)
		data = mem.In(&b)
		if i.result != nil {
			c, err := dtype.Bind(make([]byte, len(buf)), 0, s.near, n)
			if err != nil {
				return i, err
			}
			i.layout = &c
			result = mem.In(&c)
		}
	}
	disp := x.disp(s.target, int64(x.w.Comm.Rank)*cells*cell+s.off)
	requests = requests && s.form
	switch {
	case s.kind == 0 && requests:
		i.request, err = x.Rput(data, s.target, disp, s.layout)
	case s.kind == 0 && data.Contiguous() && s.layout.Type == nil:
		err = x.PutBytes(bytesOf(data), s.target, disp)
	case s.kind == 0:
		err = x.Put(data, s.target, disp, s.layout)
	case s.kind == 1 && requests:
		i.request, err = x.Rget(result, s.target, disp, s.layout)
	case s.kind == 1 && result.Contiguous() && s.layout.Type == nil:
		err = x.GetBytes(bytesOf(result), s.target, disp)
	case s.kind == 1:
		err = x.Get(result, s.target, disp, s.layout)
	case s.kind == 2 && requests:
		i.request, err = x.Raccumulate(data, s.target, disp, s.layout, s.op, s.typ)
	case s.kind == 2:
		err = x.Accumulate(data, s.target, disp, s.layout, s.op, s.typ)
	case s.kind == 3 && requests:
		i.request, err = x.RgetAccumulate(data, result, s.target, disp, s.layout, s.op, s.typ)
	case s.kind == 3:
		err = x.GetAccumulate(data, result, s.target, disp, s.layout, s.op, s.typ)
	case s.kind == 4:
		err = x.FetchAndOp(s.data, i.result, s.target, disp, s.op, s.typ)
	default:
		err = x.CompareAndSwap(s.data, s.other, i.result, s.target, disp, s.typ)
	}
	return i, err
}

// check compares the result of an operation with that of the model.
func (i *issued) check() error {
	if i.result == nil {
		return nil
	}
	if i.layout != nil {
		i.layout.Pack(i.result, 0)
	}
	if !bytes.Equal(i.result, i.step.want) {
		return fmt.Errorf("operation %+v has returned %v, want %v", i.step, i.result, i.step.want)
	}
	return nil
}

// wait ends a request.
func wait(w *world.World, r *p2p.Request) error {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	w.P2P.Wait(r)
	return w.P2P.Take(r)
}

// history runs epochs of random operations, each origin in its own part of the memory of all ranks,
// which all ranks simulate.
func history(x *window, seed uint64, sync synchroniser, epochs int) error {
	n, me := x.w.Comm.Size(), x.w.Comm.Rank
	const part = cells * cell
	model := make([][]byte, n) // by target
	for r := range model {
		model[r] = make([]byte, n*part)
		noise(rand.New(rand.NewPCG(seed, uint64(r))), model[r])
	}
	copy(x.mem, model[me])
	if err := barrier(x.w); err != nil {
		return err
	}
	for k := range epochs {
		var own []step
		for origin := range n {
			list := plan(rand.New(rand.NewPCG(seed, uint64(1000+k*n+origin))), n)
			for j := range list {
				list[j].apply(model[list[j].target][origin*part:][:part])
			}
			if origin == me {
				own = list
			}
		}
		if err := sync.begin(x); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		var all []issued
		for _, s := range own {
			i, err := x.issue(s, sync.requests)
			if err != nil {
				return fmt.Errorf("%+v: %w", s, err)
			}
			if i.request != nil {
				if err := wait(x.w, i.request); err != nil {
					return err
				}
				if err := i.check(); err != nil { // complete at the origin
					return err
				}
			}
			all = append(all, i)
		}
		if err := sync.end(x); err != nil {
			return fmt.Errorf("end: %w", err)
		}
		var wrong error
		for _, i := range all {
			if err := i.check(); err != nil && wrong == nil {
				wrong = err
			}
		}
		for at := range x.mem {
			if x.mem[at] != model[me][at] && wrong == nil {
				wrong = fmt.Errorf("epoch %d: byte %d of origin %d is %d, want %d", k, at%part, at/part, x.mem[at], model[me][at])
			}
		}
		if err := agreed(x.w, wrong); err != nil {
			return err
		}
	}
	return nil
}

// RC-01 to RC-06, RC-13, RC-14: random epochs of all calls, with layouts on both sides, to all
// ranks, the own one among them, leave exactly the result of a sequential execution, with every
// kind of window and of synchronisation. RW-08: accumulates of one origin on one location keep
// their order.
func TestHistories(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		epochs := 3
		if testrun.Race {
			epochs = 1
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachWindow(t, n, int64(n)*cells*cell, 8, func(x *window) error {
				for i, s := range synchronisers() {
					if err := history(x, uint64(n*100+i), s, epochs); err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
				}
				return nil
			})
		})
	}
}
