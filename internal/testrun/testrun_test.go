package testrun

import (
	"runtime"
	"slices"
	"testing"
)

func TestWhatARunCovers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no shared memory")
	}
	all := []string{"inproc", "shm", "tcp", "shm@0110", "tcp@01"}
	detected, rest := []string{"inproc", "tcp", "tcp@01"}, []string{"shm", "shm@0110"}
	everything := all
	if Race {
		everything, rest = detected, detected
	}
	for _, c := range []struct {
		chosen, once string
		fabrics      []string
	}{
		{"", "", everything},
		{"", "1", rest},
		{"tcp", "", []string{"tcp", "tcp@01"}},
		{"shm,inproc", "1", []string{"inproc", "shm", "shm@0110"}},
	} {
		t.Setenv(Chosen, c.chosen)
		t.Setenv(Once, c.once)
		if got := Fabrics(all...); !slices.Equal(got, c.fabrics) {
			t.Errorf("%s=%q %s=%q: fabrics %v, want %v", Chosen, c.chosen, Once, c.once, got, c.fabrics)
		}
	}
	t.Run("PlainOnly", func(t *testing.T) {
		t.Setenv(Chosen, "")
		t.Setenv(Once, "1")
		PlainOnly(t, "it is said so")
		if got := Fabrics(all...); Race || !slices.Equal(got, all) {
			t.Errorf("fabrics %v, race detector %v; want %v without one", got, Race, all)
		}
	})
}
