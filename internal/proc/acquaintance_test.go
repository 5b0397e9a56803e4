package proc_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// partings is a fabric to processes of other jobs, with which it has connections until they part.
type partings struct {
	p         *proc.Proc
	connected map[int]bool
	parts     []int // part in the next Poll
	reached   []int
	forgotten []int
	wake      chan struct{}
}

func (f *partings) Name() string                        { return "partings" }
func (f *partings) EagerMax() int                       { return 1024 }
func (f *partings) ChunkMax() int                       { return 1024 }
func (f *partings) Send(int, *wire.Header, []byte) bool { return true }
func (f *partings) Arm()                                {}
func (f *partings) Disarm()                             {}
func (f *partings) Sleep()                              { <-f.wake }
func (f *partings) Wake()                               {}
func (f *partings) Close() error                        { close(f.wake); return nil }
func (f *partings) Reach(number int)                    { f.reached = append(f.reached, number) }
func (f *partings) Connected(number int) bool           { return f.connected[number] }
func (f *partings) Abandon(int) bool                    { return false }
func (f *partings) Left(int)                            {}
func (f *partings) Forget(number int)                   { f.forgotten = append(f.forgotten, number) }
func (f *partings) Ring(int)                            {}
func (f *partings) Lose(int, error)                     {}
func (f *partings) Poll(_ fabric.Sink, _ int) (n int) {
	for _, number := range f.parts {
		f.connected[number] = false
		f.p.Parted(number)
	}
	n, f.parts = len(f.parts), nil
	return n
}

// A process of another job that is met again while this process leaves it gets a new connection when the
// old one has ended, so that who waits for it learns of its death. One that is not met again is
// forgotten (X-DYN-01).
func TestMetAgainWhileLeaving(t *testing.T) {
	far := &partings{connected: map[int]bool{}, wake: make(chan struct{})}
	p, err := proc.New(boot.Memory(1)[0], nil, far, proc.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	far.p = p
	p.Lock()
	var both []int32
	for i := range 2 {
		n, err := p.Meet(proc.ID{Job: "a", Index: i}, false)
		if err != nil {
			t.Fatal(err)
		}
		far.connected[n] = true
		both = append(both, int32(n))
	}
	p.Hold(both)
	p.Release(both) // leaves them
	p.Hold(both[:1])
	p.Watch(int(both[0]))
	before := len(far.reached) // a fabric does nothing then, since there is a connection
	far.parts = []int{int(both[0]), int(both[1])}
	p.Progress(-1)
	if got := far.reached[before:]; !slices.Equal(got, []int{int(both[0])}) {
		t.Errorf("connections are opened with %v, want %v", got, both[:1])
	}
	if !slices.Equal(far.forgotten, []int{int(both[1])}) {
		t.Errorf("forgotten are %v, want %v", far.forgotten, both[1:])
	}
	p.Release(both[:1])
	p.Unlock()
}
