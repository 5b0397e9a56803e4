package segment

import (
	"errors"
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
)

// Each rank of this host has one bell; ranks of other hosts have none here.
func TestBellsAreOfTheRanksOfTheHost(t *testing.T) {
	m := New(true, []int{2, 5}, &Notes{})
	defer m.Close()
	made := map[*os.File]bool{}
	for range 2 {
		for _, rank := range m.ranks {
			f, err := m.Segment(boot.BellFile(rank))
			if err != nil {
				t.Fatal(err)
			}
			made[f] = true
		}
	}
	if len(made) != 2 {
		t.Errorf("%d bells of 2 ranks", len(made))
	}
	for _, rank := range []int{0, 3, 6, 1 << 20} {
		if _, err := m.Segment(boot.BellFile(rank)); err == nil {
			t.Errorf("a bell of rank %d, which is not here", rank)
		}
	}
	m.shared = false
	if _, err := m.Segment(boot.BellFile(2)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a bell in a job over tcp: %v", err)
	}
}
