package histories_test

import "github.com/halo-mpi/halo/internal/dtype/dtypetest"

// shrinkTries bounds how long a failure is shrunk, in programs that are tried.
const shrinkTries = 4000

// shrinkExchanges looks for a simpler program that fails.
func shrinkExchanges(fabric string, all []*exchange, err error) ([]*exchange, error) {
	tries := 0
	return dtypetest.Shrink(all, err, smallerExchanges, func(all []*exchange) error {
		if tries++; tries > shrinkTries {
			return nil
		}
		return runAlone(fabric, all)
	})
}

// smallerExchanges are programs with a half, an exchange, or a part of one less.
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
