//go:build unix

package reach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

// With -push the programs of a job need not be on the other hosts. An agent that gets its share of the
// job makes a directory that only the user can read, asks the launcher for each program piece by
// piece, and runs the copies. It removes the directory at the end of the job, or its warden does. The agent asks,
// so that the launcher holds few pieces for each host, however slow that is.

const (
	// pushPiece is the size of a piece in bytes, and pushAhead the number of pieces that an agent has
	// asked for and not received: enough to fill a connection, since a piece takes longer than its request.
	pushPiece = 256 << 10
	pushAhead = 4
)

// Pushes returns the programs of a job, each once.
func Pushes(apps []plan.App) (list []plan.PushedFile, err error) {
	known := map[string]bool{}
	for _, a := range apps {
		if known[a.File] {
			continue
		}
		known[a.File] = true
		info, err := os.Stat(a.File)
		if err != nil {
			return nil, exit.CannotRunf("-push: %w", err)
		}
		list = append(list, plan.PushedFile{Path: a.File, Size: info.Size()})
	}
	return list, nil
}

// ReadPiece reads what an agent has asked for. It returns no bytes if the program cannot be read any more.
func ReadPiece(files []plan.PushedFile, index int, offset int64) []byte {
	if index >= len(files) || offset < 0 || offset >= files[index].Size {
		return nil
	}
	f, err := os.Open(files[index].Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, min(pushPiece, files[index].Size-offset))
	n, _ := f.ReadAt(b, offset)
	return b[:n]
}

// A Fetch is the copying of programs to the host of an agent.
type Fetch struct {
	dir   string
	files []plan.PushedFile
	index int      // of the file that is being written
	to    *os.File // nil: none
	have  int64    // bytes of it that have arrived
	// The next piece to ask for.
	askIndex  int
	askOffset int64
	ask       func(index int, offset int64)
}

// NewFetch makes the directory for copies of files. It calls warn with its path before, so that the warden removes it if this
// process cannot.
func NewFetch(id string, files []plan.PushedFile, warn func(dir string), ask func(int, int64)) (*Fetch, error) {
	f := &Fetch{dir: filepath.Join(os.TempDir(), "halo-"+id+"-push"), files: files, ask: ask}
	warn(f.dir)
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a directory for the program: %w (TMPDIR names another place)", err)
	}
	for range pushAhead {
		f.next()
	}
	return f, nil
}

// copyOf is the path of the copy of a file.
func (f *Fetch) copyOf(index int) string {
	return filepath.Join(f.dir, fmt.Sprintf("%d-%s", index, filepath.Base(f.files[index].Path)))
}

// next asks for the next piece, if there is one.
func (f *Fetch) next() {
	for f.askIndex < len(f.files) && f.askOffset >= f.files[f.askIndex].Size {
		f.askIndex, f.askOffset = f.askIndex+1, 0
	}
	if f.askIndex < len(f.files) {
		f.ask(f.askIndex, f.askOffset)
		f.askOffset += pushPiece
	}
}

// Take writes a piece. done says that all files are there.
func (f *Fetch) Take(b []byte) (done bool, err error) {
	if f.index == len(f.files) {
		return false, errors.New("the launcher sent a piece of a program without request")
	}
	file := f.files[f.index]
	if want := min(pushPiece, file.Size-f.have); int64(len(b)) != want {
		return false, fmt.Errorf("%s cannot be read any more, or has changed since the start of the job: %d bytes at %d instead of %d", file.Path, len(b), f.have, want)
	}
	if f.to == nil {
		f.to, err = os.OpenFile(f.copyOf(f.index), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
		if err != nil {
			return false, err
		}
	}
	if _, err := f.to.Write(b); err != nil {
		f.to.Close()
		return false, fmt.Errorf("cannot copy the program: %w", err)
	}
	f.next()
	f.have += int64(len(b))
	if f.have < file.Size {
		return false, nil
	}
	if err := f.to.Close(); err != nil {
		return false, fmt.Errorf("cannot copy the program: %w", err)
	}
	f.to, f.have = nil, 0
	f.index++
	return f.index == len(f.files), nil
}

// Use has the programs be started from their copies.
func (f *Fetch) Use(apps []plan.App) {
	for i := range apps {
		for k, file := range f.files {
			if apps[i].File == file.Path {
				apps[i].File = f.copyOf(k)
				break
			}
		}
	}
}

// Remove removes the copies.
func (f *Fetch) Remove() {
	if f != nil {
		os.RemoveAll(f.dir)
	}
}
