package world

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// pretend spreads ranks that are goroutines over hosts. After an @ the name of the fabric contains a
// digit or lower-case letter for the host of each rank. Hosts are numbered from 0 in the order of their
// first ranks, as the launcher numbers them. pretend returns the name of the fabric alone.
func pretend(name string, boots []boot.Boot) (fabric string, err error) {
	fabric, places, ok := strings.Cut(name, "@")
	if !ok {
		return fabric, nil
	}
	if len(places) != len(boots) {
		return "", fmt.Errorf("fabric %q places %d ranks, there are %d", name, len(places), len(boots))
	}
	var hosts []string
	host, local := make([]int32, len(boots)), map[int32][]int{}
	for r, p := range []byte(places) {
		h := strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyz", p)
		if h < 0 || h > len(hosts) {
			return "", fmt.Errorf("fabric %q: rank %d is on host %q, want one of the first %d", name, r, p, len(hosts)+1)
		}
		if h == len(hosts) {
			hosts = append(hosts, fmt.Sprintf("pretended%d", h))
		}
		host[r] = int32(h)
		local[host[r]] = append(local[host[r]], r)
	}
	for r, b := range boots {
		j := b.Job()
		j.Hosts, j.Host, j.Local = hosts, host, local[host[r]]
	}
	return fabric, nil
}
