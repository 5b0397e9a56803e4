package rma

import (
	"reflect"
	"testing"

	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/testrun"
)

// QV-33: after a million windows of memory handles were made and freed the tables of the engine are as
// long as before: it has stopped tracking the memory. Nothing is sent (QV-42).
func TestQV33_TablesDoNotGrow(t *testing.T) {
	cycles := 1_000_000
	if testrun.Race {
		cycles /= 10
	}
	e, w, f := withFakePeers(t, Dynamic, make([]byte, 8))
	v := newView(w)
	w.join(v)
	v.options.Store(&Options{})
	e.p.Unlock() // as withFakePeers has it
	defer e.p.Lock()
	mine := make([]byte, 64)
	theirs := (&memhandle.Handle{Process: e.p.Brief(enemy), Window: w.id, Key: memhandle.Space | 1<<40, Size: 64}).Append(nil)
	lengths := func() (n [8]int) {
		e.p.Lock()
		defer e.p.Unlock()
		hs := &w.dynamic.handles
		return [...]int{
			len(e.windows), len(w.views), int(w.handles.Load()), len(w.numbers), channelsOf(to(w)),
			hs.used, len(hs.pages), reflect.ValueOf(&hs.Table).Elem().FieldByName("live").Len(),
		}
	}
	var before [8]int
	for i := range cycles + 10 {
		if i == 10 {
			before = lengths()
		}
		h, target := theirs, 1
		var err error
		if i%4 == 3 {
			target = 0
			h, err = v.AppendHandle(nil, mine[:i%64])
			if err != nil {
				t.Fatal(err)
			}
		}
		u, err := v.FromHandle(h, -1, 1, target)
		if err != nil {
			t.Fatal(err)
		}
		if i%8 == 5 {
			u.SetOptions(Options{Thread: true})
		}
		if err := u.Free(); err != nil {
			t.Fatal(err)
		}
		if target == 0 {
			if err := v.ReleaseHandle(h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := lengths(); after != before || w.handles.Load() != 0 {
		t.Errorf("the lengths of tables are %d, %d cycles before they were %d", after, cycles, before)
	}
	if n := len(f.take()); n != 0 {
		t.Errorf("%d frames were sent", n)
	}
}
