package mpi_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// hasAttr checks the value under a key.
func hasAttr[O mpi.Attributed, T comparable](t testing.TB, o O, k mpi.Keyval[O, T], want T) {
	t.Helper()
	if v, found, err := mpi.GetAttr(o, k); err != nil || !found || v != want {
		t.Fatalf("attribute is %v (%v, %v), want %v", v, found, err, want)
	}
}

func hasNoAttr[O mpi.Attributed, T any](t testing.TB, o O, k mpi.Keyval[O, T]) {
	t.Helper()
	if v, found, err := mpi.GetAttr(o, k); err != nil || found {
		t.Fatalf("attribute is %v (%v, %v), want none", v, found, err)
	}
}

// Values under one key are independent on different communicators, and in different processes.
// Every key is unique (ATT-01).
func TestATT02_KeysAndValues(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		a, err := world.Dup()
		ok(t, err)
		b, err := world.Dup()
		ok(t, err)
		k, l := mpi.CreateKeyval[*mpi.Comm, string](nil, nil), mpi.CreateKeyval[*mpi.Comm, *int](nil, nil)
		x := new(int)
		hasNoAttr(t, a, k)
		ok(t, mpi.SetAttr(a, k, fmt.Sprint("a", a.Rank())))
		ok(t, mpi.SetAttr(b, k, "b"))
		ok(t, mpi.SetAttr(a, l, x)) // ATT-06: the pointer itself
		hasAttr(t, a, k, fmt.Sprint("a", a.Rank()))
		hasAttr(t, b, k, "b")
		hasAttr(t, a, l, x)
		hasNoAttr(t, b, l)
		ok(t, mpi.DeleteAttr(a, k))
		ok(t, mpi.DeleteAttr(a, k))
		hasNoAttr(t, a, k)
		hasAttr(t, b, k, "b")
		ok(t, a.Free())
		ok(t, b.Free())
		wantClass(t, third(mpi.GetAttr(a, k)), mpi.ErrComm)
		wantClass(t, mpi.SetAttr(a, k, ""), mpi.ErrComm)
		wantClass(t, mpi.DeleteAttr(a, k), mpi.ErrComm)
	})
}

// An invalid key is ErrKeyval. A variable is initially an invalid key, and CreateKeyval never
// returns one (ATT-07).
func TestERR14_InvalidKeys(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, c *mpi.Comm) {
		var k mpi.Keyval[*mpi.Comm, int]
		if !k.IsInvalid() {
			t.Error("the zero key is valid")
		}
		wantClass(t, mpi.SetAttr(c, k, 1), mpi.ErrKeyval)
		wantClass(t, third(mpi.GetAttr(c, k)), mpi.ErrKeyval)
		wantClass(t, mpi.DeleteAttr(c, k), mpi.ErrKeyval)
		wantClass(t, k.Free(), mpi.ErrKeyval)
		k = mpi.CreateKeyval[*mpi.Comm, int](nil, nil)
		if k.IsInvalid() {
			t.Error("a new key is invalid")
		}
		ok(t, k.Free())
		if !k.IsInvalid() {
			t.Error("a freed key is valid")
		}
	})
}

// Duplicating calls the copy callback of each attribute, which decides whether the duplicate has
// a value, and which; DupFn gives the same value, and a nil callback none (ATT-04). The callback
// runs on the goroutine that duplicates, as all callbacks do (ATT-01).
func TestATT03_CopyCallbacks(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		calls, here := 0, goroutine()
		counted := mpi.CreateKeyval(func(old *mpi.Comm, v int) (int, bool, error) {
			calls++
			if old != c || goroutine() != here {
				t.Errorf("copy callback on %v in goroutine %s, want %s", old, goroutine(), here)
			}
			if err := old.Barrier(); err != nil { // a callback may call any function
				t.Error(err)
			}
			return v + 1, v < 100, nil
		}, nil)
		same, none := mpi.CreateKeyval(mpi.DupFn[*mpi.Comm, string], nil), mpi.CreateKeyval[*mpi.Comm, int](nil, nil)
		ok(t, mpi.SetAttr(c, counted, 5))
		ok(t, mpi.SetAttr(c, same, "s"))
		ok(t, mpi.SetAttr(c, none, 7))
		d, err := c.Dup()
		ok(t, err)
		i, r := c.Idup()
		_, err = r.Wait()
		ok(t, err)
		w, err := c.Dup()
		ok(t, err)
		for _, d := range []*mpi.Comm{d, i, w} {
			hasAttr(t, d, counted, 6)
			hasAttr(t, d, same, "s")
			hasNoAttr(t, d, none)
			ok(t, d.Free())
		}
		ok(t, mpi.SetAttr(c, counted, 100)) // not to be copied
		d, err = c.Dup()
		ok(t, err)
		hasNoAttr(t, d, counted)
		s, err := c.Split(0, 0) // splitting copies nothing
		ok(t, err)
		hasNoAttr(t, s, same)
		if calls != 4 {
			t.Errorf("%d copies, want 4", calls)
		}
		ok(t, d.Free())
		ok(t, s.Free())
		ok(t, c.Free())
	})
}

// goroutine identifies the calling goroutine.
func goroutine() string {
	b := make([]byte, 64)
	b = b[:runtime.Stack(b, false)]
	return string(b[:slices.Index(b, '[')])
}

// A copy callback that fails makes the duplication fail with its error, in that process. Values
// that were copied before are deleted, and the old communicator is unchanged.
func TestATT03_CopyFails(t *testing.T) {
	code, err := mpi.AddErrorCode(mpi.ErrOther)
	ok(t, err)
	mine := errors.New("no more room")
	for name, dup := range map[string]func(c *mpi.Comm) (*mpi.Comm, error){
		"Dup": func(c *mpi.Comm) (*mpi.Comm, error) { return c.Dup() },
		"Idup": func(c *mpi.Comm) (*mpi.Comm, error) {
			d, r := c.Idup()
			_, err := r.Wait()
			return d, err
		},
	} {
		for _, fails := range []error{code, mine} {
			mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
				c, err := world.Dup()
				ok(t, err)
				w := &told{}
				ok(t, c.SetErrhandler(w.handler()))
				var deleted []string
				del := func(c *mpi.Comm, v string) error {
					deleted = append(deleted, v)
					return nil
				}
				first := mpi.CreateKeyval(mpi.DupFn[*mpi.Comm, string], del)
				bad := mpi.CreateKeyval(func(_ *mpi.Comm, v string) (string, bool, error) {
					if world.Rank() == 1 {
						return "", true, fails
					}
					return v, true, nil
				}, del)
				ok(t, mpi.SetAttr(c, first, "first"))
				ok(t, mpi.SetAttr(c, bad, "bad"))
				d, err := dup(c)
				if _, errs := w.take(); world.Rank() != 1 {
					ok(t, err)
					if len(errs) != 0 || len(deleted) != 0 {
						t.Errorf("the handler was told %v, %v deleted", errs, deleted)
					}
					ok(t, d.Free())
				} else {
					if d != nil || !errors.Is(err, fails) || !errors.Is(err, mpi.ErrOther) || len(errs) != 1 {
						t.Errorf("%s gives %v, %v; the handler was told %v", name, d, err, errs)
					}
					if !slices.Equal(deleted, []string{"first"}) {
						t.Errorf("%v deleted, want first", deleted)
					}
				}
				hasAttr(t, c, first, "first")
				hasAttr(t, c, bad, "bad")
				ok(t, c.Barrier()) // and c works
				ok(t, c.Free())
			})
		}
	}
	ok(t, mpi.RemoveErrorCode(code))
}

// The delete callback is called once for each value that is removed: by DeleteAttr, SetAttr and
// Free, which removes the last set first. If the callback fails, the call fails, and the value
// and the communicator remain.
func TestATT05_DeleteCallbacks(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		var deleted []int
		refuse := false
		del := func(on *mpi.Comm, v int) error {
			if on != c {
				t.Errorf("deleted on %v, want %v", on, c)
			}
			if refuse {
				return mpi.ErrPending
			}
			deleted = append(deleted, v)
			return nil
		}
		gone := func(want ...int) {
			t.Helper()
			if !slices.Equal(deleted, want) {
				t.Fatalf("deleted %v, want %v", deleted, want)
			}
			deleted = nil
		}
		k, l, m := mpi.CreateKeyval(nil, del), mpi.CreateKeyval(nil, del), mpi.CreateKeyval(nil, del)
		ok(t, mpi.SetAttr(c, k, 1))
		gone()
		ok(t, mpi.SetAttr(c, k, 2))
		gone(1)
		ok(t, mpi.DeleteAttr(c, k))
		gone(2)
		ok(t, mpi.SetAttr(c, k, 3))
		ok(t, mpi.SetAttr(c, l, 4))
		ok(t, mpi.SetAttr(c, m, 5))
		ok(t, mpi.SetAttr(c, k, 6)) // now set last
		gone(3)
		refuse = true
		for _, err := range []error{mpi.SetAttr(c, l, 9), mpi.DeleteAttr(c, l), c.Free()} {
			wantClass(t, err, mpi.ErrPending)
		}
		hasAttr(t, c, k, 6)
		hasAttr(t, c, l, 4)
		hasAttr(t, c, m, 5)
		ok(t, c.Barrier())
		refuse = false
		ok(t, l.Free()) // ATT-12: the attribute and its callback remain
		ok(t, c.Free())
		gone(6, 5, 4)
	})
}

// A key exists until its attributes are deleted. After Free of the key its attributes are still
// copied and deleted, and can be read by copies of the key.
func TestATT12_FreedKeysLiveOn(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		deleted := 0
		k := mpi.CreateKeyval(mpi.DupFn[*mpi.Comm, int], func(*mpi.Comm, int) error { deleted++; return nil })
		kept := k
		ok(t, mpi.SetAttr(c, k, 8))
		ok(t, k.Free())
		wantClass(t, third(mpi.GetAttr(c, k)), mpi.ErrKeyval)
		d, err := c.Dup()
		ok(t, err)
		hasAttr(t, d, kept, 8)
		ok(t, c.Free())
		hasAttr(t, d, kept, 8)
		ok(t, d.Free())
		if deleted != 2 {
			t.Errorf("%d deleted, want 2", deleted)
		}
	})
}

// The standard's example: a collective caches a private communicator on each communicator that
// it is used on.
func TestATT13_CachedCollective(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		made, freed := 0, 0
		type private struct{ comm *mpi.Comm }
		var gop mpi.Keyval[*mpi.Comm, *private] // static, created at first use
		sum := func(c *mpi.Comm, x int) (int, error) {
			if gop.IsInvalid() {
				gop = mpi.CreateKeyval(nil, func(_ *mpi.Comm, p *private) error {
					freed++
					return p.comm.Free()
				})
			}
			p, found, err := mpi.GetAttr(c, gop)
			if err == nil && !found {
				made++
				p = &private{}
				p.comm, err = c.Dup()
				if err == nil {
					err = mpi.SetAttr(c, gop, p)
				}
			}
			if err != nil {
				return 0, err
			}
			out := []int{0}
			err = mpi.Allreduce(p.comm, []int{x}, out, mpi.Sum)
			return out[0], err
		}
		c, err := world.Dup()
		ok(t, err)
		for i := range 5 {
			if s, err := sum(c, i); err != nil || s != 3*i {
				t.Fatalf("sum is %d (%v), want %d", s, err, 3*i)
			}
		}
		ok(t, c.Free())
		if made != 1 || freed != 1 {
			t.Errorf("%d made and %d freed, want 1", made, freed)
		}
	})
}

// Finalize deletes the attributes of self, the last set first, while MPI can still be used.
func TestATT05_SelfAtFinalize(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		var deleted [2][]int
		err := mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
			k, l := mpi.CreateKeyval(nil, func(self *mpi.Comm, v int) error {
				deleted[c.Rank()] = append(deleted[c.Rank()], v)
				return self.Barrier()
			}), mpi.CreateKeyval(nil, func(self *mpi.Comm, v int) error {
				deleted[c.Rank()] = append(deleted[c.Rank()], v)
				return c.Barrier()
			})
			return errors.Join(mpi.SetAttr(c.Self(), k, 1), mpi.SetAttr(c.Self(), l, 2))
		})
		ok(t, err)
		for r, d := range deleted {
			if !slices.Equal(d, []int{2, 1}) {
				t.Errorf("%s: rank %d deleted %v, want [2 1]", fabric, r, d)
			}
		}
	}
}

// The attributes of the environment.
func TestENV05_PredefinedAttributes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.TagUB() < 32767 || c.Host() != mpi.ProcNull || c.IO() != mpi.AnySource || c.WtimeIsGlobal() ||
			c.UniverseSize() != 2 || c.AppNum() != 0 || mpi.LastUsedCode() < mpi.ErrProcFailed {
			t.Errorf("attributes: %d %d %d %v %d %d %d", c.TagUB(), c.Host(), c.IO(), c.WtimeIsGlobal(), c.UniverseSize(), c.AppNum(), mpi.LastUsedCode())
		}
		peer := 1 - c.Rank()
		_, err := mpi.Sendrecv(c, []byte{1}, peer, c.TagUB(), []byte{0}, peer, c.TagUB())
		ok(t, err)
		wantClass(t, mpi.Send(c, []byte{1}, peer, c.TagUB()+1), mpi.ErrTag)
	})
}
