//go:build unix

package launch

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/sys"
)

// inputFor returns what the rank reads that reads the standard input. It is the launcher's own stdin, unless
// that is a terminal: rank 0 is not in the terminal's foreground group, and the
// kernel would stop it when it reads. So the launcher reads for it, from the start.
//
// A spawned job has none, so that its rank 0 reads nothing.
func inputFor(stdin *os.File) (forRank *os.File, start func(), err error) {
	if stdin == nil {
		null, err := agent.NoInput()
		return null, func() {}, err
	}
	if !sys.Terminal(stdin) {
		return stdin, func() {}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return r, func() { go copyTerminal(w, stdin) }, nil
}

// foregroundDelay is the interval at which a launcher in the background checks
// whether it may read from its terminal again.
const foregroundDelay = 200 * time.Millisecond

// copyTerminal copies the input from the terminal while the launcher is in the foreground.
func copyTerminal(w, terminal *os.File) {
	defer w.Close()
	// A read in progress when the launcher is put into the background must fail, and not
	// stop the launcher.
	signal.Ignore(syscall.SIGTTIN)
	buf := make([]byte, 4096)
	for {
		if !sys.Foreground(terminal) {
			time.Sleep(foregroundDelay)
			continue
		}
		n, err := terminal.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return // rank 0 has closed its stdin
			}
		}
		if err != nil {
			if err != io.EOF && !sys.Foreground(terminal) {
				continue
			}
			return
		}
	}
}
