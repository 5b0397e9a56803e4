//go:build !race && unix

package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// This is the short form of make faults, with some faults of different kinds that tests find at once.
// The tests pass without a fault, in the build that contains all faults.
func TestSomeFaultsAreFound(t *testing.T) {
	some := []string{"FetchedOutside", "BiasBlind", "WriterNotReaped", "DrawerPassed", "FreedTwice"}
	list := slices.DeleteFunc(faults(), func(s sought) bool { return !slices.Contains(some, s.name) })
	if len(list) != len(some) {
		t.Fatalf("%d of %d faults are there", len(list), len(some))
	}
	b := &builds{root: root, dir: t.TempDir()}
	if err := b.build(list); err != nil {
		t.Fatal(err)
	}
	if _, err := b.clean(list, 20*time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if f := b.find(s, 20*time.Minute); f.by == "" {
			t.Errorf("%s is not found: %s", s.name, f.why)
		}
	}
	if o := b.run(list[0].tests[0], "NoSuchFault", 20*time.Minute); o.err == nil || !strings.Contains(o.out, "no planted fault") {
		t.Errorf("with a fault that there is not the tests end with %v and say %s", o.err, o.out)
	}
}
