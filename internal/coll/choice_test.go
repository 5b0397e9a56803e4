package coll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/world"
)

// FromEnv accepts the value that a tunable shows, and the tunable then has the same value.
func TestTunablesReadWhatTheyShow(t *testing.T) {
	env, defaults := map[string]string{}, coll.Defaults()
	for _, tu := range coll.Tunables() {
		env[tu.Env()] = tu.Value(&defaults)
	}
	c, err := coll.FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for _, tu := range coll.Tunables() {
		if got, want := tu.Value(&c), tu.Value(&defaults); got != want {
			t.Errorf("%s: %q gives %q", tu.Env(), want, got)
		}
	}
}

// A bad value is an error that names the variable, the value and the mistake.
func TestBadTunables(t *testing.T) {
	for _, x := range []struct{ env, value, want string }{
		{"HALO_COLL_SLOT", "no", `"no" is none of auto, cells, counter, none`},
		{"HALO_COLL_BCAST", "ring", `"ring" is none of the algorithms of Bcast: binomial, chain, linear`},
		{"HALO_COLL_BCAST", "binomial:size<1k,chain", `"size<1k" is not a limit`},
		{"HALO_COLL_BCAST", "binomial:size<0,chain", `"size<0" is not a limit`},
		{"HALO_COLL_BCAST", "binomial:length<9,chain", `"length<9" is not a limit`},
		{"HALO_COLL_BCAST", "binomial,chain:ranks<9", "must stand without limits"},
		{"HALO_COLL_BCAST", "binomial,leaders:nodes", "must stand without limits"},
		{"HALO_COLL_BCAST", "leaders:nodes<3,chain", `"nodes<3" is not a limit`},
		{"HALO_COLL_ALLTOALLV", "bruck", "pairwise, direct"},
		{"HALO_OP_KERNEL", "sse", `"sse" is none of go, avx2, avx512, neon`},
	} {
		_, err := coll.FromEnv(func(name string) string {
			if name == x.env {
				return x.value
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), x.env+"="+x.value) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s=%s: %v, want %q", x.env, x.value, err, x.want)
		}
	}
}

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
				for _, a := range coll.Algorithms(k) {
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
	c := coll.Defaults()
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
		one := coll.Defaults()
		one.Force(rules[len(rules)-1].Algorithm)
		if last := one.Rules[k][0]; last != rules[len(rules)-1] {
			t.Errorf("the last rule of %v has limits: %v", coll.Kind(k), rules[len(rules)-1])
		}
	}
}
