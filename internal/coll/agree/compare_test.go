package agree

import (
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
)

// The verdict names two members, the lower rank first, and what they disagree on.
func TestVerdicts(t *testing.T) {
	double := dtype.Predefined().Type(dtype.Double)
	two := Elements{double, 2}
	tell := func(k kind.Kind, call string, root int32, sends Elements) Record {
		x := Record{Kind: uint8(k), Root: root}
		sig := sends.Signature()
		x.Elements, x.Bytes, x.Hash = sig.Elements, sig.Bytes, sig.Hash
		if sig.Raw {
			x.Raw = 1
		}
		copy(x.Call[:], call)
		copy(x.Text[:], sends.String())
		return x
	}
	refuses := tell(kind.Bcast, "Bcast", 0, two)
	refuses.Class = uint32(class.Count)
	copy(refuses.Detail[:], "count -1")
	for _, x := range []struct {
		kind  kind.Kind
		told  []Record // the last one is that of the member that judges
		class class.Class
		text  string
	}{
		{kind.Allgather, []Record{tell(kind.Allgather, "Allgather", 0, two), tell(kind.Allgather, "Allgather", 0, two)}, class.Success, ""},
		{kind.Allgather, []Record{tell(kind.Barrier, "Barrier", 0, two), tell(kind.Allgather, "Allgather", 0, two)}, class.Other, "rank 0 calls Barrier, rank 1 calls Allgather"},
		{kind.Bcast, []Record{tell(kind.Bcast, "Bcast", 1, two), tell(kind.Bcast, "Bcast", 0, two)}, class.Root, "rank 0 names root 1, rank 1 names root 0"},
		{kind.Bcast, []Record{refuses, tell(kind.Bcast, "Bcast", 0, two)}, class.Count, "rank 0: count -1"},
		{kind.Allgather, []Record{tell(kind.Allgather, "Allgather", 0, Elements{double, 3}), tell(kind.Allgather, "Allgather", 0, two)}, class.Count, "rank 0 sends " + Elements{double, 3}.String() + ", rank 1 receives " + two.String()},
		{kind.Allgather, []Record{tell(kind.Allgather, "Allgather", 0, Elements{nil, 16}), tell(kind.Allgather, "Allgather", 0, two)}, class.Success, ""},
		{kind.NeighborAllgather, []Record{{Kind: uint8(kind.NeighborAllgather)}, {Kind: uint8(kind.NeighborAllgather)}}, class.Count, "rank 0 sends nothing, rank 1 receives " + two.String()},
	} {
		f := Judge(x.kind, len(x.told)-1, x.told, func(int) (Expected, bool) {
			return Expected{Claim: Claim{Signature: two.Signature()}, Like: two}, true
		})
		if got := string(Text(f.Text[:])); class.Class(f.Class) != x.class || got != x.text {
			t.Errorf("%q of class %d, want %q of class %d", got, f.Class, x.text, x.class)
		}
	}
}
