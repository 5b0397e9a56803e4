package address

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// hostsFile lists names of hosts and their addresses.
const hostsFile = "/etc/hosts"

// Lookup returns an address of a host, by its name or its address in text.
func Lookup(name string) (IP, error) {
	if ip, err := Parse(name); err == nil {
		return ip, nil
	}
	if own, _ := os.Hostname(); strings.EqualFold(name, "localhost") || strings.EqualFold(name, own) {
		if ip := inHosts(name); ip != nil {
			return ip, nil
		}
		return IP{127, 0, 0, 1}, nil
	}
	if ip := inHosts(name); ip != nil {
		return ip, nil
	}
	return nil, fmt.Errorf("the name %q has no address in %s", name, hostsFile)
}

// inHosts returns the first address of a name in the file of hosts, IPv4 before IPv6, nil if there is none.
func inHosts(name string) (found IP) {
	f, err := os.Open(hostsFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		for i, w := range words {
			if i == 0 || !strings.EqualFold(w, name) {
				continue
			}
			if ip, err := Parse(words[0]); err == nil && (found == nil || len(ip) < len(found)) {
				found = ip
			}
		}
	}
	return found
}
