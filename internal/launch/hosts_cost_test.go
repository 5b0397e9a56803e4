//go:build linux

package launch

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/testrun"
)

// envSimulatedHosts is the largest number of hosts of TestXLCH01_HostsCostTheLauncherTheSame. make soak sets
// 1000.
const envSimulatedHosts = "HALO_TEST_SIMULATED_HOSTS"

// simulatedSlots is the number of ranks on each simulated host.
const simulatedSlots = 4

// A simulatedAgent is an agent of a host that does not exist: its ranks call Init and Finalize, and end.
type simulatedAgent struct {
	link        net.Conn
	frames      frame.Reader
	ranks       []int
	sent, taken int // frames
	running     *atomic.Int32
	quit        <-chan struct{} // closed when the ranks may end
	err         error
}

func (a *simulatedAgent) send(w []byte) {
	a.sent++
	if _, err := a.link.Write(w); err != nil && a.err == nil {
		a.err = err
	}
}

// next returns the next frame, which must be of a kind. The input of rank 0 does not count.
func (a *simulatedAgent) next(want uint8) []byte {
	kind, body, err := a.frames.Next()
	for err == nil && kind == talk.KindInputEnd {
		kind, body, err = a.frames.Next()
	}
	a.taken++
	if err == nil && kind != want {
		err = fmt.Errorf("frame of kind %d, want %d", kind, want)
	}
	if err != nil && a.err == nil {
		a.err = err
	}
	return body
}

// run does what an agent does from its first frame to its last.
func (a *simulatedAgent) run() {
	hello := frame.New(talk.KindHello).U16(talk.Version).Text(boot.Versions()).Text(boot.Build()).Bytes()
	a.send(append([]byte(talk.Magic), hello...))
	b := frame.Body{Left: a.next(talk.KindPlan)}
	b.Text()
	b.Text()
	b.Words()
	ours, err := plan.DecodeShare(b.Left)
	if err != nil {
		a.err = err
		a.link.Close()
		return
	}
	a.ranks = ours.Ranks()
	a.send(frame.New(talk.KindReady).U32(1).Text(ours.Hosts[ours.Self] + ":1").Text("").Text("").Bytes())
	a.next(talk.KindReach)
	a.send(frame.New(talk.KindReached).Words(nil).Bytes())
	a.next(talk.KindStart)
	for _, r := range a.ranks {
		a.send(frame.New(talk.KindStarted).U32(uint32(r)).U32(1).U32(0).Bytes())
		a.send(talk.Frame(talk.KindJoined, "", r, talk.Joining{World: true}.Encode()))
	}
	a.exchange("10.200.100.200:54321") // the address of each rank
	a.running.Add(int32(len(a.ranks)))
	<-a.quit
	a.exchange("") // in Finalize
	for _, r := range a.ranks {
		a.send(talk.Frame(talk.KindFinalized, "", r))
	}
	for _, r := range a.ranks {
		for which := range 2 {
			a.send(frame.New(talk.KindOutputEnd).U32(uint32(r)).U8(uint8(which)).Bytes())
		}
		a.send(talk.Frame(talk.KindLinkEnded, "", r, talk.LinkFine))
		a.send(talk.Frame(talk.KindEnded, "", r, 0))
	}
	for { // until Finish
		kind, _, err := a.frames.Next()
		a.taken++
		if err != nil || kind == talk.KindFinish {
			break
		}
	}
	a.send(frame.New(talk.KindDone).Bytes())
}

// exchange takes part in an Exchange with the same value for all ranks.
func (a *simulatedAgent) exchange(value string) {
	w := frame.New(talk.KindExchanged)
	for range a.ranks {
		w.U16(len(value)).Raw([]byte(value))
	}
	a.send(w.Bytes())
	a.next(talk.KindTable)
}

// counted counts the bytes that the launcher writes and reads.
type counted struct {
	net.Conn
	written, read *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// A cost is what a job has cost the launcher for each host.
type cost struct {
	sent, taken   int   // most frames to and from an agent
	written, read int64 // bytes
	memory        int64 // bytes of memory while ranks run, with that of the simulated agent
	took          time.Duration
}

// simulate runs a job on hosts whose agents are goroutines. The launcher's loop is the real one but for signals,
// and without heartbeats, whose number depends on time.
func simulate(t *testing.T, hosts int) (c cost) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	spec := &plan.Spec{Fabric: "tcp", Reach: time.Hour, Agent: "/opt/halo/bin/halo", Blocks: []plan.Block{{N: simulatedSlots * hosts, Program: "/opt/program", Dir: "/home/user"}}}
	for i := range hosts {
		spec.Hosts = append(spec.Hosts, plan.HostSlots{Host: fmt.Sprintf("10.200.%d.%d", i/250, 1+i%250), Slots: simulatedSlots})
	}
	before := memoryInUse()
	j, err := newJob(spec, null, null)
	if err != nil {
		t.Fatal(err)
	}
	j.stdin, j.starter, j.dialling = null, &reach.Starter{Name: "a simulation"}, 1<<30 // so that prepare starts none
	if err := j.prepare([]*program.Program{{File: "/opt/program"}}); err != nil {
		t.Fatal(err)
	}
	var written, read atomic.Int64
	var running atomic.Int32
	quit := make(chan struct{})
	var agents []*simulatedAgent
	begin := time.Now()
	for _, r := range j.undialled {
		mine, theirs := net.Pipe()
		at := &attempt{link: counted{mine, &written, &read}, said: &reach.Tail{}}
		r.attempt, r.out, r.dialling = at, talk.NewOutbox(at.link), true
		a := &simulatedAgent{link: theirs, frames: frame.Reader{Source: theirs, Limit: talk.MaxFrame}, running: &running, quit: quit}
		agents = append(agents, a)
		go r.read(at)
		go a.run()
	}
	j.undialled = nil
	hang := time.After(hangs)
	for began := false; !j.family.over(); {
		if !began && int(running.Load()) == len(j.ranks) {
			began = true
			c.took = time.Since(begin)
			c.memory = (memoryInUse() - before) / int64(hosts)
			begin = time.Now()
			close(quit)
		}
		select {
		case f := <-j.events:
			f()
		case <-time.After(time.Millisecond):
		case <-hang:
			t.Fatalf("%d hosts: %d ranks are running after %v; %s", hosts, running.Load(), hangs, j.reason)
		}
	}
	c.took += time.Since(begin)
	if j.ending {
		t.Fatalf("%d hosts: status %d: %s", hosts, j.status, j.reason)
	}
	for _, a := range agents {
		if a.err != nil && a.err != io.EOF {
			t.Fatalf("the agent of %d: %v", a.ranks, a.err)
		}
		c.sent, c.taken = max(c.sent, a.taken), max(c.taken, a.sent)
	}
	c.written, c.read = written.Load()/int64(hosts), read.Load()/int64(hosts)
	return c
}

// memoryInUse returns how much memory this process uses for its heap and for the stacks of goroutines.
func memoryInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// X-LCH-01: the launcher sends and receives as many messages for a host of a large job as for one of a small
// job. Their bytes grow with the number of ranks only by what describes the job: its plan and the addresses.
func TestXLCH01_HostsCostTheLauncherTheSame(t *testing.T) {
	testrun.Covered(t)
	sizes := []int{16, 64}
	if text := os.Getenv(envSimulatedHosts); text != "" {
		most, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, 256, most)
	}
	const (
		each   = 12 + 4 + 22 + 2 + 4 // of a rank in the plan (its share of a name, its host) and in two tables
		others = 700                 // all else that a host gets
	)
	var first cost
	for i, n := range sizes {
		c := simulate(t, n)
		t.Logf("%s", strings.TrimSpace(fmt.Sprintf("%d hosts of %d ranks: for each host %d messages and %d bytes out, %d messages and %d bytes in, %d KiB of memory; %v in all",
			n, simulatedSlots, c.sent, c.written, c.taken, c.read, c.memory>>10, c.took.Round(time.Millisecond))))
		if i == 0 {
			first = c
		}
		if c.sent != first.sent || c.taken != first.taken {
			t.Errorf("%d messages to and %d from each of %d hosts, but %d and %d for %d", c.sent, c.taken, n, first.sent, first.taken, sizes[0])
		}
		if limit := int64(others + n*simulatedSlots*each); c.written > limit {
			t.Errorf("%d bytes to each of %d hosts, want at most %d", c.written, n, limit)
		}
		if c.read > first.read+64 {
			t.Errorf("%d bytes from each of %d hosts, want %d", c.read, n, first.read)
		}
	}
}
