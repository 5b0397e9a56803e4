package planted

import "testing"

func TestSomething(t *testing.T) {
	forTests()
	t.Logf("%d", "x") // reported: (*testing.common).Logf format %d has arg "x" of wrong type string (printf)
}
