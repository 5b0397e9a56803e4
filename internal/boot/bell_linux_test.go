package boot

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/sys"
)

// Ring has the launcher wake the named rank. A request that names no rank of the host, or that has
// another form, is a violation of the protocol.
func TestRing(t *testing.T) {
	bell, err := sys.NewBellFile()
	if err != nil {
		t.Fatal(err)
	}
	defer bell.Close()
	w := newWorld(t, &testHost{size: 3, memory: func(which int) (*os.File, error) {
		if which != BellFile(2) {
			return nil, errors.New("no such bell")
		}
		return bell, nil
	}})
	f, err := w.ranks[0].Segment(BellFile(2))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sys.NewSleeper(f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var word atomic.Uint32
	word.Store(1)
	slept := make(chan error)
	go func() { slept <- s.Sleep(&word, 1) }()
	word.Store(2)
	if err := w.ranks[0].Ring(2); err != nil {
		t.Error(err)
	}
	if err := <-slept; err != nil {
		t.Error(err)
	}

	w.ranks[0].Ring(1)
	if err := <-w.served[0]; err == nil || !strings.Contains(err.Error(), "rank 0 asks to wake rank 1: no such bell") {
		t.Errorf("a rank without a bell: %v", err)
	}
	w.ranks[1].write(frame.New(kindRing).Raw([]byte{1}).Bytes())
	if err := <-w.served[1]; err == nil || !strings.Contains(err.Error(), "ring request with a body of 1 bytes") {
		t.Errorf("a body of one byte: %v", err)
	}
	if err := Memory(2)[0].Ring(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ranks that are goroutines: %v", err)
	}
}
