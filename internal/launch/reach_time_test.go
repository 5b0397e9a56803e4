//go:build unix

package launch

import (
	"strconv"
	"strings"
	"testing"
	"time"
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
		t.Setenv(envReach, c.variable)
		got, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if limit := (&job{spec: got}).reachLimit(); limit != c.want {
			t.Errorf("%s=%s, %q: hosts have %v, want %v", envReach, c.variable, c.line, limit, c.want)
		}
	}
	for _, bad := range []string{"soon", "0", "-1"} {
		t.Setenv(envReach, bad)
		if _, err := Parse([]string{"p"}); err == nil || !strings.Contains(err.Error(), envReach+": "+strconv.Quote(bad)) {
			t.Errorf("got %v for the time %q", err, bad)
		}
	}
}
