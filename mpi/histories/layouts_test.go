package histories_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Messages between random layouts, compared with the oracle of dtypetest. A seed is a program of
// some exchanges between two ranks, which do them in the same order. A blocking call waits only
// for the peer's half of the same exchange or an earlier one, so that the program ends.

const (
	// exchangesMax is the maximum number of messages in a program.
	exchangesMax = 16
	// layoutsBatch is the number of programs that one world runs.
	layoutsBatch = 80
)

func newExchanges(r *rand.Rand) []*exchange {
	all := make([]*exchange, 1+r.IntN(exchangesMax))
	for i := range all {
		all[i] = newExchange(r)
	}
	return all
}

func seededExchanges(seed uint64) []*exchange { return newExchanges(rand.New(rand.NewPCG(seed, 0))) }

// script is exchanges with their memory, which the first rank to arrive makes and the last one
// releases.
type script struct {
	mu     sync.Mutex
	all    []*exchange
	ds     []*delivery
	err    error
	comes  int
	leaves int
}

func (p *script) enter() ([]*delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.comes++
	if p.comes > 1 {
		return p.ds, p.err
	}
	for i, x := range p.all {
		d, err := x.deliver(i)
		if err != nil {
			p.err = fmt.Errorf("%v\n%w", x, err)
			break
		}
		if d != nil {
			p.ds = append(p.ds, d)
		}
	}
	return p.ds, p.err
}

func (p *script) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaves++
	if p.leaves == 2 {
		p.all, p.ds = nil, nil
	}
}

// run does one rank's part and returns the number of messages.
func (p *script) run(c *mpi.Comm) (int, error) {
	ds, err := p.enter()
	if err != nil {
		return 0, err
	}
	defer p.leave()
	var pending []later
	for _, d := range ds {
		late, err := d.run(c)
		if err != nil {
			return 0, fmt.Errorf("rank %d: %w\n%v", c.Rank(), err, &d.exchange)
		}
		pending = append(pending, late...)
	}
	for i := range pending {
		if err := pending[i].wait(); err != nil {
			return 0, fmt.Errorf("rank %d, in the end: %w\n%v", c.Rank(), err, pending[i].x)
		}
	}
	return len(ds), nil
}

// runAlone runs one program in a separate world.
func runAlone(fabric string, all []*exchange) error {
	p := &script{all: all}
	return mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
		if err := mpi.BufferAttach(c, nil); err != nil {
			return err
		}
		if _, err := p.run(c); err != nil {
			return err
		}
		_, err := mpi.BufferDetach(c)
		return err
	})
}

// F: every call of point-to-point communication takes a Buffer with a derived type on either
// side, with different layouts of one signature.
func TestMessagesBetweenRandomLayouts(t *testing.T) {
	count := layoutsBatch
	switch {
	case testrun.Race:
		count = 12
	case testing.Short():
		count = 20
	}
	all := onFabrics("00", 1, count)
	if slices.Contains(mpitest.Fabrics(), "shm") {
		all = append(all, series{placing{"shm", "01"}, 1, count}) // two hosts: sealed records
	}
	runAll(t, all, layoutsBatch, runExchanges)
}

func runExchanges(t *testing.T, s series) {
	if len(s.places) != 2 {
		t.Fatalf("%v has %d ranks, messages between random layouts have 2", s, len(s.places))
	}
	var failed struct {
		sync.Mutex
		seed uint64
	}
	messages := 0
	programs := make([]*script, s.count)
	for i := range programs {
		programs[i] = &script{all: seededExchanges(s.first + uint64(i))}
	}
	err := mpitest.RunOver(s.over(), 2, func(c *mpi.Comm) error {
		if err := mpi.BufferAttach(c, nil); err != nil {
			return err
		}
		for i, p := range programs {
			seed := s.first + uint64(i)
			stop := testrun.WatchFunc(func() string { return "messages hang; " + s.replay(t, seed, 1) })
			n, err := p.run(c)
			stop()
			if err != nil {
				failed.Lock()
				failed.seed = max(failed.seed, seed)
				failed.Unlock()
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if c.Rank() == 0 {
				messages += n
			}
		}
		_, err := mpi.BufferDetach(c)
		return err
	})
	if err == nil {
		t.Logf("%d messages", messages)
		if *replayFlag == "" && messages < s.count*exchangesMax/5 {
			t.Errorf("only %d messages of %d programs", messages, s.count)
		}
		return
	}
	if failed.seed == 0 { // the world has failed after the last program
		failed.seed = s.first + uint64(s.count-1)
	}
	t.Errorf("%v\n%s", err, s.replay(t, failed.seed, 1))
	all := seededExchanges(failed.seed)
	err = runAlone(s.over(), all)
	if err == nil {
		t.Fatalf("it takes the programs before it to fail: %s", s.replay(t, s.first, int(failed.seed-s.first)+1))
	}
	all, err = shrinkExchanges(s.over(), all, err)
	t.Fatalf("the simplest that fails:\n%v", describeExchanges(all, err))
}

func describeExchanges(all []*exchange, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\nin a program of %d messages", err, len(all))
	for _, x := range all[:max(0, len(all)-1)] { // the last one is usually in the error
		fmt.Fprintf(&b, "\n%v", x)
	}
	return b.String()
}
