package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/world"
)

// All members take the same way in each access, whatever times they measure, and read the same. Without trials they
// would, too; a member in the other way would wait for ever. Hints decide before times do (IO-01, INF-04).
func TestIO01_MembersTakeTheSameWay(t *testing.T) {
	defer awake(t)()
	for _, fabric := range fabrics() {
		path := filepath.Join(t.TempDir(), "file")
		var mu sync.Mutex
		var told []string
		err := world.RunGoroutines(fabric, 3, func(w *world.World) error {
			random, now := rand.New(rand.NewPCG(1, uint64(w.Comm.Rank))), time.Duration(0)
			w.File.SetClock(func() time.Duration {
				now += time.Duration(random.IntN(1000))
				return now
			})
			f, err := w.File.Open(w.Comm, path, file.ReadWrite|file.Create, dtype.Predefined().Named("MPI_BYTE"), file.DefaultHints(), nil)
			if err != nil {
				return err
			}
			f.Report(func(line string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, strings.TrimPrefix(line, path+": "))
			})
			err = interleave(w, f)
			mine, got := bytes.Repeat([]byte{byte(w.Comm.Rank + 1)}, share), make([]byte, share)
			_, wrote := f.DoAll(file.Write, 0, file.Data{Mem: mem.Of(mine)}, call.FileWriteAtAll)
			err = errors.Join(err, wrote)
			read := func() {
				clear(got)
				_, one := f.DoAll(file.Read, 0, file.Data{Mem: mem.Of(got)}, call.FileReadAtAll)
				if !bytes.Equal(got, mine) {
					one = errors.Join(one, fmt.Errorf("rank %d reads what was not written", w.Comm.Rank))
				}
				err = errors.Join(err, one)
			}
			for range 20 * file.TrialsEnd {
				read()
			}
			h := f.Hints()
			for _, h.CbRead = range []file.Choice{file.Enable, file.Disable} {
				f.SetHints(h)
				read()
			}
			return errors.Join(err, f.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"both ways are tried", "trials took", "go through 3 of 3 members", "the hints say so"} {
			if !slices.ContainsFunc(told, func(line string) bool { return strings.Contains(line, want) }) {
				t.Errorf("over %s a file tells %q, nothing with %q", fabric, told, want)
			}
		}
	}
}
