package mpi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// ATT-11: types hold attributes as communicators do: Dup copies them by the callbacks, Free
// deletes the last set first, and callbacks can refuse both.
func TestATT11_TypeAttributes(t *testing.T) {
	var deleted []string
	refuse := false
	del := func(_ mpi.Datatype, v string) error {
		if refuse {
			return mpi.ErrPending
		}
		deleted = append(deleted, v)
		return nil
	}
	d := typ(t)(mpi.TypeContiguous(3, mpi.Byte()))
	same := mpi.CreateKeyval(mpi.DupFn[mpi.Datatype, string], del)
	changed := mpi.CreateKeyval(func(old mpi.Datatype, v string) (string, bool, error) {
		if old != d {
			t.Errorf("copied of %v, want %v", old, d)
		}
		return v + "'", v != "hidden", nil
	}, del)
	none := mpi.CreateKeyval[mpi.Datatype, int](nil, nil)
	hasNoAttr(t, d, same)
	ok(t, mpi.SetAttr(d, same, "a"))
	ok(t, mpi.SetAttr(d, changed, "b"))
	ok(t, mpi.SetAttr(d, none, 7))
	dup := typ(t)(d.Dup())
	hasAttr(t, dup, same, "a")
	hasAttr(t, dup, changed, "b'")
	hasNoAttr(t, dup, none)
	ok(t, mpi.SetAttr(d, changed, "hidden"))
	hidden := typ(t)(d.Dup())
	hasNoAttr(t, hidden, changed)
	ok(t, mpi.DeleteAttr(d, same))
	hasNoAttr(t, d, same)
	hasAttr(t, dup, same, "a")
	if !slices.Equal(deleted, []string{"b", "a"}) {
		t.Errorf("deleted %v", deleted)
	}
	refuse, deleted = true, nil
	kept := dup
	for call, err := range map[string]error{"Free": dup.Free(), "DeleteAttr": mpi.DeleteAttr(dup, changed), "SetAttr": mpi.SetAttr(dup, changed, "x")} {
		wantText(t, err, mpi.ErrPending, call+" on dup(contiguous(3 MPI_BYTE))", "delete callback of an attribute")
	}
	if dup != kept {
		t.Error("a Free that failed made the type null")
	}
	hasAttr(t, dup, changed, "b'")
	refuse = false
	ok(t, dup.Free())
	if !slices.Equal(deleted, []string{"b'", "a"}) {
		t.Errorf("Free deleted %v", deleted)
	}
	wantText(t, third(mpi.GetAttr(kept, same)), mpi.ErrType, "has been freed")
	ok(t, mpi.SetAttr(d, same, "z"))
	ok(t, same.Free()) // ATT-12: the attribute and its callback remain
	deleted = nil
	ok(t, d.Free())
	if !slices.Equal(deleted, []string{"z", "hidden"}) {
		t.Errorf("Free deleted %v", deleted)
	}
}

// A copy callback that fails makes Dup fail, and attributes that were copied before are deleted.
func TestATT11_CopyFails(t *testing.T) {
	var deleted []string
	mine := errors.New("no room")
	d := typ(t)(mpi.TypeContiguous(3, mpi.Byte()))
	first := mpi.CreateKeyval(mpi.DupFn[mpi.Datatype, string], func(on mpi.Datatype, v string) error {
		if on == d {
			t.Error("deleted of the old type")
		}
		deleted = append(deleted, v)
		return nil
	})
	bad := mpi.CreateKeyval(func(mpi.Datatype, string) (string, bool, error) { return "", true, mine }, nil)
	ok(t, mpi.SetAttr(d, first, "first"))
	ok(t, mpi.SetAttr(d, bad, "bad"))
	dup, err := d.Dup()
	wantText(t, err, mpi.ErrOther, "Dup on contiguous(3 MPI_BYTE)", "copy callback of an attribute: no room")
	if !dup.IsNull() || !errors.Is(err, mine) || !slices.Equal(deleted, []string{"first"}) {
		t.Errorf("%v, %v, deleted %v", dup, err, deleted)
	}
	hasAttr(t, d, first, "first")
}

// An invalid key is ErrKeyval for types, too; the text names the type. Predefined types can hold
// attributes.
func TestATT11_InvalidKeys(t *testing.T) {
	var k mpi.Keyval[mpi.Datatype, int]
	for call, err := range map[string]error{"SetAttr": mpi.SetAttr(mpi.Byte(), k, 1), "GetAttr": third(mpi.GetAttr(mpi.Byte(), k)), "DeleteAttr": mpi.DeleteAttr(mpi.Byte(), k)} {
		wantText(t, err, mpi.ErrKeyval, "mpi: "+call+" on MPI_BYTE: attribute key is invalid")
	}
	k = mpi.CreateKeyval[mpi.Datatype, int](nil, nil)
	ok(t, mpi.SetAttr(mpi.Byte(), k, 5))
	hasAttr(t, mpi.Byte(), k, 5)
	ok(t, mpi.DeleteAttr(mpi.Byte(), k))
	hasNoAttr(t, mpi.Byte(), k)
}
