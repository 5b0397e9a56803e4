package address

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// asked returns the name and the type in a question.
func asked(packet []byte) (name string, kind uint16) {
	b := packet[12:]
	var labels []string
	for b[0] != 0 {
		labels = append(labels, string(b[1:1+b[0]]))
		b = b[1+b[0]:]
	}
	return strings.Join(labels, "."), binary.BigEndian.Uint16(b[1:])
}

// reply returns an answer with records; nil: there is no such name.
func reply(packet []byte, kind uint16, records ...IP) []byte {
	b := append([]byte(nil), packet...)
	b[2] |= 0x80
	if records == nil {
		b[3] |= 3
	}
	binary.BigEndian.PutUint16(b[6:], uint16(len(records)+1))
	b = append(b, 0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12) // another name of the host
	for _, r := range records {
		b = append(b, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 9, 0, byte(len(r)))
		b = append(b, r...)
	}
	return b
}

// A name is looked up with the suffixes of the host, at the servers in their order, IPv4 before IPv6.
func TestXLCH01_NamesByDNS(t *testing.T) {
	table := map[string]IP{"job-0.workers.ns.svc 1": {10, 0, 0, 7}, "six 28": {0: 0xfd, 15: 9}, "both 1": {1, 2, 3, 4}, "both 28": {15: 1}}
	r := &resolver{servers: []IP{{9, 9, 9, 9}, {8, 8, 8, 8}}, search: []string{"ns.svc", "svc"}, dots: 5, ask: func(server IP, packet []byte) ([]byte, error) {
		if server[0] == 9 {
			return nil, errors.New("it is down")
		}
		name, kind := asked(packet)
		if ip, ok := table[fmt.Sprint(name, " ", kind)]; ok {
			return reply(packet, kind, ip), nil
		}
		if _, ok := table[name+" 28"]; ok {
			return reply(packet, kind, []IP{}...), nil
		}
		return reply(packet, kind), nil
	}}
	for name, want := range map[string]string{"job-0.workers": "10.0.0.7", "six": "fd00:0:0:0:0:0:0:9", "both": "1.2.3.4", "job-0.workers.ns.svc.": "10.0.0.7"} {
		if ip, err := r.lookup(name); err != nil || ip.String() != want {
			t.Errorf("%s: %v, %v, want %s", name, ip, err, want)
		}
	}
	if ip, err := r.lookup("nobody"); !errors.Is(err, errNoName) {
		t.Errorf("a name that does not exist: %v, %v", ip, err)
	}
	for _, name := range []string{"a..b", strings.Repeat("x", 64), strings.Repeat("x.", 200) + "x"} {
		if ip, err := r.lookup(name); err == nil {
			t.Errorf("%.20s: %v", name, ip)
		}
	}
	r.servers = r.servers[:1]
	if _, err := r.lookup("six"); err == nil || !strings.Contains(err.Error(), "9.9.9.9: it is down") {
		t.Errorf("no server answers: %v", err)
	}
	r.servers = nil
	if _, err := r.lookup("six"); err == nil || !strings.Contains(err.Error(), "names no server") {
		t.Errorf("no server: %v", err)
	}
}

// Addresses are their own names, and this host knows itself.
func TestXLCH01_NamesOfThisHost(t *testing.T) {
	for name, want := range map[string]string{"10.1.2.3": "10.1.2.3", "::1": "0:0:0:0:0:0:0:1", "localhost": "127.0.0.1"} {
		if ip, err := Lookup(name); err != nil || ip.String() != want {
			t.Errorf("%s: %v, %v", name, ip, err)
		}
	}
}

// FuzzAnswers: no DNS message makes the parser panic, and addresses have 4 or 16 bytes.
func FuzzAnswers(f *testing.F) {
	packet, id, _ := query("a.b", recordA)
	f.Add(reply(packet, recordA, IP{1, 2, 3, 4}), id)
	f.Add(reply(packet, recordA), id)
	f.Fuzz(func(t *testing.T, b []byte, id uint16) {
		list, _ := answers(b, id, recordA)
		for _, ip := range list {
			if len(ip) != 4 && len(ip) != 16 {
				t.Errorf("an address of %d bytes", len(ip))
			}
		}
	})
}

// A network contains the addresses that begin with its bits.
func TestNetworks(t *testing.T) {
	for _, x := range []struct {
		network, ip string
		in          bool
	}{{"10.1.0.0/16", "10.1.2.3", true}, {"10.1.0.0/16", "10.2.2.3", false}, {"10.1.2.0/23", "10.1.3.9", true}, {"10.1.2.0/23", "10.1.4.9", false},
		{"0.0.0.0/0", "1.2.3.4", true}, {"fd00::/8", "fd12::1", true}, {"fd00::/8", "10.1.2.3", false}} {
		n, err := ParseNetwork(x.network)
		if err != nil {
			t.Fatal(err)
		}
		ip, err := Parse(x.ip)
		if err != nil {
			t.Fatal(err)
		}
		if n.Contains(ip) != x.in {
			t.Errorf("%s in %s: %t", x.ip, x.network, !x.in)
		}
	}
	for _, text := range []string{"", "eth0", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/x", "10.0.0/8"} {
		if n, err := ParseNetwork(text); err == nil {
			t.Errorf("%q is %v", text, n)
		}
	}
}
