package coll

import (
	"math/rand/v2"
	"testing"
	"unicode"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// S6: whatever record a member sends, the others make a finding or none. A finding has a class
// of the standard and a printable text.
func TestS6_RecordsOfAnything(t *testing.T) {
	set := dtype.Predefined()
	double, pair := set.Type(dtype.Double), set.Type(dtype.DoubleInt)
	empty, err := dtype.Contiguous(0, double)
	if err != nil {
		t.Fatal(err)
	}
	empty.Commit()
	g := rand.New(rand.NewPCG(1, 2))
	findings := map[bool]int{}
	for range 6_000 {
		typ := []*dtype.Type{nil, double, pair, empty}[g.IntN(4)]
		s := &schedule{c: comm.New(nil, 2, 0, []int32{0, 1}), kind: Kind(g.IntN(Kinds)), agreement: &agreement{types: [2]*dtype.Type{typ, typ}}}
		if s.kind == Alltoallw {
			continue // its layouts are not slices
		}
		s.Root, s.Width, s.Send.Width, s.Recv.Width, s.unit = g.IntN(2), 8, 8, 8, 16
		s.Send.Mem, s.Recv.Mem = mem.Of(make([]byte, 32)), mem.Of(make([]byte, 32))
		s.SendCounts, s.RecvCounts = nil, nil
		s.agreement.call = s.kind.Number()
		heard := make([]byte, 2*agree.RecordSize)
		s.record(0).Encode(heard)
		s.record(0).Encode(heard[agree.RecordSize:])
		for range g.IntN(6) { // change random bytes, most of them in the fields that are compared
			heard[agree.RecordSize+[2]int{g.IntN(agree.RecordSize), g.IntN(48)}[g.IntN(2)]] = byte(g.Uint32())
		}
		s.agreement.heard = heard
		f := s.judge()
		findings[f.Class != 0]++
		if f.Class == 0 {
			continue
		}
		if agree.ClassOf(f.Class) != class.Class(f.Class) {
			t.Fatalf("a finding of class %d", f.Class)
		}
		for _, r := range string(agree.Text(f.Text[:])) {
			if !unicode.IsPrint(r) {
				t.Fatalf("a finding says %q", agree.Text(f.Text[:]))
			}
		}
	}
	if findings[true] < 500 || findings[false] < 500 {
		t.Errorf("findings: %v", findings)
	}
}
