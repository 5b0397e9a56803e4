//go:build unix

package reach

import (
	"sync"

	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

// PlainLink is a link that carries bytes only.
type PlainLink struct{ Link *sys.Link }

// Write implements io.Writer.
func (l PlainLink) Write(b []byte) (int, error) { return len(b), l.Link.Write(b, nil) }

// Read implements io.Reader.
func (l PlainLink) Read(b []byte) (int, error) {
	n, files, err := l.Link.Read(b)
	for _, f := range files {
		f.Close()
	}
	return n, err
}

// Close implements io.Closer.
func (l PlainLink) Close() error { return l.Link.Close() }

// A Tail keeps the end of what is written to it.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail bounds the output of ssh that is shown when it fails, in bytes.
const maxTail = 2048

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(b), nil
}

// String is the text in one line of printable characters.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return wording.OneLine(string(t.text))
}
