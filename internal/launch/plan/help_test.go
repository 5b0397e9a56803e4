package plan

import (
	"strings"
	"testing"
)

// The help names all options, in lines of at most 80 columns.
func TestHelpNamesAllOptions(t *testing.T) {
	text := Help("halo run")
	for _, o := range options() {
		for _, name := range o.names {
			if !strings.Contains(text, "-"+name) {
				t.Errorf("help lacks -%s", name)
			}
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 {
			t.Errorf("help has a line of %d characters: %s", len(line), line)
		}
	}
}
