package address

import (
	"net/netip"
	"slices"
	"testing"
)

// addressTexts returns valid and invalid texts of addresses.
func addressTexts() []string {
	return []string{
		"127.0.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "239.1.2.3", "240.0.0.1", "223.255.255.255", "10.0.0.300",
		"1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", ".1.2.3", "1.2.3.-4", "1.2.3.+4", "1.2.3.0x4", "1.2.3.4 ", "", "host",
		"::", "::1", "1::", "fe80::1", "ff02::1", "fd00:1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
		"1::2::3", "1:::2", ":1", "1:", ":", "::g", "::12345", "::00001", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8",
		"2001:db8::ffff:0:1", "ABCD::Ef01", "::-1", "::+1", "::1 ",
	}
}

// Parse gives the same result as package netip, except that it refuses zones and embedded
// IPv4 addresses.
func compareAddress(t *testing.T, text string) {
	a, err := Parse(text)
	want, bad := netip.ParseAddr(text)
	if err == nil && (bad != nil || !slices.Equal(a, want.AsSlice()) || a.Unspecified() != want.IsUnspecified() || a.Multicast() != want.IsMulticast()) {
		t.Errorf("%q: %v, want %v (%v)", text, a, want, bad)
	}
	if err != nil && bad == nil && want.Zone() == "" && (want.Is4() || !slices.Contains([]byte(text), '.')) {
		t.Errorf("%q: %v, want %v", text, err, want)
	}
	if err != nil || want.Is4In6() {
		return
	}
	for _, port := range []int{0, 1, 65535} {
		at := netip.AddrPortFrom(want, uint16(port)).String()
		b, p, err := Split(at)
		if err != nil || p != port || !slices.Equal(a, b) {
			t.Errorf("%s: %v port %d, %v", at, b, p, err)
		}
		if joined := Join(want.String(), port); joined != at {
			t.Errorf("joined to %s, want %s", joined, at)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, text := range addressTexts() {
		compareAddress(t, text)
	}
	for _, text := range []string{"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:x", "[::1]", "::1]:80x"} {
		if a, port, err := Split(text); err == nil {
			t.Errorf("%q: %v port %d", text, a, port)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, text := range addressTexts() {
		f.Add(text)
	}
	f.Fuzz(compareAddress)
}
