package histories_test

import "github.com/halo-mpi/halo/internal/dtype/dtypetest"

// shrinkTries is the maximum number of programs that are tried to shrink a failure.
const shrinkTries = 4000

// shrinkExchanges searches for a simpler program that fails.
func shrinkExchanges(fabric string, all []*exchange, err error) ([]*exchange, error) {
	tries := 0
	return dtypetest.Shrink(all, err, smallerExchanges, func(all []*exchange) error {
		tries++
		if tries > shrinkTries {
			return nil
		}
		return runAlone(fabric, all)
	})
}

// smallerExchanges are programs with half of the exchanges, one exchange less, or a simpler
// exchange.
func smallerExchanges(all []*exchange) (out [][]*exchange) {
	if n := len(all); n > 1 {
		out = append(out, all[:n/2], all[n/2:])
		for i := range all {
			out = append(out, append(append([]*exchange{}, all[:i]...), all[i+1:]...))
		}
	}
	for i, x := range all {
		for _, small := range x.smaller() {
			c := append([]*exchange{}, all...)
			c[i] = small
			out = append(out, c)
		}
	}
	return out
}
