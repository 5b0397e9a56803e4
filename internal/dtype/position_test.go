package dtype_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
)

// Positions and offsets of a view are inverse to each other, for random types whose displacements
// ascend: the position of every offset is that of the first byte there or after it (IO-03, IO-23).
func TestIO03_PositionIsTheInverseOfRuns(t *testing.T) {
	set := dtype.Predefined()
	tested := 0
	for seed := uint64(1); tested < 300; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		s := dtypetest.Generator{}.Spec(r, 1+int(seed%5))
		m := s.Typemap(set, tooLong)
		if m == nil || m.Size() == 0 || m.Extent() <= 0 || len(m.Entries) > tooLong/4 {
			continue
		}
		typ, err := s.Build(set)
		if err != nil {
			t.Fatal(err)
		}
		typ.Commit()
		if ascends := typ.Ascends() == nil && typ.Tiles(); ascends && typ.Overlaps(2) {
			continue
		} else if want := ascending(m.Times(2).Offsets()); ascends != want {
			t.Fatalf("seed %d: type %v ascends: %v, want %v; offsets %v", seed, typ, ascends, want, m.Offsets())
		} else if !ascends {
			continue
		}
		tested++
		b, err := dtype.Tile(typ)
		if err != nil {
			t.Fatal(err)
		}
		offsets := m.Times(4).Offsets()
		at := int64(0)
		for off := int64(0); off <= offsets[len(offsets)-1]; off++ {
			for offsets[at] < off {
				at++
			}
			if got := b.Position(off); got != at {
				t.Fatalf("seed %d: type %v: position of offset %d is %d, want %d", seed, typ, off, got, at)
			}
		}
		// Far away, where no list of runs could reach.
		far := b.Size()/2 - r.Int64N(1000)
		var runs [1]dtype.Run
		if n, _ := b.Runs(runs[:], far, 1); n != 1 || b.Position(runs[0].Off) != far {
			t.Fatalf("seed %d: type %v: position %d is at %v, which is position %d", seed, typ, far, runs, b.Position(runs[0].Off))
		}
	}
}

// At the end of 64 bits the distance to a displacement that is negative has more bits (IO-03).
func TestIO03_PositionsAtTheEndOf64Bits(t *testing.T) {
	number := dtype.Predefined().Type(dtype.Double)
	inner, err := dtype.Struct([]int64{3, 3}, []int64{2, 128}, []*dtype.Type{number, number})
	if err != nil {
		t.Fatal(err)
	}
	block, err := dtype.IndexedBlock(1, []int64{1, 2, 3, 7}, inner)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := dtype.Hindexed([]int64{2}, []int64{-144}, block)
	if err != nil {
		t.Fatal(err)
	}
	typ.Commit()
	b, err := dtype.Tile(typ)
	if err != nil {
		t.Fatal(err)
	}
	var runs [1]dtype.Run
	for _, end := range []int64{math.MaxInt64, math.MaxInt64 - 13, math.MaxInt64 - 150, math.MaxInt64 - 100_000} {
		p := b.Position(end)
		if n, _ := b.Runs(runs[:], max(p-1, 0), 1); n != 1 || p == 0 || runs[0].Off >= end {
			t.Errorf("the position of offset %d is %d of %d, and the one before is at %v", end, p, b.Size(), runs[:n])
		}
		if n, _ := b.Runs(runs[:], p, 1); n == 1 && runs[0].Off < end {
			t.Errorf("the position of offset %d is %d of %d, which is at %v", end, p, b.Size(), runs[:n])
		}
	}
}

// ascending reports whether bytes come one after the other in the file.
func ascending(offsets []int64) bool {
	for i, o := range offsets {
		if o < 0 || i > 0 && o <= offsets[i-1] {
			return false
		}
	}
	return true
}

// The first bytes of the form of an element in a file consist in as many basic elements as fit into them, one
// after the other (IO-16, IO-17): random types, with basic types of other sizes in the file.
func TestIO16_IO17_ElementsWithinAFile(t *testing.T) {
	set := dtype.Predefined()
	raw := set.Type(dtype.Byte)
	inFile := func(basic int64) int64 { return 3*basic + 1 }
	// Pairs are one basic type of the file, and two elements of the typemap.
	basics := slices.DeleteFunc(dtypetest.AllSizes(), func(id dtype.ID) bool { return id == dtype.DoubleInt || id == dtype.ShortInt })
	tested := 0
	for seed := uint64(1); tested < 300; seed++ {
		r := rand.New(rand.NewPCG(seed, 4))
		s := dtypetest.Generator{Basics: basics}.Spec(r, 1+int(seed%5))
		m := s.Typemap(set, tooLong)
		if m == nil || len(m.Entries) == 0 || len(m.Entries) > 1000 {
			continue
		}
		tested++
		typ, err := s.Build(set)
		if err != nil {
			t.Fatal(err)
		}
		form, err := typ.InFile(raw, func(basic *dtype.Type) (int64, error) { return inFile(basic.Size()), nil })
		if err != nil {
			t.Fatal(err)
		}
		elements, bytes, end := int64(0), int64(0), int64(0)
		for _, e := range m.Entries {
			size := e.Elem.Size
			for n := end; n < end+inFile(size); n++ {
				if k, b := typ.Within(form, n); k != elements || b != bytes {
					t.Fatalf("seed %d: type %v: %d bytes of %d in the file are %d elements of %d bytes, want %d of %d", seed, typ, n, form.Size(), k, b, elements, bytes)
				}
			}
			end += inFile(size)
			elements++
			bytes += size
		}
		if k, b := typ.Within(form, end); k != elements || b != bytes || end != form.Size() {
			t.Fatalf("seed %d: type %v: all %d bytes in the file are %d elements of %d bytes, want %d of %d", seed, typ, end, k, b, elements, bytes)
		}
	}
}
