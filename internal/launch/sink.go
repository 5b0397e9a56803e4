//go:build unix

package launch

import (
	"bytes"
	"os"
	"sync"

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
	broken   error   // output is dropped from now on
	onBroken func(error)
}

// newSinks makes the sinks of stdout and stderr.
func newSinks(stdout, stderr *os.File, onBroken func(error)) (out, err *sink) {
	out = &sink{file: stdout, terminal: sys.Terminal(stdout), onBroken: onBroken}
	a, e1 := stdout.Stat()
	b, e2 := stderr.Stat()
	if e1 == nil && e2 == nil && os.SameFile(a, b) {
		return out, out
	}
	// Without readers of its stderr a job still has its result.
	return out, &sink{file: stderr, terminal: sys.Terminal(stderr), onBroken: func(error) {}}
}

// put writes text of s, which is nil for the launcher's own. The caller holds
// mu. A line that somebody else left unfinished is ended first.
func (k *sink) put(s *stream, text []byte) {
	if len(text) == 0 || k.broken != nil {
		return
	}
	if k.open != nil && k.open != s {
		text = append([]byte{'\n'}, text...)
	}
	if k.broken = writeAll(k.file, text); k.broken != nil {
		k.onBroken(k.broken)
	}
	k.open = nil
	if text[len(text)-1] != '\n' {
		k.open = s
	}
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
