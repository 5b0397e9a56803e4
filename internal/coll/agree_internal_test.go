package coll

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unicode"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// The lengths of the messages of an agreement, for tests that send them themselves.
const (
	RecordSize  = recordSize
	FindingSize = findingSize
)

// What records and findings are on the wire is what package encoding/binary makes of their fields.
func TestRecordsAndFindingsOnTheWire(t *testing.T) {
	random := make([]byte, recordSize+findingSize)
	g := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(g.Uint32())
	}
	clear(random[2:4]) // fields without a name
	clear(random[12:16])
	var x, wantX record
	var f, wantF finding
	for _, v := range []struct {
		b         []byte
		got, want any
		encode    func(b []byte)
		decode    func(b []byte)
	}{
		{random[:recordSize], &x, &wantX, x.encode, x.decode},
		{random[recordSize:], &f, &wantF, f.encode, f.decode},
	} {
		v.decode(v.b)
		if _, err := binary.Decode(v.b, binary.LittleEndian, v.want); err != nil {
			t.Fatal(err)
		}
		again := make([]byte, len(v.b))
		v.encode(again)
		if !bytes.Equal(again, v.b) {
			t.Errorf("%T: encoded is not what was decoded", v.got)
		}
	}
	if x != wantX || f != wantF {
		t.Error("other fields are decoded")
	}
}

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
		s.Root, s.Width, s.Send.width, s.Recv.width, s.unit = g.IntN(2), 8, 8, 8, 16
		s.Send.Mem, s.Recv.Mem = mem.Of(make([]byte, 32)), mem.Of(make([]byte, 32))
		s.SendCounts, s.RecvCounts = nil, nil
		s.agreement.call = s.kind.String()
		heard := make([]byte, 2*recordSize)
		s.record(0).encode(heard)
		s.record(0).encode(heard[recordSize:])
		for range g.IntN(6) { // change random bytes, most of them in the fields that are compared
			heard[recordSize+[2]int{g.IntN(recordSize), g.IntN(48)}[g.IntN(2)]] = byte(g.Uint32())
		}
		s.agreement.heard = heard
		f := s.judge()
		findings[f.Class != 0]++
		if f.Class == 0 {
			continue
		}
		if classOf(f.Class) != class.Class(f.Class) {
			t.Fatalf("a finding of class %d", f.Class)
		}
		for _, r := range string(text(f.Text[:])) {
			if !unicode.IsPrint(r) {
				t.Fatalf("a finding says %q", text(f.Text[:]))
			}
		}
	}
	if findings[true] < 500 || findings[false] < 500 {
		t.Errorf("findings: %v", findings)
	}
}
