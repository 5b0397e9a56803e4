package joined

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/engine"
)

// A contact is what a leader makes known of itself: the one value of its node in the engine's store.
type contact struct {
	rank int
	addr string // IP address and port of its listener
	key  string // its public key: wire.PublicKey
}

// noAddress is the address of a leader that no other node reaches, because there is none.
const noAddress = "-"

// contactMark begins each contact. The versions of the protocols follow.
const contactMark = "halo"

// The parts of a contact are separated by commas, which none of them contains:
//
//	halo,VERSIONS,RANK,ADDRESS,KEY
//
// VERSIONS are those of boot.Versions without what the alphabet of values lacks. An IPv6 address stands
// there without its brackets, which are not in the alphabet either.

// encode returns the contact as a value for an engine.
func (c contact) encode() string {
	addr := strings.NewReplacer("[", "", "]", "").Replace(c.addr)
	return strings.Join([]string{contactMark, versions(), strconv.Itoa(c.rank), addr, c.key}, ",")
}

// versions are the versions of the protocols of this program.
func versions() string {
	return engine.Printable(strings.NewReplacer(", ", ".", " ", "-").Replace(boot.Versions()))
}

// parseContact parses a value that the process from has put, in a job of a number of processes.
func parseContact(text string, size int) (contact, error) {
	parts := strings.Split(text, ",")
	if len(parts) < 2 || parts[0] != contactMark {
		return contact{}, fmt.Errorf("%.60q is not what a process of Halo publishes", text)
	}
	if own := versions(); parts[1] != own {
		return contact{}, fmt.Errorf("it comes from another version of Halo (there: %.60s; here: %s): build all programs of a job from the same version",
			parts[1], own)
	}
	if len(parts) != 5 {
		return contact{}, fmt.Errorf("%.200q has %d parts, want 5: the engine has cut it off, or another process has written it", text, len(parts))
	}
	c := contact{addr: parts[3], key: parts[4]}
	var err error
	c.rank, err = strconv.Atoi(parts[2])
	if err != nil || c.rank < 0 || c.rank >= size {
		return contact{}, fmt.Errorf("%.200q names rank %.20q of %d", text, parts[2], size)
	}
	if at := strings.LastIndexByte(c.addr, ':'); at >= 0 && strings.Contains(c.addr[:at], ":") {
		c.addr = "[" + c.addr[:at] + "]" + c.addr[at:]
	}
	return c, nil
}
