package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// X-LCH-01: -host.
func TestHostLists(t *testing.T) {
	for text, want := range map[string][]HostSlots{
		"a":                      {{"a", 0}},
		"a,b:2":                  {{"a", 0}, {"b", 2}},
		"a,b,a":                  {{"a", 2}, {"b", 0}},
		"a:2,b,a:3":              {{"a", 5}, {"b", 0}},
		"a,a,a:2":                {{"a", 4}},
		"me@n-1.x.org:3":         {{"me@n-1.x.org", 3}},
		"10.0.0.1,[fd00::1]":     {{"10.0.0.1", 0}, {"fd00::1", 0}},
		"[fe80::1%eth0]:8":       {{"fe80::1%eth0", 8}},
		strings.Repeat("x", 255): {{strings.Repeat("x", 255), 0}},
	} {
		if got, err := ParseHosts(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "no name",
		"a,":                     "no name",
		"a:0":                    "1 to 65536",
		"a:x":                    "1 to 65536",
		"a:":                     "1 to 65536",
		"fd00::1":                "in brackets",
		"[fd00::1":               "closing ]",
		"[fd00::1]4":             "[ADDRESS]:SLOTS",
		"-oProxyCommand=x":       "not the name of a host",
		"me@-x":                  "not the name of a host",
		"a b":                    "not the name of a host",
		"a;b":                    "not the name of a host",
		"$(x)":                   "not the name of a host",
		"a\nb":                   "not the name of a host",
		strings.Repeat("x", 256): "256 characters",
	} {
		if got, err := ParseHosts(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, got, err, want)
		}
	}
}

// X-LCH-01: -hostfile, in the forms of Open MPI and MPICH.
func TestHostFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# two racks\n\na slots=2\n  b:3   # MPICH's form\r\nc\n\td slots = 4\na slots=1\n[fd00::1] slots=2")
	want := []HostSlots{{"a", 3}, {"b", 3}, {"c", 0}, {"d", 4}, {"fd00::1", 2}}
	if got, err := ParseHostFile(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"":                            "names no host",
		"# a\n":                       "names no host",
		"a\nb slots=x":                ":2: the number of slots is \"x\"",
		"a\n\nb slot=3":               ":3: \"b slot=3\": want NAME, NAME slots=N or NAME:N",
		"a:2 slots=3":                 ":1: \"a:2 slots=3\": want",
		"a b":                         ":1: \"a b\": want",
		"-x":                          ":1: \"-x\" is not the name",
		"a slots=99999":               ":1: the number of slots",
		strings.Repeat("h%d\n", 5000): "5000 hosts, the limit is 4096",
	} {
		if n := strings.Count(text, "%d"); n > 0 {
			numbers := make([]any, n)
			for i := range numbers {
				numbers[i] = i
			}
			text = fmt.Sprintf(text, numbers...)
		}
		write(text)
		if got, err := ParseHostFile(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%.20q: %v, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzHostLine(f *testing.F) {
	for _, s := range []string{"a slots=2", "[fd00::1]:3 # x", "a:b:c", "x@y:1", "= =", "a slots = 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := parseHostLine(line)
		if err != nil || h.Host == "" {
			return
		}
		if err := checkHostName(h.Host); err != nil || h.Slots < 0 {
			t.Fatalf("%q gave %+v, %v", line, h, err)
		}
		again := h.Host
		if strings.Contains(again, ":") {
			again = "[" + again + "]"
		}
		if h.Slots > 0 {
			again += fmt.Sprint(" slots=", h.Slots)
		}
		if g, err := parseHostLine(again); err != nil || g != h {
			t.Fatalf("%q gave %+v, and %q %+v, %v", line, h, again, g, err)
		}
	})
}

func TestPlacementOnHosts(t *testing.T) {
	hosts := func(text string) []HostSlots {
		list, err := ParseHosts(text)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, c := range []struct {
		name  string
		spec  Spec
		hosts string
		where string
	}{
		{"one host takes what comes", Spec{Hosts: hosts("a"), Blocks: []Block{{N: 5}}}, "a", "0 0 0 0 0"},
		{"equal shares", Spec{Hosts: hosts("a,b"), Blocks: []Block{{N: 5}}}, "a b", "0 0 0 1 1"},
		{"fewer ranks than hosts", Spec{Hosts: hosts("a,b,c"), Blocks: []Block{{N: 2}}}, "a b", "0 1"},
		{"slots in turn", Spec{Hosts: hosts("a:2,b:3"), Blocks: []Block{{N: 4}}}, "a b", "0 0 1 1"},
		{"a share beside slots", Spec{Hosts: hosts("a,b:2"), Blocks: []Block{{N: 5}}}, "a b", "0 0 0 1 1"},
		{"a share of nothing is one", Spec{Hosts: hosts("a,b:4"), Blocks: []Block{{N: 3}}}, "a b", "0 1 1"},
		{"by node", Spec{MapBy: "node", Hosts: hosts("a:1,b:3"), Blocks: []Block{{N: 4}}}, "a b", "0 1 1 1"},
		{"by node in turn", Spec{MapBy: "node", Hosts: hosts("a,b"), Blocks: []Block{{N: 4}}}, "a b", "0 1 0 1"},
		{"more than slots", Spec{Oversubscribe: true, Hosts: hosts("a:1,b:2"), Blocks: []Block{{N: 7}}}, "a b", "0 1 1 0 1 1 0"},
		{"blocks go on", Spec{Hosts: hosts("a:2,b:2"), Blocks: []Block{{N: 1}, {N: 3}}}, "a b", "0 0 1 1"},
		{"blocks of their own", Spec{Blocks: []Block{{N: 1, Hosts: hosts("b")}, {N: 3, Hosts: hosts("a,b")}}}, "b a", "0 1 1 0"},
		{"blocks after one of its own", Spec{Blocks: []Block{{N: 1, Hosts: hosts("a:2,b:1")}, {N: 2}}}, "a b", "0 0 1"},
	} {
		got, where, err := Place(&c.spec)
		if text := strings.Trim(fmt.Sprint(where), "[]"); err != nil || strings.Join(got, " ") != c.hosts || text != c.where {
			t.Errorf("%s: %v %v, %v; want %s, %s", c.name, got, text, err, c.hosts, c.where)
		}
	}
	_, _, err := Place(&Spec{Hosts: hosts("a:2,b:1"), Blocks: []Block{{N: 2}, {N: 2}}})
	if err == nil || !strings.Contains(err.Error(), "4 ranks, but the hosts have 3 slots (a 2, b 1)") {
		t.Errorf("4 ranks on 3 slots: %v", err)
	}
}
