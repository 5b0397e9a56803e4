package syncobject

import (
	"errors"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// classOf returns the class of an error, Success for nil.
func classOf(err error) class.Class {
	var e *class.Error
	errors.As(err, &e)
	if e == nil {
		return class.Success
	}
	return e.Class
}

// A handle contains counter and process of its object. It differs from handles of other windows, and
// of objects that had the same counter before.
func TestSYN05_HandlesNameObjects(t *testing.T) {
	var serial uint64
	var one, two Table
	a, err := one.Alloc(3, 64, 5, &serial)
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.Alloc(1, 65, 5, &serial)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range a {
		if h == 0 || h.Process() != 5 || h.Counter() != shmfmt.CountersMax-1-i || !h.Of(64) || h.Of(65) || one.Find(h) == nil || two.Find(h) != nil {
			t.Errorf("%#x: process %d, counter %d", h, h.Process(), h.Counter())
		}
	}
	if b[0].Counter() != a[0].Counter() || b[0] == a[0] {
		t.Errorf("%#x is of window 65, %#x of 64", b[0], a[0])
	}
	seen := map[Handle]bool{}
	for range 3 * restMin {
		h, err := two.Alloc(1, 65, 5, &serial)
		if err != nil || seen[h[0]] {
			t.Fatalf("%#x was there before, or %v", h, err)
		}
		seen[h[0]] = true
		if err := two.Free(h); err != nil || two.Find(h[0]) != nil {
			t.Fatalf("%v, and it is there: %v", err, two.Find(h[0]) != nil)
		}
	}
	if two.fresh > restMin+2 {
		t.Errorf("%d counters were used for two objects at a time", two.fresh)
	}
}

// A window has at most Max objects, and the error names the limit. Free frees all objects or none.
func TestSYN05_SYN06_LimitsAndFree(t *testing.T) {
	var serial uint64
	var table Table
	all, err := table.Alloc(Max, 64, 0, &serial)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Alloc(1, 64, 0, &serial); classOf(err) != class.NoMem {
		t.Errorf("one more: %v", err)
	}
	if _, err := table.Alloc(-1, 64, 0, &serial); classOf(err) != class.Count {
		t.Errorf("-1 objects: %v", err)
	}
	if err := table.Free([]Handle{all[0], all[1], all[0]}); classOf(err) != class.Arg || table.Find(all[1]) == nil {
		t.Errorf("one twice: %v", err)
	}
	q, err := NewWait(table.Find(all[1]), new(shmfmt.Counter), 1, false, false)
	if err == nil {
		err = q.Begin(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Free(all[:2]); classOf(err) != class.Request || table.Find(all[0]) == nil {
		t.Errorf("one with an active request: %v", err)
	}
	q.Abandon()
	for list := range slices.Chunk(all, 256) {
		if err := table.Free(list); err != nil {
			t.Fatal(err)
		}
	}
	if len(table.objects) != 0 {
		t.Errorf("%d are left", len(table.objects))
	}
}

// Up to count early signals count for the next Start; a strict request loses them and returns an
// error.
func TestSYN27_EarlySignals(t *testing.T) {
	for _, x := range []struct {
		strict        bool
		early, during int64
		begin, end    class.Class
	}{
		{false, 0, 0, class.Success, class.Success},
		{false, 2, 0, class.Success, class.Success},
		{false, 3, 0, class.Success, class.WinCounter},
		{false, 0, 4, class.Success, class.Success},
		{false, 0, 5, class.Success, class.WinCounter},
		{true, 0, 2, class.Success, class.Success},
		{true, 0, 3, class.Success, class.WinCounter},
		{true, 1, 0, class.WinCounter, class.Success},
	} {
		c := new(shmfmt.Counter)
		q, err := NewWait(new(Object), c, 2, false, x.strict)
		if err != nil {
			t.Fatal(err)
		}
		c.Add(x.early)
		if err := q.Begin(c.Value()); classOf(err) != x.begin {
			t.Errorf("%+v: it begins with %v", x, err)
		}
		if x.begin != class.Success {
			continue
		}
		c.Add(x.during)
		c.Add(-q.Take())
		if err, again := q.Finish(nil); classOf(err) != x.end || again || q.object.active != nil {
			t.Errorf("%+v: it ends with %v, and begins again: %v", x, err, again)
		}
	}
}
