package tcp

import (
	"math/rand/v2"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// A rawEnd is a Fabric that tests can kill, and that can send arbitrary bytes.
type rawEnd struct{ *Fabric }

// Kill ends the sockets as the kernel does for a process that is killed.
func (f rawEnd) Kill() {
	f.limits.linger = -time.Second
	f.Close()
}

func (f rawEnd) Inject(to int, r *rand.Rand) {
	if l := f.routes.At(to).link; l != nil {
		sys.Send(l.fd, hostile(r))
		return
	}
	f.connector.trouble(to, hostile(r))
}

// Speak sends bytes unchanged.
func (f rawEnd) Speak(to int, b []byte) {
	for len(b) > 0 {
		n, _ := sys.Send(f.routes.At(to).link.fd, b)
		b = b[n:]
	}
}

// raw makes the data path on raw descriptors.
func raw(c Config) (made, string, error) {
	f, addr, err := Listen(c)
	if err != nil {
		return nil, "", err
	}
	return rawEnd{f}, addr, nil
}

func paths() map[string]maker { return map[string]maker{"raw": raw, "streams": goroutines} }

// Connector implements made.
func (f rawEnd) Connector() *connector { return f.connector }

// Seal implements made.
func (f rawEnd) Seal(to int) *wire.Sealed { return f.routes.At(to).link.seal }
