//go:build linux

package launch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

// Promises F1 and F4 while ranks access a file by all kinds of calls: after kill -9 of a rank or of the
// launcher at a random time nothing is left, no lock either; the file has the bytes that were written or those
// from before, and no others have changed.
func TestF1_F4_NothingIsLeftOfKilledAccesses(t *testing.T) {
	const before, block, periods = 0xee, 1000, 30 // as in testdata/hang/files.go
	n, rounds := runtime.NumCPU()+2, 5
	if testing.Short() {
		rounds = 2
	}
	path := filepath.Join(t.TempDir(), "file")
	for _, fabric := range []string{"shm", "tcp"} {
		for i := range rounds {
			if err := os.WriteFile(path, bytes.Repeat([]byte{before}, block*periods*(n+1)), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRun(t, "-n", fmt.Sprint(n), "-fabric", fabric, hangPath, "files:"+path).start()
			ranks := r.processesOf(hangPath, n)
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			if i%2 == 1 {
				r.cmd.Process.Kill()
				r.end()
				r.nothingLeft()
			} else {
				victim := ranks[rand.IntN(len(ranks))]
				syscall.Kill(victim, syscall.SIGKILL)
				r.wait(137).said(fmt.Sprintf("(pid %d", victim), "SIGKILL")
			}
			noWarden(t)
			f, err := sys.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			stop := testrun.Watch("a lock of the file is left")
			if err := f.Lock(0, 1<<40, false); err != nil {
				t.Error(err)
			}
			stop()
			f.Close()
			b, err := os.ReadFile(path)
			if err != nil || len(b) != block*periods*(n+1) {
				t.Fatalf("%d bytes, %v", len(b), err)
			}
			for k, x := range b {
				if owner := k / block % (n + 1); x != before && (owner == n || int(x) != owner+1) {
					t.Fatalf("byte %d is %#x, of rank %d", k, x, owner)
				}
			}
		}
	}
}
