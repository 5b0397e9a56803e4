package leak

import (
	"strings"
	"testing"
)

// thing is something that can be left.
type thing struct {
	name string
	make func() (end func(), err error)
	says string
}

// A leak of each kind is reported, and no longer reported when it has ended.
func TestWhatIsLeftIsTold(t *testing.T) {
	things := []thing{{"goroutine", func() (func(), error) {
		stop := make(chan struct{})
		go func() { <-stop }()
		return func() { close(stop) }, nil
	}, "goroutines, were"}}
	things = append(things, seen()...)
	for _, x := range things {
		before := Take()
		end, err := x.make()
		if err != nil {
			t.Fatal(err)
		}
		left := before.compare(Take())
		end()
		if !strings.Contains(left, x.says) {
			t.Errorf("a %s that is left is told as %q, want %q", x.name, left, x.says)
		}
		if left := before.Left(); left != "" {
			t.Errorf("a %s that has ended is left: %s", x.name, left)
		}
	}
}
