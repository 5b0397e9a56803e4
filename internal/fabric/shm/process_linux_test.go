package shm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/wire"
)

// blockSize is the size of the block that the child allocates, in bytes.
const blockSize = 1 << 20

// childMark in the environment makes the test binary play rank 1 of two.
const childMark = "HALO_SHM_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	leak.Main(m)
}

// child sends every frame back until it receives a frame of kind User. First it sends the address of
// some of its memory, and the offset of a block of its heap. It answers a frame of kind Ready with the
// beginning of that block.
func child() error {
	h := &nodetest.Host{N: 2}
	for i := range 3 {
		h.Files = append(h.Files, os.NewFile(uintptr(3+i), "segment"))
	}
	n, err := node.Open(&nodetest.Process{Host: h, Rank: 1})
	if err != nil {
		return err
	}
	f := shm.New(n)
	off, block, err := n.Alloc(blockSize, 0)
	if err != nil {
		return err
	}
	copy(block, "the child's block")
	e := &echo{f: f, block: block}
	memory := bytes.Repeat([]byte("the child's memory"), 1000)
	where := wire.Header{Kind: wire.Ready, Arg: uint64(uintptr(unsafe.Pointer(&memory[0]))), Name: uint64(len(memory)), Ctx: uint64(off)}
	e.queue = append(e.queue, kept{where, nil})
	os.Stdout.WriteString("ready\n")
	for !e.done || len(e.queue) > 0 {
		e.turn()
	}
	runtime.KeepAlive(memory)
	return f.Close()
}

// kept is a frame that waits for room.
type kept struct {
	h       wire.Header
	payload []byte
}

// echo is the sink of the child.
type echo struct {
	f     *shm.Fabric
	block []byte
	queue []kept
	done  bool
}

func (e *echo) turn() {
	n := e.f.Poll(e, -1)
	for len(e.queue) > 0 && e.f.Send(0, &e.queue[0].h, e.queue[0].payload) {
		e.queue = e.queue[1:]
		n++
	}
	if n > 0 {
		return
	}
	e.f.Arm()
	if e.f.Poll(e, -1) == 0 && !e.done {
		e.f.Sleep()
	}
	e.f.Disarm()
}

func (e *echo) Frame(from int, h *wire.Header, payload []byte) {
	if h.Kind == wire.User {
		e.done = true
		return
	}
	if h.Kind == wire.Ready {
		e.queue = append(e.queue, kept{wire.Header{Kind: wire.Ready, Size: 64}, e.block[:64]})
		return
	}
	e.queue = append(e.queue, kept{*h, slices.Clone(payload)})
}
func (e *echo) Place(int, *wire.Header) []byte { return nil }
func (e *echo) Placed(int, *wire.Header)       {}
func (e *echo) Down(int, error)                { e.done = true }

// parent is the sink of the test. It compares what comes back with what was sent.
type parent struct {
	t     *testing.T
	node  *node.Node
	f     *shm.Fabric
	noise []byte
	where wire.Header
	told  []byte // the beginning of the child's block
	sent  int
	got   int
	downs int
}

func (p *parent) frame(n int) (wire.Header, []byte) {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	size := r.IntN(1+p.f.ChunkMax()) >> r.IntN(14)
	at := r.IntN(len(p.noise) - size + 1)
	return wire.Header{Kind: wire.Data, Size: uint32(size), Ctx: r.Uint64(), Arg: uint64(n)}, p.noise[at : at+size]
}

func (p *parent) Frame(from int, h *wire.Header, payload []byte) {
	if h.Kind == wire.Ready && len(payload) > 0 {
		p.told = slices.Clone(payload)
		return
	}
	if h.Kind == wire.Ready {
		p.where = *h
		return
	}
	want, content := p.frame(p.got)
	if p.downs > 0 || *h != want || !bytes.Equal(payload, content) {
		p.t.Fatalf("frame %d came back as %+v, was %+v; %d downs before", p.got, *h, want, p.downs)
	}
	p.got++
}
func (p *parent) Place(int, *wire.Header) []byte { return nil }
func (p *parent) Placed(int, *wire.Header)       {}
func (p *parent) Down(int, error)                { p.downs++ }

// turn sends if it may, polls, and sleeps if there is nothing to do.
func (p *parent) turn(more bool) {
	n := p.f.Poll(p, -1)
	if more {
		if h, payload := p.frame(p.sent); p.f.Send(1, &h, payload) {
			p.sent++
			n++
		}
	}
	if n > 0 {
		return
	}
	p.f.Arm()
	if p.f.Poll(p, -1) == 0 {
		p.f.Sleep()
	}
	p.f.Disarm()
}

// startChild starts rank 1 as a process of its own.
func startChild(t *testing.T) (*parent, *exec.Cmd) {
	t.Helper()
	h := nodetest.New(t, 2)
	n := h.Open(t, 0)
	f := shm.New(n)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMark+"=1")
	cmd.ExtraFiles = h.Files
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal("the child did not get ready: ", err)
	}
	p := &parent{t: t, node: n, f: f, noise: make([]byte, 2*f.ChunkMax())}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range p.noise {
		p.noise[i] = byte(r.Uint32())
	}
	return p, cmd
}

func TestTwoProcessesExchangeAndReadMemory(t *testing.T) {
	p, cmd := startChild(t)
	const frames = 20000
	for p.got < frames {
		p.turn(p.sent < frames)
	}
	if !p.node.CanRead(1) {
		t.Log("this machine does not let a process read its child's memory")
	} else {
		got := make([]byte, p.where.Name)
		if err := p.node.Read(1, [][]byte{got}, p.where.Arg); err != nil || !bytes.HasPrefix(got, []byte("the child's memory")) {
			t.Errorf("Read of the child: %v, %.20q", err, got)
		}
		if err := p.node.Read(1, [][]byte{got}, 8); err == nil {
			t.Error("Read at address 8 succeeded")
		}
	}
	for !p.f.Send(1, &wire.Header{Kind: wire.User}, nil) {
		p.turn(false)
	}
	if err := cmd.Wait(); err != nil {
		t.Error("the child ended with ", err)
	}
}

// MEM-06: processes load and store in each other's blocks, and the kernel writes other memory for them.
// The blocks of a killed process remain for peers that have mapped them.
func TestMEM06TwoProcessesShareABlock(t *testing.T) {
	p, cmd := startChild(t)
	for p.where.Kind == 0 {
		p.turn(false)
	}
	off := int64(p.where.Ctx)
	block, err := p.node.View(1).Memory(off, blockSize)
	if err != nil || !bytes.HasPrefix(block, []byte("the child's block\x00")) {
		t.Fatalf("the child's block: %.20q, %v", block, err)
	}
	copy(block, "what I put there")
	for !p.f.Send(1, &wire.Header{Kind: wire.Ready}, nil) {
		p.turn(false)
	}
	for p.told == nil {
		p.turn(false)
	}
	if !bytes.HasPrefix(p.told, []byte("what I put there")) {
		t.Errorf("the child says %q", p.told)
	}
	if !p.node.CanWrite(1) {
		t.Log("this machine does not let a process write its child's memory")
	} else {
		// The child does not read this memory.
		here, back := bytes.Repeat([]byte("new"), 1000), make([]byte, 3000)
		if err := p.node.Write(1, [][]byte{here[:5], here[5:]}, p.where.Arg); err != nil {
			t.Error(err)
		}
		if err := p.node.Read(1, [][]byte{back}, p.where.Arg); err != nil || !bytes.Equal(back, here) {
			t.Errorf("the child's memory: %.20q, %v", back, err)
		}
		if err := p.node.Write(1, [][]byte{here}, 8); err == nil {
			t.Error("Write at address 8 succeeded")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	p.node.Lose(1, errKilled)
	for p.downs == 0 {
		p.turn(false)
	}
	for i := range block {
		block[i]++
	}
	if again, err := p.node.View(1).Memory(off+blockSize-1, 1); err != nil || again[0] != 1 {
		t.Errorf("the block of a dead process: %d, %v", again, err)
	}
}

// After a kill at a random point whole frames arrive in order, then Down.
func TestKilledProcessLeavesWholeFrames(t *testing.T) {
	runs := 10
	if testing.Short() {
		runs = 2
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range runs {
		p, cmd := startChild(t)
		point := time.Duration(r.IntN(20000)) * time.Microsecond // at any point
		told := make(chan struct{})
		go func() {
			defer close(told)
			time.Sleep(point)
			cmd.Process.Kill()
			cmd.Wait()
			p.node.Lose(1, errKilled) // as the launcher does
		}()
		for p.downs == 0 {
			p.turn(true)
		}
		<-told
		for range 100 {
			p.turn(true) // frames to a dead process are accepted
		}
		if p.downs != 1 {
			t.Errorf("%d downs", p.downs)
		}
		t.Logf("%d frames sent, %d came back", p.sent, p.got)
	}
}
