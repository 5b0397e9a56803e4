package dtype

import (
	"testing"
	"unsafe"
)

// What stands where the layout says is what the program of a type has (issue 7, section 3).
func TestDescriptorLayoutIsWhereThingsAre(t *testing.T) {
	at := map[string]int64{}
	for _, f := range DescriptorLayout() {
		if _, twice := at[f.Name]; twice {
			t.Fatalf("%s is there twice", f.Name)
		}
		at[f.Name] = f.Value
	}
	word := func(p unsafe.Pointer, name string) int64 { return *(*int64)(unsafe.Add(p, at[name])) }
	link := func(p unsafe.Pointer, name string) unsafe.Pointer {
		return *(*unsafe.Pointer)(unsafe.Add(p, at[name]))
	}
	var flag Type
	flag.Commit()
	if word := *(*uint32)(unsafe.Add(unsafe.Pointer(&flag), at["TYPE_COMMITTED"])); word != 1 {
		t.Errorf("the word of a committed type is %d", word)
	}
	*(*uint32)(unsafe.Add(unsafe.Pointer(&flag), at["TYPE_COMMITTED"])) = 0
	if flag.Committed() {
		t.Error("a type is committed though its word is 0")
	}
	n := &node{kind: pieces, off: 1, size: 2, n: 3, stride: 4, sub: &node{}, subs: []*node{{}}, offs: []int64{5}, cum: []int64{6}, lo: 7, hi: 8, runs: 9}
	x := &Type{lay: layout{size: 10, lb: 11, ub: 12}, most: 13}
	x.plain.n.Store(n)
	if p := link(unsafe.Pointer(x), "TYPE_PROGRAM"); p != unsafe.Pointer(n) {
		t.Errorf("the program is at %p, read is %p", n, p)
	}
	for name, want := range map[string]int64{"TYPE_SIZE": 10, "TYPE_LB": 11, "TYPE_UB": 12, "TYPE_MOST": 13} {
		if got := word(unsafe.Pointer(x), name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]int64{"NODE_OFF": 1, "NODE_SIZE": 2, "NODE_N": 3, "NODE_STRIDE": 4, "NODE_LO": 7, "NODE_HI": 8, "NODE_RUNS": 9} {
		if got := word(unsafe.Pointer(n), name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if k := *(*uint8)(unsafe.Add(unsafe.Pointer(n), at["NODE_KIND"])); int64(k) != at["NODE_IS_PIECES"] {
		t.Errorf("the kind is %d", k)
	}
	for name, want := range map[string]unsafe.Pointer{
		"NODE_SUB": unsafe.Pointer(n.sub), "NODE_SUBS": unsafe.Pointer(&n.subs[0]), "NODE_OFFS": unsafe.Pointer(&n.offs[0]), "NODE_CUM": unsafe.Pointer(&n.cum[0]),
	} {
		if got := link(unsafe.Pointer(n), name); got != want {
			t.Errorf("%s is %p, want %p", name, got, want)
		}
	}
}

// Those see types that they can pack and unpack, and no others (issue 7, section 3).
func TestDescriptorOfTypesThatAreSimple(t *testing.T) {
	set := Predefined()
	double := set.Type(Double)
	deep := double
	made := func(x *Type, err error) *Type {
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for k := range int64(descriptorDepth) {
		deep = made(Indexed([]int64{1, 1, 1}, []int64{0, 3 + k%2, 12}, deep))
	}
	for name, c := range map[string]struct {
		x    *Type
		seen bool
	}{
		"a predefined type": {double, true},
		"a vector":          {made(Vector(5, 1, 2, double)), true},
		"nothing":           {made(Contiguous(0, double)), false},
		"over itself":       {made(Vector(5, 2, 1, double)), false},
		"one in another":    {made(Indexed([]int64{1, 1, 1}, []int64{8, 0, 4}, double)), false},
		"deep":              {deep, false},
	} {
		if _, packs := c.x.Descriptor(); !c.x.Predefined() && packs {
			t.Errorf("%s is packed without having been committed", name)
		}
		if c.x.Commit(); c.x.plain.n.Load() == nil {
			if _, packs := c.x.Descriptor(); packs {
				t.Errorf("%s is packed without a program", name)
			}
		}
		c.x.program()
		if at, seen := c.x.Descriptor(); seen != c.seen || at != uintptr(unsafe.Pointer(c.x)) {
			t.Errorf("%s: seen %v, want %v", name, seen, c.seen)
		}
	}
}
