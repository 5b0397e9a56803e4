package dtype

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/sys"
)

// RaceEnabled is for the tests outside of the package.
const RaceEnabled = sys.Race

// EachMover does something with each way that this machine has to move the bytes of
// t.
func EachMover(t *Type, f func() error) error {
	for _, by := range movers() {
		t.by = by
		if err := f(); err != nil {
			return fmt.Errorf("mover %d: %w", by, err)
		}
	}
	return nil
}
