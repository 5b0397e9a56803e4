package address

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParsePorts(t *testing.T) {
	for text, want := range map[string]Ports{"50000-50100": {50000, 50100}, "50000:50100": {50000, 50100}, "1-65535": {1, 65535}, "7-7": {7, 7}} {
		if p, err := ParsePorts(text); err != nil || p != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "5", "5-", "-5", "9-8", "0-9", "1-65536", "a-b", "1-2-3", "1 - 2"} {
		if p, err := ParsePorts(text); err == nil || !strings.Contains(err.Error(), "is no range of ports") {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	t.Setenv(EnvPorts, "many")
	if _, err := PortsOfEnviron(); err == nil || !strings.HasPrefix(err.Error(), `HALO_PORTS: "many" is no range of ports`) {
		t.Error(err)
	}
	t.Setenv(EnvPorts, "")
	if p, err := PortsOfEnviron(); err != nil || p != (Ports{}) {
		t.Errorf("%v, %v", p, err)
	}
}

// All ports of a range are tried, each once.
func TestListenIn(t *testing.T) {
	taken := errors.New("in use")
	var tried []int
	_, err := ListenIn(Ports{100, 104}, func(port int) (int, error) {
		tried = append(tried, port)
		return 0, taken
	})
	slices.Sort(tried)
	if !errors.Is(err, taken) || !strings.Contains(err.Error(), "no port of 100-104 (HALO_PORTS) is free") || !slices.Equal(tried, []int{100, 101, 102, 103, 104}) {
		t.Errorf("%v, tried %v", err, tried)
	}
	for free := 100; free <= 104; free++ {
		got, err := ListenIn(Ports{100, 104}, func(port int) (int, error) {
			if port != free {
				return 0, taken
			}
			return port, nil
		})
		if got != free || err != nil {
			t.Errorf("%d is free: %d, %v", free, got, err)
		}
	}
	if got, err := ListenIn(Ports{}, func(port int) (int, error) { return port, nil }); got != 0 || err != nil {
		t.Errorf("any port: %d, %v", got, err)
	}
}
