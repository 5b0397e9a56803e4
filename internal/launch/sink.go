//go:build unix

package launch

import (
	"bytes"
	"errors"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/sys"
)

// A sink is where output of all ranks goes: the launcher's stdout or stderr, or
// both, if they are the same file. Whole lines are written under its lock, so
// that lines never mix; a slow reader of the launcher's output makes the ranks
// wait, because nobody reads their pipes meanwhile.
type sink struct {
	mu       sync.Mutex
	file     *os.File
	terminal bool
	open     *stream // whose unfinished line ends the output so far
	closed   bool    // when the launcher was started
	broken   error   // output is dropped from now on
	onBroken func(error)
}

// errClosed says that an output was closed when the launcher was started. Go's runtime
// opens /dev/null in its place, which would discard output without an error.
var errClosed = errors.New("it was closed when the launcher was started")

// newSinks makes the sinks of stdout and stderr, of which some may have been closed when
// the launcher was started.
func newSinks(spec *plan.Spec, stdout, stderr *os.File, onBroken func(error)) (out, err *sink) {
	out = &sink{file: stdout, terminal: sys.Terminal(stdout), onBroken: onBroken, closed: spec.StdoutClosed}
	a, e1 := stdout.Stat()
	b, e2 := stderr.Stat()
	if e1 == nil && e2 == nil && os.SameFile(a, b) && spec.StdoutClosed == spec.StderrClosed {
		return out, out
	}
	// A job whose stderr cannot be written still writes its result and runs to its end.
	return out, &sink{file: stderr, terminal: sys.Terminal(stderr), onBroken: func(error) {}, closed: spec.StderrClosed}
}

// put writes text of s, which is nil for text of the launcher. The caller holds mu. If
// another stream has left its line unfinished, put ends that line first.
func (k *sink) put(s *stream, text []byte) {
	if len(text) == 0 || k.broken != nil {
		return
	}
	if k.open != nil && k.open != s {
		text = append([]byte{'\n'}, text...)
	}
	if k.closed {
		k.broken = errClosed
	} else {
		k.broken = writeAll(k.file, text)
	}
	if k.broken != nil {
		k.onBroken(k.broken)
	}
	k.open = nil
	if text[len(text)-1] != '\n' {
		k.open = s
	}
}

// brokenBy returns the error of the write that failed; nil if none has.
func (k *sink) brokenBy() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken
}

func writeAll(f *os.File, b []byte) error {
	_, err := f.Write(b)
	return err
}

// say writes a line of the launcher's own.
func (k *sink) say(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(nil, append([]byte(line), '\n'))
}

// tagged returns whole lines with tag before each one.
func tagged(tag string, lines []byte) []byte {
	if tag == "" {
		return lines
	}
	out := make([]byte, 0, len(lines)+(1+bytes.Count(lines, []byte{'\n'}))*len(tag))
	for line := range bytes.Lines(lines) {
		out = append(append(out, tag...), line...)
	}
	return out
}
