package plan

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// rankFile takes the host of each rank from a file in the form of Open MPI's launcher.
func (p *parser) rankFile(name string) error {
	hosts, slots, err := parseRankFile(name)
	if err != nil {
		return err
	}
	if p.spec.Hosts != nil {
		return errors.New("the hosts are named already")
	}
	p.spec.Hosts, p.spec.ByRank = hosts, true
	if slots {
		p.spec.Ignored = append(p.spec.Ignored, "slot= of -rankfile (-bind says how ranks are bound)")
	}
	return nil
}

// parseRankFile reads a file with a line for each rank: "rank N=HOST", and perhaps "slot=...". It returns the hosts in
// the order of the ranks, each with one slot, and whether there were slots; '#' begins a comment.
func parseRankFile(file string) (hosts []HostSlots, slots bool, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	of := map[int]string{}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		number, host, found := "", "", false
		if len(words) >= 2 && words[0] == "rank" {
			number, host, found = strings.Cut(words[1], "=")
		}
		rank, e := strconv.Atoi(number)
		switch {
		case !found || e != nil || rank < 0 || rank >= boot.MaxRanks || host == "" || len(words) > 3 || len(words) == 3 && !strings.HasPrefix(words[2], "slot="):
			return nil, false, fmt.Errorf("%s:%d: %q is not of the form rank N=HOST slot=CORES", file, i+1, strings.TrimSpace(line))
		case host[0] == '+':
			return nil, false, fmt.Errorf("%s:%d: %s numbers a host: write its name", file, i+1, host)
		case of[rank] != "":
			return nil, false, fmt.Errorf("%s:%d: rank %d has a host already, %s", file, i+1, rank, of[rank])
		}
		of[rank], slots = host, slots || len(words) == 3
	}
	for rank := range len(of) {
		if of[rank] == "" {
			return nil, false, fmt.Errorf("%s names no host for rank %d, but has lines for %d", file, rank, len(of))
		}
		hosts = append(hosts, HostSlots{of[rank], 1})
	}
	if hosts == nil {
		return nil, false, fmt.Errorf("%s names no host", file)
	}
	return hosts, slots, nil
}
