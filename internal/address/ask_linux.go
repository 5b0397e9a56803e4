package address

import (
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// askTime is how long a DNS server has to answer. Callers that wait for a name ask again.
const askTime = 2 * time.Second

// ask sends a packet to a DNS server, and returns its answer.
func ask(server IP, packet []byte) ([]byte, error) { return sys.AskUDP(server, 53, packet, askTime) }
