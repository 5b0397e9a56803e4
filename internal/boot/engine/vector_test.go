package engine

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// The nodes of ranks are written as few triples, which the parser turns into the same nodes.
func TestFormatMapping(t *testing.T) {
	for _, x := range []struct {
		nodes []int
		want  string
	}{
		{[]int{0}, "(vector,(0,1,1))"},
		{[]int{0, 0, 0, 0}, "(vector,(0,1,4))"},
		{[]int{0, 0, 1, 1, 2, 2}, "(vector,(0,3,2))"},
		{[]int{0, 0, 1}, "(vector,(0,1,2),(1,1,1))"},
		{[]int{0, 1, 2, 0, 1, 2, 0}, "(vector,(0,3,1))"},
		{[]int{0, 0, 1, 0, 0, 1, 0, 0}, "(vector,(0,1,2),(1,1,1))"},
		{[]int{0, 0, 1, 2, 2, 1}, "(vector,(0,1,2),(1,1,1),(2,1,2),(1,1,1))"},
	} {
		if got := FormatMapping(x.nodes); got != x.want {
			t.Errorf("%v: %s, want %s", x.nodes, got, x.want)
		}
	}
	for range 2000 {
		nodes := make([]int, 1+rand.N(40))
		hosts, known := 1+rand.N(5), map[int]int{}
		for i := range nodes { // numbered in the order of their first ranks, as both sides number them
			n := rand.N(hosts)
			if _, ok := known[n]; !ok {
				known[n] = len(known)
			}
			nodes[i] = known[n]
		}
		text := FormatMapping(nodes)
		if got, err := ParseMapping(text, len(nodes)); err != nil || !reflect.DeepEqual(got, nodes) {
			t.Fatalf("%v is %s, which is %v, %v", nodes, text, got, err)
		}
	}
}
