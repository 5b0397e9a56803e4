package rma_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// classOf is the class of an error of the engine.
func classOf(err error) class.Class {
	var e *class.Error
	if err == nil {
		return class.Success
	}
	if errors.As(err, &e) {
		return e.Class
	}
	return class.Unknown
}

// want returns an error unless err is of the class c.
func want(what string, err error, c class.Class) error {
	if got := classOf(err); got != c {
		return fmt.Errorf("%s: class %d (%w), want %d", what, got, err, c)
	}
	return nil
}

// first runs steps until one fails.
func first(steps ...func() error) error {
	for i, f := range steps {
		if err := f(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// allocated makes a window of size bytes for each member.
func allocated(w *world.World, c *comm.Comm, size int64) (*rma.View, error) {
	return w.RMA.Create(c, rma.Spec{Flavor: rma.Allocated, Size: size, DispUnit: 1})
}

// win is a window whose posts to itself and starts with itself are counted.
type win struct {
	*rma.View
	ahead int // starts without their post
}

func (v *win) Post(ranks []int32, assert int) error {
	err := v.View.Post(ranks, assert)
	if err == nil {
		v.ahead -= len(ranks)
	}
	return err
}

func (v *win) Start(ranks []int32, assert int) error {
	err := v.View.Start(ranks, assert)
	if err == nil {
		v.ahead += len(ranks)
	}
	return err
}

// call is a synchronisation call, or an operation, by its name in the table.
type call struct {
	name string
	do   func(v *win) error
}

var eight = []byte{1, 2, 3, 4, 5, 6, 7, 8}

func self() []int32 { return []int32{0} }

// calls are those of a window in which the own rank is 0; they involve rank 1 if other is set.
func calls(other bool) []call {
	list := []call{
		{"Fence", func(v *win) error { return v.Fence(0) }},
		{"Post", func(v *win) error { return v.Post(self(), 0) }},
		{"Post of none", func(v *win) error { return v.Post(nil, 0) }},
		{"Start", func(v *win) error { return v.Start(self(), 0) }},
		{"Start of none", func(v *win) error { return v.Start(nil, 0) }},
		{"Complete", (*win).Complete},
		{"Wait", (*win).Wait},
		{"Test", func(v *win) error { _, err := v.Test(); return err }},
		{"Lock shared", func(v *win) error { return v.Lock(false, 0, 0) }},
		{"Lock exclusive", func(v *win) error { return v.Lock(true, 0, 0) }},
		{"Lock null", func(v *win) error { return v.Lock(true, rma.ProcNull, 0) }},
		{"Unlock", func(v *win) error { return v.Unlock(0) }},
		{"Unlock null", func(v *win) error { return v.Unlock(rma.ProcNull) }},
		{"LockAll", func(v *win) error { return v.LockAll(0) }},
		{"UnlockAll", (*win).UnlockAll},
		{"Flush", func(v *win) error { return v.Flush(0) }},
		{"FlushLocal", func(v *win) error { return v.FlushLocal(0) }},
		{"FlushAll", (*win).FlushAll},
		{"FlushLocalAll", (*win).FlushLocalAll},
		{"Sync", (*win).Sync},
		{"Put", func(v *win) error { return v.PutBytes(eight, 0, 0) }},
		{"Put null", func(v *win) error { return v.PutBytes(eight, rma.ProcNull, 0) }},
		{"Get", func(v *win) error { return v.GetBytes(make([]byte, 8), 0, 0) }},
		{"Idle", (*win).Idle},
	}
	if !other {
		return list
	}
	list = slices.DeleteFunc(list, func(c call) bool { return c.name == "Fence" }) // needs the other
	return append(list,
		call{"Lock other", func(v *win) error { return v.Lock(false, 1, 0) }},
		call{"Unlock other", func(v *win) error { return v.Unlock(1) }},
		call{"Flush other", func(v *win) error { return v.Flush(1) }},
		call{"FlushLocal other", func(v *win) error { return v.FlushLocal(1) }},
		call{"Put other", func(v *win) error { return v.PutBytes(eight, 1, 0) }},
	)
}

// state is a state of the epochs: how it is entered and left, and what is legal in it.
// Every other call is class.RMASync, and the state is as it was.
type state struct {
	name         string
	enter, leave func(v *win) error
	legal        []string
	blocks       []string // legal, but would wait for somebody else
}

var (
	idle   = []string{"Fence", "Post", "Post of none", "Start", "Start of none", "Lock shared", "Lock exclusive", "Lock null", "LockAll", "Idle"}
	locked = []string{"Unlock", "Flush", "FlushLocal", "FlushAll", "FlushLocalAll", "Sync", "Put", "Put null", "Get", "Lock null"}
	all    = []string{"UnlockAll", "Flush", "FlushLocal", "FlushAll", "FlushLocalAll", "Sync", "Put", "Put null", "Get"}
)

func nothing(*win) error { return nil }

func fenced(assert int) func(*win) error {
	return func(v *win) error { return v.Fence(assert) }
}

func put(v *win) error { return v.PutBytes(eight, 0, 0) }

func then(steps ...func(*win) error) func(*win) error {
	return func(v *win) error {
		for i, f := range steps {
			if err := f(v); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		return nil
	}
}

func post(v *win) error    { return v.Post(self(), 0) }
func start(v *win) error   { return v.Start(self(), 0) }
func unlock(v *win) error  { return v.Unlock(0) }
func release(v *win) error { return v.Unlock(1) }

// states are those that a process can be in without others.
func states() []state {
	complete, wait, unlockAll := (*win).Complete, (*win).Wait, (*win).UnlockAll
	operations := []string{"Put", "Put null", "Get"}
	return []state{
		{"none", nothing, nothing, idle, nil},
		{"fence", fenced(0), nothing, append(slices.Clone(idle), operations...), nil},
		{"fence without successor", fenced(rma.ModeNoSucceed), nothing, idle, nil},
		{"used fence", then(fenced(0), put), fenced(rma.ModeNoSucceed), append([]string{"Fence"}, operations...), nil},
		{"fence used for nobody", then(fenced(0), func(v *win) error { return v.PutBytes(nil, rma.ProcNull, 0) }), fenced(0),
			append([]string{"Fence"}, operations...), nil},
		{"fence, lock, unlock", then(fenced(0), func(v *win) error { return v.Lock(true, 0, 0) }, unlock), nothing, idle, nil},
		{"fence, post, wait", then(fenced(0), func(v *win) error { return v.Post(nil, 0) }, wait), nothing, idle, nil},
		{"start", start, then(post, complete, wait),
			append([]string{"Post", "Post of none", "Complete"}, operations...), nil},
		{"start, put", then(start, put), then(post, complete, wait),
			append([]string{"Post", "Post of none"}, operations...), []string{"Complete"}},
		{"start with no group", func(v *win) error { return v.Start(nil, 0) }, complete,
			[]string{"Post", "Post of none", "Complete", "Put null"}, nil},
		{"start unchecked", then(post, func(v *win) error { return v.Start(self(), rma.ModeNoCheck) }), then(complete, wait),
			append([]string{"Complete", "Test"}, operations...), []string{"Wait"}},
		{"post", post, then(start, complete, wait),
			[]string{"Start", "Start of none", "Test", "Lock null"}, []string{"Wait"}},
		{"post to none", func(v *win) error { return v.Post(nil, 0) }, wait,
			[]string{"Start", "Start of none", "Test", "Wait", "Lock null"}, nil},
		{"post, start", then(post, start), then(complete, wait),
			append([]string{"Complete", "Test"}, operations...), []string{"Wait"}},
		{"post, complete", then(post, start, complete), wait,
			[]string{"Start", "Start of none", "Test", "Wait", "Lock null"}, nil},
		{"lock shared", func(v *win) error { return v.Lock(false, 0, 0) }, unlock, locked, nil},
		{"lock exclusive", func(v *win) error { return v.Lock(true, 0, 0) }, unlock, locked, nil},
		{"lock unchecked", func(v *win) error { return v.Lock(true, 0, rma.ModeNoCheck) }, unlock, locked, nil},
		{"lock null", func(v *win) error { return v.Lock(true, rma.ProcNull, 0) }, func(v *win) error { return v.Unlock(rma.ProcNull) },
			[]string{"Unlock null", "Lock shared", "Lock exclusive", "FlushAll", "FlushLocalAll", "Sync", "Put null", "Post", "Post of none"}, nil},
		{"lock all", func(v *win) error { return v.LockAll(0) }, unlockAll, all, nil},
		{"lock all unchecked", func(v *win) error { return v.LockAll(rma.ModeNoCheck) }, unlockAll, all, nil},
	}
}

// statesOfTwo are states in which rank 1 takes part.
func statesOfTwo() []state {
	lock := func(v *win) error { return v.Lock(true, 1, 0) }
	other := []string{"Unlock other", "Flush other", "FlushLocal other", "Put other", "FlushAll", "FlushLocalAll", "Sync", "Put null",
		"Lock shared", "Lock exclusive", "Lock null", "Post", "Post of none"}
	return []state{
		{"other locked", lock, release, other, nil},
		{"other locked unchecked", func(v *win) error { return v.Lock(true, 1, rma.ModeNoCheck) }, release, other, nil},
		{"both locked", then(lock, func(v *win) error { return v.Lock(false, 0, 0) }), then(unlock, release),
			append([]string{"Unlock other", "Flush other", "FlushLocal other", "Put other"}, locked...), nil},
		{"lock all of two", func(v *win) error { return v.LockAll(0) }, (*win).UnlockAll,
			append([]string{"Flush other", "FlushLocal other", "Put other"}, all...), nil},
		{"post of two", func(v *win) error { return v.Post(nil, 0) }, (*win).Wait,
			[]string{"Start", "Start of none", "Wait", "Test", "Lock null", "Lock other"}, nil},
	}
}

// around uses the window in every mode, to see that it still works. A window of two is not fenced.
func around(v *win) error {
	if v.ahead != 0 {
		return fmt.Errorf("%d starts without a post", v.ahead)
	}
	got := make([]byte, 8)
	same := func(v *win) error {
		if !slices.Equal(got, eight) {
			return fmt.Errorf("got %v, want %v", got, eight)
		}
		clear(got)
		return nil
	}
	get := func(v *win) error { return v.GetBytes(got, 0, 0) }
	fence := fenced(0)
	if v.Comm().Size() > 1 {
		fence = func(v *win) error { return v.Lock(false, 0, 0) }
	}
	steps := []func(*win) error{
		(*win).Idle,
		func(v *win) error { clear(v.Local()); return nil },
		func(v *win) error { return v.Lock(true, 0, 0) }, put, func(v *win) error { return v.Flush(0) }, get,
		func(v *win) error { return v.Flush(0) }, same, unlock,
		post, start, get, (*win).Complete, (*win).Wait, same,
		func(v *win) error { return v.LockAll(0) }, get, (*win).UnlockAll, same,
	}
	if v.Comm().Size() == 1 {
		steps = append(steps, fence, get, fenced(rma.ModeNoSucceed), same)
	}
	return then(steps...)(v)
}

// tabulate makes every call in every state.
func tabulate(v *win, list []state, calls []call) (illegal int, err error) {
	for _, s := range list {
		for _, c := range calls {
			if slices.Contains(s.blocks, c.name) {
				continue
			}
			where := fmt.Sprintf("%q in state %q", c.name, s.name)
			if err := s.enter(v); err != nil {
				return 0, fmt.Errorf("%s: enter: %w", where, err)
			}
			err := c.do(v)
			if slices.Contains(s.legal, c.name) {
				if err := want(where, err, class.Success); err != nil {
					return 0, err
				}
				unwind(v)
			} else {
				illegal++
				if err := want(where, err, class.RMASync); err != nil {
					return 0, err
				}
				if err := s.leave(v); err != nil {
					return 0, fmt.Errorf("%s: leave: %w", where, err)
				}
			}
			if err := around(v); err != nil {
				return 0, fmt.Errorf("%s: afterwards: %w", where, err)
			}
		}
	}
	return illegal, nil
}

// unwind ends whatever epochs are open.
func unwind(v *win) {
	v.Unlock(0)
	v.Unlock(rma.ProcNull)
	if v.Comm().Size() > 1 {
		v.Unlock(1)
	}
	v.UnlockAll()
	v.Test() // ends a post to nobody
	if v.ahead > 0 {
		v.Post(self(), 0)
	}
	v.Complete()
	if v.ahead < 0 {
		v.Start(self(), 0)
		v.Complete()
	}
	v.Test()
	if v.Idle() != nil && v.Comm().Size() == 1 {
		v.Fence(rma.ModeNoSucceed)
	}
}

// X-RMA-06, X-RMA-04, RS-04, RS-10, X-RMA-21: in every state of the epochs every call is either
// legal or class.RMASync, which changes nothing; afterwards the window can be used in any other
// mode.
func TestXRMA06_EpochStatesTimesCalls(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp") {
		t.Run(fabric, func(t *testing.T) {
			err := world.RunGoroutines(fabric, 1, func(w *world.World) error {
				v, err := allocated(w, w.Comm, 64)
				if err != nil {
					return err
				}
				illegal, err := tabulate(&win{View: v}, states(), calls(false))
				if err == nil && illegal < 200 {
					err = fmt.Errorf("only %d illegal transitions", illegal)
				}
				if err != nil {
					return err
				}
				return v.Free()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// X-RMA-06: the same where another process is a target, which makes no calls for it.
func TestXRMA06_EpochStatesWithTwo(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "shm@01", "inproc@01") {
		t.Run(fabric, func(t *testing.T) {
			err := world.RunGoroutines(fabric, 2, func(w *world.World) error {
				v, err := allocated(w, w.Comm, 64)
				if err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					illegal, err := tabulate(&win{View: v}, statesOfTwo(), calls(true))
					if err == nil && illegal < 50 {
						err = fmt.Errorf("only %d illegal transitions", illegal)
					}
					if err != nil {
						return err
					}
				}
				return v.Free()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
