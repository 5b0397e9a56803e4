package tcp

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

func TestConformance(t *testing.T) {
	// The tests of properties that sealing could break; other code is common to both variants.
	sealing := []string{"OrderAndIntegrity", "NoAllocationPerFrame", "BackPressure", "BothSidesBlocked", "ServiceStandsIn", "CloseLosesNothing", "Death", "HostilePeer"}
	for name, mk := range makers() {
		part, only := 1, []string(nil)
		switch name {
		case "raw, sealed":
			part, only = 2, sealing
		case "streams": // the goroutines cost milliseconds, and the tests of raw cover the connector
			part = 5
		case "streams, sealed":
			part, only = 5, sealing
		}
		switch {
		case testrun.Race:
			part *= 8 // a plain run, as in make soak, makes all
		case testrun.Beside():
			only = []string{"NoAllocationPerFrame"}
		}
		t.Run(name, func(t *testing.T) {
			fabrictest.RunPart(t, part, func(t testing.TB, n int) []fabric.Fabric { return fabrics(ends(t, mk, n, limits{})) }, only...)
		})
	}
}

func fabrics(ends []made) (fs []fabric.Fabric) {
	for _, f := range ends {
		fs = append(fs, f)
	}
	return fs
}

// hostile returns an impossible header, which no correct peer sends.
func hostile(r *rand.Rand) []byte {
	var b [wire.HeaderSize]byte
	h := wire.Header{Kind: wire.Eager, Size: wire.MaxPayload + 1 + r.Uint32N(1<<20)}
	if r.IntN(2) == 0 {
		h.Kind, h.Size = 0, r.Uint32N(100)
	}
	h.Encode(b[:])
	return b[:]
}

// trouble sends bytes on new connections: after a handshake, if the peer accepts it, and
// without a handshake.
func (d *connector) trouble(to int, b []byte) {
	d.mu.Lock()
	addr := d.addrs[to]
	d.mu.Unlock()
	if conn, _, err := d.dial(d.ctx, to, addr); err == nil {
		conn.Write(b)
		conn.Close()
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Write(b)
		conn.Close()
	}
}
