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
	// What sealing could break where the rest is the same as without.
	sealing := []string{"OrderAndIntegrity", "NoAllocationPerFrame", "BackPressure", "BothSidesBlocked", "ServiceStandsIn", "CloseLosesNothing", "Death", "HostilePeer"}
	for name, mk := range makers() {
		part, only := 1, []string(nil)
		switch name {
		case "raw, sealed":
			part, only = 2, sealing
		case "streams": // its goroutines cost a millisecond here and there, and the connector is the same
			part = 5
		case "streams, sealed":
			part, only = 5, sealing
		}
		switch {
		case testrun.Race:
			part *= 3
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

// hostile returns bytes that no correct peer sends: an impossible header behind
// some that are fine.
func hostile(r *rand.Rand) []byte {
	var b [wire.HeaderSize]byte
	h := wire.Header{Kind: wire.Eager, Size: wire.MaxPayload + 1 + r.Uint32N(1<<20)}
	if r.IntN(2) == 0 {
		h.Kind, h.Size = 0, r.Uint32N(100)
	}
	h.Encode(b[:])
	return b[:]
}

// trouble sends bytes by a connection of its own: as a member of the job if the
// peer takes it for one, and as a stranger.
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
