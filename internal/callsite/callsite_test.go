package callsite

import (
	"fmt"
	"strings"
	"testing"
)

// BRD-08: the place of a call in C travels as an address, and becomes a line where a report is written.
func TestBRD08_PlacesTravelAsAddresses(t *testing.T) {
	files := map[uintptr]Address{1: {0x12ab, "/home/a b/solver"}, 2: {7, "/lib/" + strings.Repeat("x", Max)}}
	l := &Locator{
		File: func(pc uintptr) (Address, bool) { a, ok := files[pc]; return a, ok },
		Lines: func(list []Address) (lines []string) {
			for _, a := range list {
				lines = append(lines, fmt.Sprintf("heat.c:%d", a.Offset))
			}
			return lines
		},
	}
	for _, c := range []struct {
		at   Call
		want string
	}{
		{Call{Site: "main.go:12"}, "main.go:12"},
		{Call{PC: 1}, "heat.c:4779"},
		{Call{PC: 2}, strings.Repeat("x", Max) + "+0x7"},
		{Call{PC: 3}, "0x3"},
	} {
		text := l.Portable(&c.at)
		if c.at.PC == 1 && len(text) > Max {
			t.Errorf("%q is longer than %d", text, Max)
		}
		for _, around := range []string{"%s", "sent at %s, received", "%s and " + open, shut + "%[1]s, %[1]s"} {
			if got, want := l.Resolve(fmt.Sprintf(around, text)), fmt.Sprintf(around, c.want); got != want {
				t.Errorf("%q becomes %q, want %q", fmt.Sprintf(around, text), got, want)
			}
		}
	}
	if got := Resolve(l.Portable(&Call{PC: 1}), nil); got != "solver+0x12ab" {
		t.Errorf("without lines: %q", got)
	}
	for _, text := range []string{open + shut, open + "zz /x" + shut, open + "12" + shut, open} {
		if got := l.Resolve(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := Pair(3, "b.go:2", 1, "a.go:1"); got != ": rank 1 at a.go:1, rank 3 at b.go:2" || Pair(0, "", 1, "") != "" {
		t.Errorf("%q", got)
	}
}
