package leftover

import (
	"fmt"
	"strings"
	"testing"
)

// What is left is counted by place, in one order, and the list is bounded.
func TestListCountsAndIsBounded(t *testing.T) {
	var l List
	if text := l.Text(0); text != "" {
		t.Errorf("nothing is left, and the list is %q", text)
	}
	for i := range 40 {
		for range i + 1 {
			l.Add("waited for", "request", "Isend", fmt.Sprintf("main.go:%02d", i))
		}
	}
	l.Add("freed", "window", "", "main.go:99")
	text := l.Text(3)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	want := map[int]string{
		0:        "halo: rank 3: never freed: 1 window, made at main.go:99",
		1:        "halo: rank 3: never waited for: 1 request of Isend, made at main.go:00",
		2:        "halo: rank 3: never waited for: 2 requests of Isend, made at main.go:01",
		linesMax: "halo: rank 3: and 630 more, made at 21 other places",
	}
	if len(lines) != linesMax+1 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for i, x := range want {
		if lines[i] != x {
			t.Errorf("line %d is %q, want %q", i, lines[i], x)
		}
	}
}
