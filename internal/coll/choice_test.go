package coll_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/world"
)

// The choice depends on where the members are: kinds that have an algorithm with leaders use it
// on several nodes, and only there.
func TestLeadersAreForSeveralNodes(t *testing.T) {
	const short = 8
	for _, x := range []struct {
		places  string
		leaders bool
	}{{"00", false}, {"01", false}, {"012", false}, {"001", true}, {"0101", true}, {"00012", true}} {
		run(t, "inproc@"+x.places, len(x.places), auto(), func(w *world.World) error {
			for k := range coll.Kind(coll.Kinds) {
				want := false
				for _, a := range choice.Algorithms(k) {
					want = want || x.leaders && a.Name() == "leaders"
				}
				if a := w.Coll.Chosen(w.Comm, k, short); (a.Name() == "leaders") != want {
					return fmt.Errorf("%v of ranks on %s goes by %v", k, x.places, a)
				}
			}
			return nil
		})
	}
}

// Every kind has rules, which are all of this kind, and the last rule has no limits.
func TestTableIsComplete(t *testing.T) {
	c := choice.Defaults()
	for k := range coll.Kinds {
		rules := c.Rules[k]
		if len(rules) == 0 {
			t.Fatalf("%v has no rule", coll.Kind(k))
		}
		for _, r := range rules {
			if r.Algorithm.Kind() != coll.Kind(k) {
				t.Errorf("%v is in the table of %v", r.Algorithm, coll.Kind(k))
			}
		}
		one := choice.Defaults()
		one.Force(rules[len(rules)-1].Algorithm)
		if last := one.Rules[k][0]; last != rules[len(rules)-1] {
			t.Errorf("the last rule of %v has limits: %v", coll.Kind(k), rules[len(rules)-1])
		}
	}
}
