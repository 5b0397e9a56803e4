package engine

import (
	"fmt"
	"strings"
	"testing"
)

// The list of nodes of each version of a server is understood, and nonsense is an error.
func TestXLCH01_Mappings(t *testing.T) {
	for _, x := range []struct {
		value string
		size  int
		want  string // the nodes, "" for an error
	}{
		{"(vector,(0,1,4))", 4, "[0 0 0 0]"},
		{"(vector,(0,2,2))", 4, "[0 0 1 1]"},
		{"(vector,(0,2,1))", 5, "[0 1 0 1 0]"},
		{"(vector,(0,1,2),(1,1,1))", 3, "[0 0 1]"},
		{"(vector,[(0,2,1)]x2)", 4, "[0 1 0 1]"},
		{"(vector,[(0,1,1),(1,1,2)]x2)", 6, "[0 1 1 0 1 1]"},
		{"(vector,[[(0,1,1)]x2,(1,1,1)]x2)", 6, "[0 0 1 0 0 1]"},
		{"(vector,(3,1,1),(1,1,1))", 4, "[0 1 0 1]"},
		{"", 2, "[]"},
		{"(vector)", 2, ""},
		{"(vector,)", 2, ""},
		{"(vector,(0,1,1)", 2, ""},
		{"(vector,(0,1,1)),", 2, ""},
		{"(vector,(0,1,1)(1,1,1))", 2, ""},
		{"(vector,(0,0,1))", 2, ""},
		{"(vector,(0,1,0))", 2, ""},
		{"(vector,(-1,1,1))", 2, ""},
		{"(vector,(0,1,99999999))", 2, ""},
		{"(vector,[(0,1,1)]x0)", 2, ""},
		{"(vector,[(0,1,1)]x)", 2, ""},
		{"(vector,[(0,1,1)x2)", 2, ""},
		{"(vector,[(0,1,1)]x65536)", 2, "[0 0]"},
		{"(vector,[[(0,1,1)]x65536]x2)", 2, ""},
		{"(vector,[(0,1,1)]x65536,[(0,1,1)]x2)", 2, ""},
		{"(vector,[(0,1,1)]x65536,(0,1,1))", 2, ""},
		{"(map,(0,1,1))", 2, ""},
	} {
		nodes, err := ParseMapping(x.value, x.size)
		if got := fmt.Sprint(nodes); (err == nil) != (x.want != "") || err == nil && got != x.want {
			t.Errorf("%s for %d: %v, %v", x.value, x.size, nodes, err)
		}
	}
}

// FuzzMapping: no value makes the parser panic, or take long, and a result has a node for each rank.
func FuzzMapping(f *testing.F) {
	for _, v := range []string{"(vector,(0,2,2))", "(vector,[(0,2,1)]x2)", "(vector,[[(0,1,1)]x2,(1,1,1)]x2)"} {
		f.Add(v, 4)
	}
	f.Fuzz(func(t *testing.T, value string, size int) {
		size = max(1, min(size, 100))
		nodes, err := ParseMapping(value, size)
		if err == nil && nodes != nil && len(nodes) != size {
			t.Errorf("%d nodes for %d ranks", len(nodes), size)
		}
	})
}

// Only text that all engines store as it is may be stored.
func TestXLCH01_Alphabet(t *testing.T) {
	if err := CheckValue("aZ09_.:,-"); err != nil {
		t.Error(err)
	}
	for _, v := range []string{"", " ", "a;b", "a=b", "a\nb", "ä", "[::1]", "a/b", strings.Repeat("x", MaxValue+1)} {
		if CheckValue(v) == nil {
			t.Errorf("value %.20q", v)
		}
	}
	for _, k := range []string{"", "a b", "PMI_x", strings.Repeat("x", MaxKey+1)} {
		if CheckKey(k) == nil {
			t.Errorf("key %.20q", k)
		}
	}
	if got := Printable("a b;ä" + strings.Repeat("x", 100)); CheckKey(got) != nil || !strings.HasPrefix(got, "a-b-") {
		t.Errorf("%q", got)
	}
}
