package plan

import (
	"slices"
	"strings"
	"testing"
)

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
