package tcp

import (
	"fmt"
	"strconv"
	"strings"
)

// address is an IP address of 4 or 16 bytes. Package netip is not used: its tables are 50 KiB of
// memory in each rank in C.
type address []byte

// parseAddress parses an IP address in the form that launchers write. It accepts neither zones nor
// IPv6 addresses with an embedded IPv4 address.
func parseAddress(text string) (address, error) {
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

// unspecified and multicast report kinds of addresses that a job must not listen on.
func (a address) unspecified() bool { return strings.Trim(string(a), "\x00") == "" }
func (a address) multicast() bool {
	return len(a) == 4 && a[0]>>4 == 0xe || len(a) == 16 && a[0] == 0xff
}

// join returns the text of an address and a port; split is its inverse.
func join(host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

func split(text string) (a address, port int, err error) {
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
	a, err = parseAddress(host)
	return a, int(n), err
}
