package rma_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// X-RMA-08: each call takes the assertions that the standard lists for it, which change no result,
// and refuses others with class.Assert.
func TestXRMA08_Assertions(t *testing.T) {
	modes := []int{rma.ModeNoCheck, rma.ModeNoPrecede, rma.ModeNoPut, rma.ModeNoStore, rma.ModeNoSucceed}
	cases := []struct {
		name  string
		do    func(v *win, assert int) error
		undo  func(v *win) error
		legal int
	}{
		{"Fence", (*win).Fence, nothing, rma.ModeNoPrecede | rma.ModeNoPut | rma.ModeNoStore | rma.ModeNoSucceed},
		{"Post", func(v *win, a int) error { return v.Post(nil, a) }, (*win).Wait, rma.ModeNoCheck | rma.ModeNoPut | rma.ModeNoStore},
		{"Start", func(v *win, a int) error { return v.Start(nil, a) }, (*win).Complete, rma.ModeNoCheck},
		{"Lock", func(v *win, a int) error { return v.Lock(true, 0, a) }, unlock, rma.ModeNoCheck},
		{"LockAll", (*win).LockAll, (*win).UnlockAll, rma.ModeNoCheck},
	}
	err := world.RunGoroutines("inproc", 1, func(w *world.World) error {
		view, err := allocated(w, w.Comm, 64)
		if err != nil {
			return err
		}
		v := &win{View: view}
		for _, c := range cases {
			asserts := []int{1, 1 << 20, -1}
			for set := range 1 << len(modes) {
				assert := 0
				for i, m := range modes {
					if set&(1<<i) != 0 {
						assert |= m
					}
				}
				asserts = append(asserts, assert)
			}
			for _, a := range asserts {
				want := class.Success
				if a&^c.legal != 0 {
					want = class.Assert
				}
				if err := c.do(v, a); classOf(err) != want {
					return fmt.Errorf("%s(%d): %v, want class %d", c.name, a, err, want)
				}
				if want == class.Success {
					if err := c.undo(v); err != nil {
						return fmt.Errorf("%s(%d): afterwards: %w", c.name, a, err)
					}
				}
				if err := v.Idle(); err != nil {
					return fmt.Errorf("%s(%d): afterwards: %w", c.name, a, err)
				}
			}
		}
		if err := around(v); err != nil {
			return err
		}
		return v.Free()
	})
	if err != nil {
		t.Error(err)
	}
}

// Bad input: ranks that do not exist, groups with a rank twice, a freed window, and locks where
// no_locks was promised. X-RMA-10.
func TestSynchronisationOfNobody(t *testing.T) {
	err := world.RunGoroutines("inproc", 2, func(w *world.World) error {
		v, err := allocated(w, w.Comm, 64)
		if err != nil {
			return err
		}
		none, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1, Options: rma.Options{NoLocks: true}})
		if err != nil {
			return err
		}
		for name, f := range map[string]struct {
			err error
			c   class.Class
		}{
			"Lock 2":            {v.Lock(true, 2, 0), class.Rank},
			"Lock -1":           {v.Lock(true, -1, 0), class.Rank},
			"Unlock 2":          {v.Unlock(2), class.Rank},
			"Post 2":            {v.Post([]int32{0, 2}, 0), class.Rank},
			"Post twice":        {v.Post([]int32{1, 0, 1}, 0), class.Group},
			"Start -1":          {v.Start([]int32{-1}, 0), class.Rank},
			"Start twice":       {v.Start([]int32{1, 1}, 0), class.Group},
			"Lock, no_locks":    {none.Lock(false, 0, 0), class.RMASync},
			"LockAll, no_locks": {none.LockAll(0), class.RMASync},
		} {
			if err := want(name, f.err, f.c); err != nil {
				return err
			}
		}
		if err := first(v.Idle, none.Idle); err != nil {
			return err
		}
		if err := first(none.Free, v.Free); err != nil {
			return err
		}
		for _, c := range calls(false) {
			if err := want(c.name+" of a freed window", c.do(&win{View: v}), class.Win); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
