//go:build unix

package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/address"
)

// Ranks listen on one address only, by which the other hosts reach this one. In this
// order it is the address that -iface names, the one by which ssh has connected to this
// host, or the source address of packets to another host.

const (
	// resolveTime bounds the time to resolve the names of hosts.
	resolveTime = 3 * time.Second
	// dialTime bounds an attempt to reach another host over tcp.
	dialTime = 3 * time.Second
	// allPairs is the largest number of hosts of which each tries to reach each other one before the
	// ranks start. With more hosts the attempts of all would take longer than the rest of the start.
	allPairs = 16
	// MaxPeers is the largest number of other hosts whose names an agent gets, for ListenAddress.
	MaxPeers = 32
)

// ownAddresses returns the addresses of this host, each with its interface.
func ownAddresses() (map[netip.Addr]string, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	own := map[netip.Addr]string{}
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				own[p.Addr().Unmap()] = i.Name
			}
		}
	}
	return own, nil
}

// addressOn returns the address of this host on an interface, or in a network
// written as address/bits. It prefers IPv4 and ignores link-local addresses.
func addressOn(iface string) (string, error) {
	own, err := ownAddresses()
	if err != nil {
		return "", err
	}
	network, notNetwork := netip.ParsePrefix(iface)
	var best netip.Addr
	for a, name := range own {
		if notNetwork != nil && name != iface || notNetwork == nil && !network.Contains(a) || a.IsLinkLocalUnicast() {
			continue
		}
		if !best.IsValid() || a.Is4() && !best.Is4() || a.Is4() == best.Is4() && a.Less(best) {
			best = a
		}
	}
	if best.IsValid() {
		return best.String(), nil
	}
	var have []string
	for a, name := range own {
		have = append(have, fmt.Sprintf("%s %v", name, a))
	}
	return "", fmt.Errorf("-iface %s: this host has no such address; it has %s", iface, strings.Join(have, ", "))
}

// ListenAddress chooses the address on which the ranks of this host listen. The words of
// sshd are client address and port, server address and port; server says whether this host
// was the server. peers are names or addresses of other hosts.
func ListenAddress(iface, sshd string, server bool, peers []string) (string, error) {
	if iface != "" {
		return addressOn(iface)
	}
	own, err := ownAddresses()
	if err != nil {
		return "", err
	}
	if words := strings.Fields(sshd); len(words) == 4 {
		mine := words[0]
		if server {
			mine = words[2]
		}
		if a, err := netip.ParseAddr(mine); err == nil && own[a.Unmap()] != "" && !a.IsLinkLocalUnicast() {
			return a.Unmap().String(), nil
		}
	}
	err = errors.New("it knows of none")
	for _, p := range peers {
		if a := route(p); a.IsValid() && !a.IsLoopback() {
			return a.String(), nil
		}
		err = fmt.Errorf("it has no route to %s", p)
	}
	return "", fmt.Errorf("cannot tell by which address the other hosts reach this one (%v): name it by -iface", err)
}

// route returns the source address of packets to a peer. It sends no packet.
func route(peer string) netip.Addr {
	c, err := (&net.Dialer{Timeout: resolveTime}).Dial("udp", net.JoinHostPort(peer, "9"))
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	a, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}

// A Probe listens on the address of the ranks of this host before they are started, so
// that the other hosts can test whether they reach it.
type Probe struct {
	listener net.Listener
	Addr     string
}

// OpenProbe listens at an address of this host, at a port of a range, any if the range is "".
func OpenProbe(host, ports string) (*Probe, error) {
	l, err := ListenIn(ports, host)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return &Probe{l, l.Addr().String()}, nil
}

// ListenIn listens at a port of a range, any if the range is "".
func ListenIn(ports, host string) (net.Listener, error) {
	var p address.Ports
	if ports != "" {
		var err error
		p, err = address.ParsePorts(ports)
		if err != nil {
			return nil, err
		}
	}
	return address.ListenIn(p, func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	})
}

// Close ends the probe, if there is one.
func (p *Probe) Close() {
	if p != nil {
		p.listener.Close()
	}
}

// A Target is the probe of another host.
type Target struct{ Name, Addr string }

// TryAll tries to reach targets, and returns the reason for each that cannot be reached.
func TryAll(targets []Target) (failures []string) {
	errs := make([]error, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() {
			c, err := net.DialTimeout("tcp", t.Addr, dialTime)
			errs[i] = err
			if err == nil {
				c.Close()
			}
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			var op *net.OpError
			if errors.As(err, &op) { // the rest repeats the address
				err = op.Err
			}
			failures = append(failures, fmt.Sprintf("%s at %s (tcp: %v)", targets[i].Name, targets[i].Addr, err))
		}
	}
	return failures
}

// Others returns the hosts that host i tries to reach: all that follow it in the list, or with many
// hosts those at distances 1, 2, 4 and so on. Each host is then tried by as many others.
func Others(all []Target, i int) (list []Target) {
	for k, step := 1, 1; k < len(all); k += step {
		if t := all[(i+k)%len(all)]; t.Addr != "" {
			list = append(list, t)
		}
		if len(all) > allPairs {
			step = k
		}
	}
	return list
}

// AreLocal returns for each name whether it is a name of this host.
func AreLocal(names []string) map[string]bool {
	hostname, _ := os.Hostname()
	own, _ := ownAddresses()
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	local := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			here := isLocal(ctx, name, hostname, own)
			mu.Lock()
			defer mu.Unlock()
			local[name] = here
		})
	}
	all.Wait()
	return local
}

func isLocal(ctx context.Context, name, hostname string, own map[netip.Addr]string) bool {
	if strings.EqualFold(name, "localhost") || strings.EqualFold(name, hostname) {
		return true
	}
	if strings.Contains(name, "@") {
		return false // perhaps another user of this host, for which ssh is needed
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return own[a.Unmap()] != "" || a.IsLoopback()
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		// ssh may know it by another name. A name that begins with that of this host is its own, which
		// DNS does not know yet: containers are started before their names are known.
		first, _, _ := strings.Cut(name, ".")
		return strings.EqualFold(first, hostname)
	}
	for _, a := range addrs {
		if own[a.Unmap()] == "" && !a.IsLoopback() {
			return false
		}
	}
	return len(addrs) > 0
}

// CallAddresses returns the addresses by which agents reach a port of this host: that of -iface, or all that
// are no loopback, or the loopback if there is no other.
func CallAddresses(iface, port string) ([]string, error) {
	if iface != "" {
		a, err := addressOn(iface)
		return []string{net.JoinHostPort(a, port)}, err
	}
	own, err := ownAddresses()
	if err != nil {
		return nil, err
	}
	var four, six []string
	for a := range own {
		switch {
		case a.IsLoopback() || a.IsLinkLocalUnicast():
		case a.Is4():
			four = append(four, net.JoinHostPort(a.String(), port))
		default:
			six = append(six, net.JoinHostPort(a.String(), port))
		}
	}
	slices.Sort(four)
	slices.Sort(six)
	if list := append(four, six...); len(list) > 0 {
		return list, nil
	}
	return []string{net.JoinHostPort("127.0.0.1", port)}, nil
}
