//go:build linux

package reach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/launch/plan"
)

// S5: pieces of a program that an agent has not asked for, or that are too short, are errors.
func TestPushedPieces(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var asked [][2]int64
	start := func(files ...plan.PushedFile) *Fetch {
		t.Helper()
		asked = nil
		f, err := NewFetch("test", files, func(string) {}, func(index int, offset int64) { asked = append(asked, [2]int64{int64(index), offset}) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Remove)
		return f
	}
	f := start(plan.PushedFile{Path: "/x/a", Size: pushPiece + 1}, plan.PushedFile{Path: "/y/a", Size: 3})
	if len(asked) != 3 || asked[1] != [2]int64{0, pushPiece} || asked[2] != [2]int64{1, 0} {
		t.Errorf("asked for %v", asked)
	}
	for i, n := range []int{pushPiece, 1, 3} {
		if done, err := f.Take(make([]byte, n)); err != nil || done != (i == 2) {
			t.Errorf("piece %d: %v, %v", i, done, err)
		}
	}
	apps := []plan.App{{File: "/y/a"}, {File: "/x/a"}}
	f.Use(apps)
	if filepath.Base(apps[0].File) != "1-a" || filepath.Base(apps[1].File) != "0-a" {
		t.Errorf("programs are %v", apps)
	}
	if info, err := os.Stat(apps[1].File); err != nil || info.Size() != pushPiece+1 || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := f.Take([]byte{1}); err == nil || !strings.Contains(err.Error(), "without request") {
		t.Error(err)
	}
	f.Remove()
	f = start(plan.PushedFile{Path: "/x/a", Size: 10})
	if _, err := f.Take(nil); err == nil || !strings.Contains(err.Error(), "/x/a cannot be read any more, or has changed") {
		t.Error(err)
	}
}
