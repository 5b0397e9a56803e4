//go:build linux

package launch

import (
	"testing"
)

// BRD-08: -play-hosts pretends hosts on this one.
func TestPlayHosts(t *testing.T) {
	t.Parallel()
	halo(t, 0, "-play-hosts", "2", "-n", "3", "-map-by", "node", "rank", "init", "exchange", "job", "exchange", "hosts", "exchange", "finalize").quiet().printed(
		"rank 0 of 3 local [0 2] fabric shm app 0 secret true",
		"rank 1 of 3 local [1] fabric shm app 0 secret true",
		"rank 2 of 3 local [0 2] fabric shm app 0 secret true",
		"rank 0 hosts [play0 play1] host [0 1 0] listen 127.0.0.1",
		"rank 1 hosts [play0 play1] host [0 1 0] listen 127.0.0.1",
		"rank 2 hosts [play0 play1] host [0 1 0] listen 127.0.0.1")
	halo(t, 0, "-play-hosts", "3", "-n", "5", hangPath, "long").quiet()
	halo(t, 7, "-play-hosts", "2", "-n", "2", "rank", "init", "exchange", "finalize", "1@exit:7").said("rank 1", "play1", "exited with status 7")
}
