//go:build linux

package launch

import (
	"slices"
	"strings"
	"testing"
)

// BRD-08: -play-hosts pretends hosts on this one.
func TestPlayHosts(t *testing.T) {
	t.Parallel()
	halo(t, 0, "-play-hosts", "2", "-n", "3", "-map-by", "node", "rank", "init", "exchange", "job", "exchange", "hosts", "exchange", "finalize").quiet().printed(
		"rank 0 of 3 local [0 2] fabric shm app 0 secret true",
		"rank 1 of 3 local [1] fabric shm app 0 secret true",
		"rank 2 of 3 local [0 2] fabric shm app 0 secret true",
		"rank 0 hosts [play0 play1] host [0 1 0] listen 127.0.0.1",
		"rank 1 hosts [play0 play1] host [0 1 0] listen 127.0.0.1",
		"rank 2 hosts [play0 play1] host [0 1 0] listen 127.0.0.1")
	halo(t, 0, "-play-hosts", "3", "-n", "5", hangPath, "long").quiet()
	halo(t, 7, "-play-hosts", "2", "-n", "2", "rank", "init", "exchange", "finalize", "1@exit:7").said("rank 1", "play1", "exited with status 7")
}

func TestPlayHostsIsAChoiceOfItsOwn(t *testing.T) {
	for line, want := range map[string]string{
		"-play-hosts 2 -host a p":     "goes with none of -host",
		"-play-hosts 2 -ssh rsh p":    "goes with none of -host",
		"-play-hosts 2 -iface eth0 p": "goes with none of -host",
		"-play-hosts 0 p":             `"0" is not a number of hosts from 1 to 64`,
		"-play-hosts 65 p":            `"65" is not a number of hosts from 1 to 64`,
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	t.Setenv("HALO_RUN_AGENTS", "srun")
	t.Setenv("HALO_SSH", "rsh")
	s, err := Parse(strings.Fields("-play-hosts 2 p"))
	if err != nil || !slices.Equal(s.Hosts, []HostSlots{{"play0", 0}, {"play1", 0}}) || s.Agents != "ssh" || s.SSH[0] != "sh" {
		t.Errorf("%+v, %v", s, err)
	}
}
