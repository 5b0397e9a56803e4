//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
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

// pushes returns the programs of a job, each once.
func pushes(apps []plan.App) (list []plan.PushedFile, err error) {
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

// piece answers the request of an agent for a piece of a program. An answer without bytes means that
// the program cannot be read any more.
func (r *remote) piece(index int, offset int64) {
	var b []byte
	if list := r.share.Pushes; index < len(list) && offset >= 0 && offset < list[index].Size {
		if f, err := os.Open(list[index].Path); err == nil {
			b = make([]byte, min(pushPiece, list[index].Size-offset))
			n, _ := f.ReadAt(b, offset)
			b = b[:n]
			f.Close()
		}
	}
	r.out.Send(frame.New(talk.KindPiece).Raw(b).Bytes())
}

// A fetch is the copying of programs to the host of an agent.
type fetch struct {
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

// newFetch makes the directory for copies of files, which warden removes if this process cannot.
func newFetch(id string, files []plan.PushedFile, warden *wardenPipe, ask func(int, int64)) (*fetch, error) {
	f := &fetch{dir: filepath.Join(os.TempDir(), "halo-"+id+"-push"), files: files, ask: ask}
	warden.directory(f.dir)
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a directory for the program: %w (TMPDIR names another place)", err)
	}
	for range pushAhead {
		f.next()
	}
	return f, nil
}

// copyOf is the path of the copy of a file.
func (f *fetch) copyOf(index int) string {
	return filepath.Join(f.dir, fmt.Sprintf("%d-%s", index, filepath.Base(f.files[index].Path)))
}

// next asks for the next piece, if there is one.
func (f *fetch) next() {
	for f.askIndex < len(f.files) && f.askOffset >= f.files[f.askIndex].Size {
		f.askIndex, f.askOffset = f.askIndex+1, 0
	}
	if f.askIndex < len(f.files) {
		f.ask(f.askIndex, f.askOffset)
		f.askOffset += pushPiece
	}
}

// take writes a piece. done says that all files are there.
func (f *fetch) take(b []byte) (done bool, err error) {
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

// use has the programs be started from their copies.
func (f *fetch) use(apps []plan.App) {
	for i := range apps {
		for k, file := range f.files {
			if apps[i].File == file.Path {
				apps[i].File = f.copyOf(k)
				break
			}
		}
	}
}

// remove removes the copies.
func (f *fetch) remove() {
	if f != nil {
		os.RemoveAll(f.dir)
	}
}
