package choice_test

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/coll/choice"
)

// FromEnv accepts the value that a tunable shows, and the tunable then has the same value.
func TestTunablesReadWhatTheyShow(t *testing.T) {
	env, defaults := map[string]string{}, choice.Defaults()
	for _, tu := range choice.Tunables() {
		env[tu.Env()] = tu.Value(&defaults)
	}
	c, err := choice.FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for _, tu := range choice.Tunables() {
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
		_, err := choice.FromEnv(func(name string) string {
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
