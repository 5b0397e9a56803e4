package file_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/world"
)

// A file says which way each kind of access takes, and why: once, collective ones at rank 0 (IO-01).
func TestIO01_ChoicesAreTold(t *testing.T) {
	defer awake(t)()
	for _, fabric := range fabrics() {
		path := filepath.Join(t.TempDir(), "file")
		through := "memory of the node"
		if fabric == "tcp" {
			through = "messages"
		}
		var mu sync.Mutex
		var told []string
		err := world.RunGoroutines(fabric, 2, func(w *world.World) error {
			f, err := w.File.Open(w.Comm, path, file.ReadWrite|file.Create, dtype.Predefined().Named("MPI_BYTE"), file.DefaultHints(), nil)
			if err != nil {
				return err
			}
			f.Report(func(line string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, line)
			})
			err = interleave(w, f)
			data := file.Data{Mem: mem.Of(bytes.Repeat([]byte{1}, share))}
			all := func(d file.Direction, choice file.Choice) {
				h := f.Hints()
				h.CbWrite, h.CbRead = choice, choice
				f.SetHints(h)
				for range 2 {
					_, one := f.DoAll(d, 0, data, call.FileReadAtAll)
					err = errors.Join(err, one)
				}
			}
			all(file.Write, file.Automatic)
			all(file.Write, file.Disable)
			all(file.Read, file.Enable)
			all(file.Read, file.Disable)
			err = errors.Join(err, f.SetAtomicity(true))
			all(file.Write, file.Enable)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"collective reads are made by each member for itself: the hints say so",
			"collective reads go through 2 of 2 members by " + through + " (domains of 8 KiB, rounds: 1): the hints say so",
			"collective writes are made by each member for itself: the file is in atomic mode",
			"collective writes are made by each member for itself: the hints say so",
			"collective writes go through 2 of 2 members by " + through + " (domains of 8 KiB, rounds: 1): the parts interleave, with runs of 1000 bytes, less than 8 KiB",
			"reads of rank 0 read 5 runs at once, of 1000 bytes on average, with the holes: these are short",
			"reads of rank 1 read 5 runs at once, of 1000 bytes on average, with the holes: these are short",
			"writes of rank 0 make a system call for each run, of 1000 bytes on average: holes are not written",
			"writes of rank 1 make a system call for each run, of 1000 bytes on average: holes are not written",
		}
		for i := range want {
			want[i] = path + ": " + want[i]
		}
		slices.Sort(told)
		if !slices.Equal(told, want) {
			t.Errorf("over %s a file tells %q, want %q", fabric, told, want)
		}
	}
}

// Interleaved accesses of few short runs that are far apart go through no aggregators, which would pass through all of
// the file between them (IO-01).
func TestIO01_FewRunsFarApart(t *testing.T) {
	defer awake(t)()
	const far, length, runs = 1 << 30, 100, 20
	for _, fabric := range fabrics() {
		path := filepath.Join(t.TempDir(), "file")
		var mu sync.Mutex
		var told []string
		err := world.RunGoroutines(fabric, 2, func(w *world.World) error {
			b, rank := dtype.Predefined().Named("MPI_BYTE"), w.Comm.Rank
			f, err := w.File.Open(w.Comm, path, file.ReadWrite|file.Create, b, file.DefaultHints(), nil)
			if err != nil {
				return err
			}
			f.Report(func(line string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, line)
			})
			filetype, err := dtype.Vector(runs, length, far, b)
			if err != nil {
				return err
			}
			filetype.Commit()
			v, err := f.NewView(int64(rank*far/2), b, filetype, file.Native, nil)
			err = f.SetView(v, err)
			mine, got := bytes.Repeat([]byte{byte(rank + 1)}, runs*length), make([]byte, runs*length)
			_, wrote := f.DoAll(file.Write, 0, file.Data{Mem: mem.Of(mine)}, call.FileWriteAtAll)
			_, read := f.DoAll(file.Read, 0, file.Data{Mem: mem.Of(got)}, call.FileReadAtAll)
			if !bytes.Equal(got, mine) {
				err = errors.Join(err, errors.New("what is read is not what was written"))
			}
			return errors.Join(err, wrote, read, f.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{"reads", "writes"} {
			if want := path + ": collective " + d + " are made by each member for itself: the parts interleave, but with 40 runs in 4994 domains of aggregators"; !slices.Contains(told, want) {
				t.Errorf("over %s a file tells %q, and not %q", fabric, told, want)
			}
		}
	}
}
