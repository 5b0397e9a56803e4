package mpi_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// failures are operations that fail after the program has freed their communicator, with the class of
// the error.
var failures = []struct {
	name  string
	class mpi.Class
	start func(t testing.TB, c *mpi.Comm) mpi.Request
}{
	{"Irecv", mpi.ErrTruncate, func(t testing.TB, c *mpi.Comm) mpi.Request {
		q := mpi.Irecv(c, make([]byte, 1), c.Rank(), 1)
		ok(t, mpi.Send(c, make([]byte, 2), c.Rank(), 1))
		return q
	}},
	{"RecvInit", mpi.ErrTruncate, func(t testing.TB, c *mpi.Comm) mpi.Request {
		q := mpi.RecvInit(c, make([]byte, 1), c.Rank(), 1)
		ok(t, q.Start())
		ok(t, mpi.Send(c, make([]byte, 2), c.Rank(), 1))
		return q
	}},
	{"Irecv of a long message", mpi.ErrTruncate, func(t testing.TB, c *mpi.Comm) mpi.Request {
		q := mpi.Irecv(c, make([]byte, 1<<20), (c.Rank()+1)%c.Size(), 1)
		s := mpi.Isend(c, make([]byte, 1<<21), (c.Rank()+c.Size()-1)%c.Size(), 1)
		ok(t, s.Free())
		return q
	}},
	{"Imrecv", mpi.ErrTruncate, func(t testing.TB, c *mpi.Comm) mpi.Request {
		s := mpi.Isend(c, make([]byte, 2), c.Rank(), 1)
		m, _, err := c.Mprobe(c.Rank(), 1)
		ok(t, err)
		q := mpi.Imrecv(&m, make([]byte, 1))
		ok(t, waited(s))
		return q
	}},
	{"Iallreduce", mpi.ErrOther, func(t testing.TB, c *mpi.Comm) mpi.Request {
		op := mpi.CreateOp(func(in, inout []int64) { panic("no sum") }, true)
		q := mpi.Iallreduce(c, make([]int64, 5), make([]int64, 5), op)
		ok(t, op.Free())
		return q
	}},
	{"AllreduceInit", mpi.ErrOther, func(t testing.TB, c *mpi.Comm) mpi.Request {
		op := mpi.CreateOp(func(in, inout []int64) { panic("no sum") }, true)
		q := mpi.AllreduceInit(c, make([]int64, 5), make([]int64, 5), op)
		ok(t, op.Free())
		ok(t, q.Start())
		return q
	}},
	{"Idup", mpi.ErrIO, func(t testing.TB, c *mpi.Comm) mpi.Request {
		k := mpi.CreateKeyval(func(*mpi.Comm, int) (int, bool, error) { return 0, false, mpi.ErrIO }, nil)
		ok(t, mpi.SetAttr(c, k, 1))
		ok(t, k.Free())
		_, q := c.Idup()
		return q
	}},
	{"StartGrequest", mpi.ErrDims, func(t testing.TB, c *mpi.Comm) mpi.Request {
		q := c.StartGrequest(mpi.Grequest{Query: func(*mpi.Status) error { return mpi.ErrDims }})
		ok(t, q.Complete())
		return q
	}},
	{"free of StartGrequest", mpi.ErrDims, func(t testing.TB, c *mpi.Comm) mpi.Request {
		q := c.StartGrequest(mpi.Grequest{Free: func() error { return mpi.ErrDims }})
		ok(t, q.Complete())
		return q
	}},
}

// BRD-02: the error of an operation that was pending when the program freed its communicator goes to
// the handler of that communicator, once, although the program has freed the handler, too. The
// handler can ask the communicator. Calls on the communicator itself fail, at the handler of self.
func TestBRD02_ErrorsReachTheHandlerOfAFreedCommunicator(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		selfs := &told{}
		ok(t, world.Self().SetErrhandler(selfs.handler()))
		for _, f := range failures {
			c, err := world.Dup()
			ok(t, err)
			ok(t, c.SetName("freed"))
			var mu sync.Mutex
			var got []error
			h := mpi.CreateCommErrhandler(func(on *mpi.Comm, err *mpi.Error) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, err)
				g, err1 := on.Group()
				h, err2 := on.Errhandler()
				if on != c || on.Name() != "freed" || on.Rank() != world.Rank() || on.Size() != 2 || err1 != nil || g.Size() != 2 || err2 != nil || h.IsNull() {
					t.Errorf("%s: the handler cannot ask its communicator: %v, %v", f.name, err1, err2)
				}
			})
			ok(t, c.SetErrhandler(h))
			ok(t, h.Free())
			q := f.start(t, c)
			freed := c
			ok(t, c.Free())
			_, err = q.Wait()
			if !errors.Is(err, f.class) || len(got) != 1 || got[0] != err {
				t.Errorf("%s: Wait returns %v, and the handler got %v; want class %v", f.name, err, got, f.class)
			}
			if _, errs := selfs.take(); len(errs) > 0 {
				t.Errorf("%s: the handler of self got %v", f.name, errs)
			}
			wantClass(t, mpi.Send(freed, []byte{1}, 0, 1), mpi.ErrComm)
			if _, errs := selfs.take(); len(errs) != 1 || len(got) != 1 {
				t.Errorf("%s: a call after Free is told to self %v, and to the communicator %v", f.name, errs, got[1:])
			}
			if !q.IsNull() {
				ok(t, q.Free())
			}
			ok(t, world.Barrier())
		}
	})
}

// BRD-02: one-sided operations with requests use datatypes that the program frees before they end.
func TestBRD02_FreedTypesServeOneSidedRequests(t *testing.T) {
	int64s := must(mpi.TypeOf[int64]())
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 90)
		ok(t, err)
		u, next := w.Untyped(), (c.Rank()+1)%c.Size()
		vector := func() mpi.Datatype { return committed(mpi.TypeVector(15, 1, 2, int64s)) }
		ones, old, back := slices.Repeat([]int64{1}, 30), make([]int64, 30), make([]int64, 30)
		ok(t, u.LockAll(0))
		for _, start := range []func(a, b mpi.Datatype) mpi.Request{
			func(a, b mpi.Datatype) mpi.Request { return u.Rput(mpi.BufOf(ones, 1, a), next, 0, 1, b) },
			func(a, b mpi.Datatype) mpi.Request {
				return u.Raccumulate(mpi.BufOf(ones, 1, a), next, 0, 1, b, mpi.Sum)
			},
			func(a, b mpi.Datatype) mpi.Request {
				return u.RgetAccumulate(mpi.BufOf(ones, 1, a), mpi.BufOf(old, 1, a), next, 0, 1, b, mpi.Sum)
			},
			func(a, b mpi.Datatype) mpi.Request { return u.Rget(mpi.BufOf(back, 1, a), next, 0, 1, b) },
		} {
			a, b := vector(), vector()
			q := start(a, b)
			ok(t, a.Free())
			ok(t, b.Free())
			ok(t, waited(q))
			ok(t, u.Flush(next))
		}
		ok(t, u.UnlockAll())
		for i := range 30 {
			o, b := int64(2), int64(3)
			if i%2 == 1 {
				o, b = 0, 0
			}
			if i < 29 && (old[i] != o || back[i] != b) {
				t.Errorf("element %d: %d before, %d at the end; want %d and %d", i, old[i], back[i], o, b)
				break
			}
		}
		ok(t, w.Free())
	})
}

// BRD-02: accesses to files use datatypes of the memory and of the view that the program has freed,
// and conversion functions can ask the type of the elements.
func TestBRD02_FreedTypesServeFileRequests(t *testing.T) {
	var refused atomic.Int64
	same := func(b mpi.Buffer, file []byte, count, position int) error {
		if size, err := b.Datatype().Size(); err != nil || size != 16 {
			refused.Add(1)
		}
		_, _, err := b.Datatype().Extent()
		return err
	}
	name := strconv.Itoa(rand.Int())
	asks := mpi.Datarep{Extent: func(d mpi.Datatype) (int, error) { return d.Size() }, Read: same, Write: same}
	var once sync.Once
	element := typeOf[int32]()
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		once.Do(func() { ok(t, mpi.RegisterDatarep(c, name, asks)) })
		ok(t, c.Barrier())
		for _, representation := range []string{"native", "external32", name} {
			f := openFile(t, c, path, newFile)
			spread := committed(mpi.TypeVector(4, 1, 2, element))
			every := committed(mpi.TypeResized(spread, 0, 32))
			view := committed(mpi.TypeResized(committed(mpi.TypeVector(2, 1, 2, element)), 0, 16))
			ok(t, f.SetView(int64(4*c.Rank()), element, view, representation))
			ok(t, view.Free())
			mine, back := slices.Repeat([]int32{7}, 16), make([]int32, 16)
			for _, start := range []func() mpi.Request{
				func() mpi.Request { return f.IwriteAt(0, mpi.BufOf(mine, 2, every)) },
				func() mpi.Request { return f.IwriteAtAll(0, mpi.BufOf(mine, 2, every)) },
				func() mpi.Request { return f.IreadAt(0, mpi.BufOf(back, 2, every)) },
				func() mpi.Request { return f.IreadAtAll(0, mpi.BufOf(back, 2, every)) },
			} {
				q := start()
				ok(t, every.Free())
				ok(t, waited(q))
				every = committed(mpi.TypeResized(spread, 0, 32))
			}
			ok(t, f.ReadAtAllBegin(0, mpi.BufOf(back, 2, every)))
			ok(t, every.Free())
			ok(t, spread.Free())
			ok(t, second(f.ReadAtAllEnd()))
			for i, v := range back {
				if want := int32(7 * (1 - i%2)); representation != name && v != want {
					t.Errorf("%s: element %d is %d, want %d", representation, i, v, want)
				}
			}
			ok(t, f.Close())
			ok(t, c.Barrier())
		}
		if n := refused.Load(); n > 0 {
			t.Errorf("conversion functions could not ask the type %d times", n)
		}
	})
}
