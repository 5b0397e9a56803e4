package address

import (
	"fmt"
	"strconv"
	"strings"
)

// IP is an IP address of 4 or 16 bytes.
type IP []byte

// Parse parses an IP address in the form that launchers write. It accepts neither zones nor
// IPv6 addresses with an embedded IPv4 address.
func Parse(text string) (IP, error) {
	if !strings.Contains(text, ":") {
		if a := fields(text, ".", 10, 255, 1); len(a) == 4 {
			return a, nil
		}
		return nil, fmt.Errorf("%q is no IP address", text)
	}
	head, tail, gap := strings.Cut(text, "::")
	a, b := fields(head, ":", 16, 0xffff, 2), fields(tail, ":", 16, 0xffff, 2)
	zeros := 16 - len(a) - len(b)
	if (a == nil && head != "") || (b == nil && tail != "") || gap != (zeros > 0) || zeros < 0 {
		return nil, fmt.Errorf("%q is no IP address", text)
	}
	return append(append(a, make([]byte, zeros)...), b...), nil
}

// fields parses numbers of one or two bytes between separators; nil if one is not a number.
func fields(text, separator string, base int, most uint64, size int) (b []byte) {
	for field := range strings.SplitSeq(text, separator) {
		n, err := strconv.ParseUint(field, base, 16)
		if err != nil || n > most || len(field) > 4 || base == 10 && len(field) > 1 && field[0] == '0' {
			return nil
		}
		if size == 2 {
			b = append(b, byte(n>>8))
		}
		b = append(b, byte(n))
	}
	return b
}

// Unspecified reports whether a is the address of all interfaces.
func (a IP) Unspecified() bool { return strings.Trim(string(a), "\x00") == "" }

// Multicast reports whether a is the address of a group of hosts.
func (a IP) Multicast() bool {
	return len(a) == 4 && a[0]>>4 == 0xe || len(a) == 16 && a[0] == 0xff
}

// Join returns the text of an address and a port; Split is its inverse.
func Join(host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// Split returns the address and the port of a text from Join.
func Split(text string) (a IP, port int, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return nil, 0, fmt.Errorf("%q has no port", text)
	}
	n, err := strconv.ParseUint(text[at+1:], 10, 16)
	if err != nil {
		return nil, 0, fmt.Errorf("the port of %q: %w", text, err)
	}
	host := text[:at]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	a, err = Parse(host)
	return a, int(n), err
}

// Loopback reports whether only processes of the same host reach a.
func (a IP) Loopback() bool {
	return len(a) == 4 && a[0] == 127 || len(a) == 16 && a[15] == 1 && IP(a[:15]).Unspecified()
}

// String returns the text of an address, as Parse accepts it. It does not shorten an IPv6 address.
func (a IP) String() string {
	var parts []string
	if len(a) == 4 {
		for _, b := range a {
			parts = append(parts, strconv.Itoa(int(b)))
		}
		return strings.Join(parts, ".")
	}
	for i := 0; i+1 < len(a); i += 2 {
		parts = append(parts, strconv.FormatUint(uint64(a[i])<<8|uint64(a[i+1]), 16))
	}
	return strings.Join(parts, ":")
}

// A Network is the addresses that begin with the same bits.
type Network struct {
	ip   IP
	bits int
}

// ParseNetwork parses a network, such as 10.1.0.0/16.
func ParseNetwork(text string) (Network, error) {
	head, tail, _ := strings.Cut(text, "/")
	ip, err := Parse(head)
	if err != nil {
		return Network{}, err
	}
	bits, err := strconv.ParseUint(tail, 10, 16)
	if err != nil || int(bits) > 8*len(ip) {
		return Network{}, fmt.Errorf("%q is no network: want ADDRESS/BITS", text)
	}
	return Network{ip, int(bits)}, nil
}

// Contains reports whether an address is in the network.
func (n Network) Contains(a IP) bool {
	if len(a) != len(n.ip) {
		return false
	}
	for i := range n.bits {
		if (a[i/8]^n.ip[i/8])>>(7-i%8)&1 != 0 {
			return false
		}
	}
	return true
}
