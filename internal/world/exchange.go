package world

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// checkEnv is the environment variable that enables checking mode.
const checkEnv = "HALO_CHECK"

// checkFromEnv reports whether the environment enables checking mode; get is os.Getenv.
func checkFromEnv(get func(string) string) (bool, error) {
	switch text := get(checkEnv); text {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%s: want 1 to check, or 0", checkEnv, text)
	}
}

// checksMark follows the address of a process in checking mode.
const checksMark = " checks"

// exchangeAddresses publishes the address on which this process listens and whether it checks, and
// returns those of all processes. It is collective over the job.
func exchangeAddresses(b boot.Boot, addr string, check bool) (addrs []string, checkers []bool, err error) {
	if check {
		addr += checksMark
	}
	all, err := b.Exchange([]byte(addr))
	if err != nil {
		return nil, nil, err
	}
	addrs = make([]string, len(all))
	if check {
		checkers = make([]bool, len(all))
	}
	for i, a := range all {
		var other bool
		addrs[i], other = strings.CutSuffix(string(a), checksMark)
		if check {
			checkers[i] = other
		}
	}
	return addrs, checkers, nil
}
