package joined

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/sys"
)

// envInterface is the environment variable that names the interface, or the network as address/bits, on
// which processes of different nodes communicate.
const envInterface = "HALO_IFACE"

// listenAddress returns the address on which the processes of this node listen, as text. In this order it
// is the address that HALO_IFACE names, the one from which packets to a host of the engine come, or the
// first one that is not loopback; IPv4 before IPv6. In a job on one machine that pretends to be several
// nodes it may be loopback, if there is no other.
func listenAddress(iface, engineHost string) (string, error) {
	own, err := sys.Addresses()
	if err != nil {
		return "", fmt.Errorf("the addresses of this host: %w", err)
	}
	if iface != "" {
		return onInterface(iface, own)
	}
	if ip, err := address.Parse(engineHost); err == nil {
		if source, err := sys.SourceOf(ip); err == nil && isOf(own, source) {
			return address.IP(source).String(), nil
		}
	}
	if a := best(own); a != nil {
		return address.IP(a).String(), nil
	}
	return "127.0.0.1", nil
}

// best returns the first IPv4 address, else the first IPv6 address, nil if there is none.
func best(list []sys.InterfaceAddress) []byte {
	for _, size := range []int{4, 16} {
		for _, a := range list {
			if len(a.IP) == size {
				return a.IP
			}
		}
	}
	return nil
}

func isOf(list []sys.InterfaceAddress, ip []byte) bool {
	for _, a := range list {
		if bytes.Equal(a.IP, ip) {
			return true
		}
	}
	return false
}

// onInterface returns the address on an interface or in a network.
func onInterface(iface string, own []sys.InterfaceAddress) (string, error) {
	var on []sys.InterfaceAddress
	network, notNetwork := address.ParseNetwork(iface)
	var have []string
	for _, a := range own {
		if notNetwork == nil && network.Contains(a.IP) || a.Name == iface {
			on = append(on, a)
		}
		have = append(have, a.Name+" "+address.IP(a.IP).String())
	}
	if a := best(on); a != nil {
		return address.IP(a).String(), nil
	}
	return "", fmt.Errorf("%s=%s: this host has no such address; it has %s", envInterface, iface, strings.Join(have, ", "))
}
