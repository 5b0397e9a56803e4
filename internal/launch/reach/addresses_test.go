//go:build unix

package reach

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Promise S4: ranks listen on the address that the other hosts reach, and never on all addresses.
func TestListenAddress(t *testing.T) {
	lo, _, err := net.ParseCIDR("127.0.0.1/8")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ListenAddress("127.0.0.0/8", "", true, nil); err != nil || got != lo.String() {
		t.Errorf("-iface 127.0.0.0/8: %q, %v", got, err)
	}
	if _, err := ListenAddress("203.0.113.0/24", "", true, nil); err == nil || !strings.Contains(err.Error(), "no such address") {
		t.Errorf("-iface 203.0.113.0/24: %v", err)
	}
	if got, err := ListenAddress("", "203.0.113.7 4000 127.0.0.1 22", true, nil); err != nil || got != "127.0.0.1" {
		t.Errorf("as the server of ssh: %q, %v", got, err)
	}
	if got, err := ListenAddress("", "127.0.0.1 4000 203.0.113.7 22", false, nil); err != nil || got != "127.0.0.1" {
		t.Errorf("as the client of ssh: %q, %v", got, err)
	}
	// The address of another machine (a jump host) does not count, nor do words that are no addresses,
	// nor loopback addresses if there are other hosts.
	for _, sshd := range []string{"", "203.0.113.7 1 203.0.113.8 2", "a b c d", "0.0.0.0 1 0.0.0.0 2"} {
		if got, err := ListenAddress("", sshd, true, []string{"localhost"}); err == nil || !strings.Contains(err.Error(), "-iface") {
			t.Errorf("SSH_CONNECTION %q: %q, %v", sshd, got, err)
		}
	}
}

func TestHostsTryToReachEachOther(t *testing.T) {
	p, err := OpenProbe("127.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	closed, err := OpenProbe("127.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	failures := TryAll([]Target{{"a", p.Addr}, {"b", closed.Addr}})
	if len(failures) != 1 || !strings.HasPrefix(failures[0], "b at "+closed.Addr+" (tcp: ") || !strings.Contains(failures[0], "refused") {
		t.Errorf("%q", failures)
	}
	all := []Target{{"a", "1"}, {"b", "2"}, {"c", ""}, {"d", "4"}}
	if got, want := Others(all, 1), []Target{{"d", "4"}, {"a", "1"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	many := make([]Target, 64)
	tried := make([]int, len(many))
	for i := range many {
		many[i] = Target{fmt.Sprint(i), "x"}
	}
	for i := range many {
		list := Others(many, i)
		if len(list) != 6 {
			t.Fatalf("host %d tries %v", i, list)
		}
		for _, x := range list {
			k, _ := strconv.Atoi(x.Name)
			tried[k]++
		}
	}
	if want := slices.Repeat([]int{6}, len(many)); !slices.Equal(tried, want) {
		t.Errorf("hosts are tried by %v", tried)
	}
	if got := Others(make([]Target, 100), 3); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestWhichHostsAreThisOne(t *testing.T) {
	local := AreLocal([]string{"localhost", "LOCALHOST", "127.0.0.1", "::1", "me@localhost", "203.0.113.1", "no-such-host.invalid"})
	for name, want := range map[string]bool{"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "::1": true,
		"me@localhost": false, "203.0.113.1": false, "no-such-host.invalid": false} {
		if local[name] != want {
			t.Errorf("%s is this host: %v", name, local[name])
		}
	}
}

// A name that DNS does not know belongs to this host if it begins with its name.
func TestOwnNameNeedsNoDNS(t *testing.T) {
	for name, want := range map[string]bool{"job-launcher.job.test.invalid": true, "job-worker-0.job.test.invalid": false, "launcher.invalid": false} {
		if got := isLocal(context.Background(), name, "job-launcher", nil); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
