package planted_test

import (
	"testing"

	"example.com/planted/planted"
)

func TestFromOutside(t *testing.T) {
	planted.Formats()
	t.Errorf("%d", "x") // reported: (*testing.common).Errorf format %d has arg "x" of wrong type string (printf)
}
