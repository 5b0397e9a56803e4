//go:build unix

package launch

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/plan"
)

// HALO_SSH_TIMEOUT gives hosts more time, unless the option does.
func TestHostsHaveTheTimeOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		variable, line string
		want           time.Duration
	}{
		{"90", "p", 90 * time.Second},
		{"2m", "-ssh-timeout 3 p", 3 * time.Second},
		{"", "p", reachTimeout},
		{"", "-await-hosts p", awaitTimeout},
		{"1h", "-await-hosts p", time.Hour},
	} {
		t.Setenv("HALO_SSH_TIMEOUT", c.variable)
		got, err := plan.Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if limit := (&job{spec: got}).reachLimit(); limit != c.want {
			t.Errorf("HALO_SSH_TIMEOUT=%s, %q: hosts have %v, want %v", c.variable, c.line, limit, c.want)
		}
	}
	for _, bad := range []string{"soon", "0", "-1"} {
		t.Setenv("HALO_SSH_TIMEOUT", bad)
		if _, err := plan.Parse([]string{"p"}); err == nil || !strings.Contains(err.Error(), "HALO_SSH_TIMEOUT: "+strconv.Quote(bad)) {
			t.Errorf("got %v for the time %q", err, bad)
		}
	}
}
