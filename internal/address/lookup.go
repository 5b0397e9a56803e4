package address

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The files that say how names of hosts are resolved.
const (
	hostsFile    = "/etc/hosts"
	resolverFile = "/etc/resolv.conf"
)

// Lookup returns an address of a host, by its name or its address in text: IPv4 before IPv6. Names are looked
// for in /etc/hosts, and then by the DNS servers that /etc/resolv.conf names.
func Lookup(name string) (IP, error) {
	if ip, err := Parse(name); err == nil {
		return ip, nil
	}
	if ip := inHosts(name); ip != nil {
		return ip, nil
	}
	if own, _ := os.Hostname(); strings.EqualFold(name, "localhost") || strings.EqualFold(name, own) {
		return IP{127, 0, 0, 1}, nil
	}
	ip, err := readResolver().lookup(name)
	if err != nil {
		return nil, fmt.Errorf("the name %q has no address: %w", name, err)
	}
	return ip, nil
}

// inHosts returns the first address of a name in the file of hosts, IPv4 before IPv6, nil if there is none.
func inHosts(name string) (found IP) {
	for words := range wordsOf(hostsFile) {
		for _, w := range words[1:] {
			if !strings.EqualFold(w, name) {
				continue
			}
			if ip, err := Parse(words[0]); err == nil && (found == nil || len(ip) < len(found)) {
				found = ip
			}
		}
	}
	return found
}

// wordsOf returns the words of each line of a file that is not empty. Comments begin with '#' or ';'.
func wordsOf(path string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			text, _, _ := strings.Cut(lines.Text(), "#")
			text, _, _ = strings.Cut(text, ";")
			if words := strings.Fields(text); len(words) > 0 && !yield(words) {
				return
			}
		}
	}
}

// A resolver asks DNS servers.
type resolver struct {
	servers []IP
	search  []string // suffixes of names
	dots    int      // names with fewer dots are tried with the suffixes first
	ask     func(server IP, packet []byte) ([]byte, error)
}

// readResolver returns the resolver of this host.
func readResolver() *resolver {
	r := &resolver{dots: 1, ask: ask}
	for words := range wordsOf(resolverFile) {
		switch words[0] {
		case "nameserver":
			if len(words) > 1 {
				if ip, err := Parse(words[1]); err == nil && len(r.servers) < 3 {
					r.servers = append(r.servers, ip)
				}
			}
		case "search", "domain":
			r.search = words[1:]
		case "options":
			for _, w := range words[1:] {
				fmt.Sscanf(w, "ndots:%d", &r.dots)
			}
		}
	}
	return r
}

// lookup returns an address of a name.
func (r *resolver) lookup(name string) (IP, error) {
	if len(r.servers) == 0 {
		return nil, fmt.Errorf("it is not in %s, and %s names no server", hostsFile, resolverFile)
	}
	var names []string
	for _, s := range r.search {
		names = append(names, name+"."+s)
	}
	switch {
	case strings.HasSuffix(name, "."):
		names = []string{name}
	case strings.Count(name, ".") >= r.dots:
		names = append([]string{name}, names...)
	default:
		names = append(names, name)
	}
	last := errNoName
	for _, n := range names {
		for _, kind := range []uint16{recordA, recordAAAA} {
			list, err := r.records(n, kind)
			if len(list) > 0 {
				return list[0], nil
			}
			if err != nil && !errors.Is(err, errNoName) {
				last = err
			}
		}
	}
	return nil, last
}

// records asks the servers, one after the other, until one answers.
func (r *resolver) records(name string, kind uint16) ([]IP, error) {
	packet, id, err := query(name, kind)
	if err != nil {
		return nil, err
	}
	for _, s := range r.servers {
		var b []byte
		b, err = r.ask(s, packet)
		if err != nil {
			err = fmt.Errorf("DNS server %v: %w", s, err)
			continue
		}
		var list []IP
		list, err = answers(b, id, kind)
		if err == nil || errors.Is(err, errNoName) {
			return list, err
		}
	}
	return nil, err
}
