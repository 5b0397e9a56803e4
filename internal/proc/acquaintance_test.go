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
	left      []int
	accepted  map[int]bool // Forget finds that the peer may have accepted a call
	fails     bool         // that call has failed when Leave is sent: there is no connection
	wake      chan struct{}
}

func (f *partings) Name() string              { return "partings" }
func (f *partings) EagerMax() int             { return 1024 }
func (f *partings) ChunkMax() int             { return 1024 }
func (f *partings) Arm()                      {}
func (f *partings) Disarm()                   {}
func (f *partings) Sleep()                    { <-f.wake }
func (f *partings) Wake()                     {}
func (f *partings) Close() error              { close(f.wake); return nil }
func (f *partings) Reach(number int)          { f.reached = append(f.reached, number) }
func (f *partings) Connected(number int) bool { return f.connected[number] || f.accepted[number] }
func (f *partings) Left(int)                  {}
func (f *partings) Ring(int)                  {}
func (f *partings) Lose(int, error)           {}
func (f *partings) Forget(number int) bool {
	if f.connected[number] || f.accepted[number] {
		return false
	}
	f.forgotten = append(f.forgotten, number)
	return true
}
func (f *partings) Send(to int, h *wire.Header, _ []byte) bool {
	if h.Kind == wire.Leave {
		f.left = append(f.left, to)
		if f.fails {
			f.accepted[to] = false
			f.p.Parted(to)
		}
	}
	return true
}
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

// A process of another job that nothing holds any more is left, and not forgotten, if it may have accepted a call of this
// process, or has called again since the last connection ended: it would take this process for dead (X-DYN-01).
func TestLeavingWhileConnecting(t *testing.T) {
	for name, again := range map[string]bool{"a call may be accepted": false, "the peer calls again": true} {
		t.Run(name, func(t *testing.T) {
			far := &partings{connected: map[int]bool{}, accepted: map[int]bool{}, wake: make(chan struct{})}
			p, err := proc.New(boot.Memory(1)[0], nil, far, proc.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			far.p = p
			p.Lock()
			defer p.Unlock()
			n, err := p.Meet(proc.ID{Job: "a"}, false)
			if err != nil {
				t.Fatal(err)
			}
			who := []int32{int32(n)}
			p.Hold(who)
			far.connected[n] = true
			far.accepted[n] = true
			p.Release(who)
			if again {
				far.left, far.parts = nil, []int{n}
				p.Progress(-1)
			}
			if !slices.Equal(far.left, []int{n}) || len(far.forgotten) > 0 {
				t.Fatalf("left are %v and forgotten %v, want %d to be left", far.left, far.forgotten, n)
			}
			far.parts, far.accepted[n] = []int{n}, false
			p.Progress(-1)
			if !slices.Equal(far.forgotten, []int{n}) || len(far.left) > 1 {
				t.Errorf("left are %v and forgotten %v when both have left", far.left, far.forgotten)
			}
		})
	}
}

// A process of another job whose call fails while this process leaves it is forgotten, also if that shows only while those
// are forgotten whose connections have ended (X-DYN-01).
func TestLeavingAfterAFailedCall(t *testing.T) {
	far := &partings{connected: map[int]bool{}, accepted: map[int]bool{}, wake: make(chan struct{})}
	p, err := proc.New(boot.Memory(1)[0], nil, far, proc.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	far.p = p
	p.Lock()
	defer p.Unlock()
	n, err := p.Meet(proc.ID{Job: "a"}, false)
	if err != nil {
		t.Fatal(err)
	}
	p.Hold([]int32{int32(n)})
	far.connected[n] = true
	p.Release([]int32{int32(n)})
	far.parts, far.accepted[n], far.fails = []int{n}, true, true
	p.Progress(-1)
	p.Progress(-1)
	if !slices.Equal(far.forgotten, []int{n}) {
		t.Errorf("forgotten are %v, want %d", far.forgotten, n)
	}
}
