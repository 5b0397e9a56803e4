package address

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// EnvPorts is the environment variable with the range of TCP ports at which processes listen, such as
// 50000-50100.
const EnvPorts = "HALO_PORTS"

// Ports is a range of TCP ports. The zero value is all ports, of which the kernel chooses one.
type Ports struct{ low, high int }

// ParsePorts parses a range such as 50000-50100, or 50000:50100 as other MPIs write it.
func ParsePorts(text string) (Ports, error) {
	low, high, _ := strings.Cut(strings.Replace(text, ":", "-", 1), "-")
	var p Ports
	var err [2]error
	p.low, err[0] = strconv.Atoi(low)
	p.high, err[1] = strconv.Atoi(high)
	if err[0] != nil || err[1] != nil || p.low < 1 || p.high > 65535 || p.low > p.high {
		return Ports{}, fmt.Errorf("%q is no range of ports such as 50000-50100", text)
	}
	return p, nil
}

// PortsOfEnviron returns the range of EnvPorts.
func PortsOfEnviron() (Ports, error) {
	text := os.Getenv(EnvPorts)
	if text == "" {
		return Ports{}, nil
	}
	p, err := ParsePorts(text)
	if err != nil {
		return Ports{}, fmt.Errorf("%s: %w", EnvPorts, err)
	}
	return p, nil
}

// ListenIn calls listen with ports of the range until it succeeds, or with 0 if the range is all ports. Processes
// that start together begin at different ports.
func ListenIn[L any](p Ports, listen func(port int) (L, error)) (L, error) {
	if p == (Ports{}) {
		return listen(0)
	}
	n := p.high - p.low + 1
	var l L
	var err error
	for i := range n {
		l, err = listen(p.low + (os.Getpid()+i)%n)
		if err == nil {
			return l, nil
		}
	}
	return l, fmt.Errorf("no port of %d-%d (%s) is free: %w", p.low, p.high, EnvPorts, err)
}
