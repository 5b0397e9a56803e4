package dtype

import "testing"

// BRD-08: loose codes, and a loose one and another, differ only if one is of integers and the other of floating-point
// numbers of its size; others differ if they are not the same.
func TestBRD08_LooseCodes(t *testing.T) {
	type kind struct {
		code Code
		size int64
	}
	var integers, floats []kind
	for _, k := range []Kind{Integer, Natural, Logical, Boolean, Character, Wide, Handle} {
		for size := int64(1); size <= 16; size *= 2 {
			integers = append(integers, kind{CodeOf(k, size, 0), size})
		}
	}
	for f := Half; f <= Quad; f++ {
		floats = append(floats, kind{CodeOf(Floating, f.size(), f), f.size()}, kind{CodeOf(Complex, 2*f.size(), f), 2 * f.size()})
	}
	all := append(append([]kind{}, integers...), floats...)
	for i, a := range all {
		if a.code.size() != a.size || a.code.Loose().size() != a.size || a.code.String() != a.code.Loose().String() {
			t.Errorf("code %#x is %v of %d bytes, its loose code %v of %d; want %d", a.code, a.code, a.code.size(), a.code.Loose(), a.code.Loose().size(), a.size)
		}
		for j, b := range all {
			if got := a.code.Differs(b.code); got != (i != j) {
				t.Errorf("%v and %v differ: %v", a.code, b.code, got)
			}
			want := (i < len(integers)) != (j < len(integers)) && a.size == b.size
			for _, got := range []bool{a.code.Loose().Differs(b.code), a.code.Differs(b.code.Loose()), a.code.Loose().Differs(b.code.Loose())} {
				if got != want {
					t.Errorf("%v and %v, one or both loose, differ: %v", a.code, b.code, got)
				}
			}
		}
		if a.code.Loose().Differs(Mixed) || Mixed.Differs(a.code.Loose()) {
			t.Errorf("%v differs from elements that match any", a.code)
		}
	}
	if Mixed.Loose() != Mixed {
		t.Error("elements that match any have a loose code of their own")
	}
}
