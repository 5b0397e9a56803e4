package node_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Write copies all blocks to the memory of a peer.
func TestWriteReachesThePeersMemory(t *testing.T) {
	f := nodetest.New(t, 2).Start(t)
	if err := f[0].Write(1, [][]byte{make([]byte, 1)}, 1<<20); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write before CanWrite: %v", err)
	}
	if !f[0].CanWrite(1) {
		t.Fatal("CanWrite is false for a process of our own")
	}
	here := bytes.Repeat([]byte("what I have to say "), 10000)
	there := make([]byte, len(here))
	addr := uint64(uintptr(unsafe.Pointer(&there[0]))) // large: on the heap, which does not move
	for _, blocks := range []int{1, 2, 64, 65, 1000} {
		clear(there)
		var src [][]byte
		for i := range blocks {
			src = append(src, here[len(here)*i/blocks:len(here)*(i+1)/blocks], nil)
		}
		if err := f[0].Write(1, src, addr); err != nil || !bytes.Equal(here, there) {
			t.Errorf("Write of %d blocks: %v, equal %t", blocks, err, bytes.Equal(here, there))
		}
	}
	for _, bad := range []uint64{0, 8, 1 << 63, ^uint64(0)} {
		if err := f[0].Write(1, [][]byte{here}, bad); err == nil {
			t.Errorf("Write at %#x succeeded", bad)
		}
	}
	// Another process may have the id of a dead one.
	f[0].Lose(1, errors.New("killed by the test"))
	if err := f[0].Write(1, [][]byte{here}, addr); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write to a dead process: %v", err)
	}
	if !f[0].Gone(1) || f[0].Gone(0) {
		t.Errorf("gone: %t, %t", f[0].Gone(0), f[0].Gone(1))
	}
}

func TestCanWriteDemandsTheProbe(t *testing.T) {
	f := nodetest.New(t, 2).Start(t)
	f[0].Control().Door(1).Probe[3]++
	if f[0].CanWrite(1) {
		t.Error("CanWrite is true")
	}
}

func TestReadReachesThePeersMemory(t *testing.T) {
	h := nodetest.New(t, 2)
	f := h.Start(t)
	if err := f[0].Read(1, [][]byte{make([]byte, 1)}, 1<<20); err == nil {
		t.Error("Read before CanRead succeeded")
	}
	if !f[0].CanRead(1) {
		t.Fatal("CanRead is false for a process of our own")
	}
	there := bytes.Repeat([]byte("remote memory "), 10000)
	here := make([]byte, len(there))
	addr := uint64(uintptr(unsafe.Pointer(&there[0]))) // large: on the heap, which does not move
	for _, blocks := range []int{1, 2, 64, 65, 1000} { // one system call takes at most 64
		clear(here)
		var dst [][]byte
		for i := range blocks {
			dst = append(dst, here[len(here)*i/blocks:len(here)*(i+1)/blocks], nil)
		}
		if err := f[0].Read(1, dst, addr); err != nil || !bytes.Equal(here, there) {
			t.Errorf("Read of %d blocks: %v, equal %t", blocks, err, bytes.Equal(here, there))
		}
	}
	if err := f[0].Read(1, [][]byte{here[:0]}, addr); err != nil {
		t.Errorf("Read of nothing: %v", err)
	}
	for _, bad := range []uint64{0, 8, 1 << 63, ^uint64(0)} {
		if err := f[0].Read(1, [][]byte{here}, bad); err == nil {
			t.Errorf("Read at %#x succeeded", bad)
		}
	}
}

// A process id may belong to another process here, in another pid namespace.
func TestCanReadDemandsTheProbe(t *testing.T) {
	for name, spoil := range map[string]func(d *shmfmt.Door){
		"probe":   func(d *shmfmt.Door) { d.Probe[0]++ },
		"address": func(d *shmfmt.Door) { d.ProbeAddr = 0 },
		"no pid":  func(d *shmfmt.Door) { d.Pid.Store(0) },
		"pid":     func(d *shmfmt.Door) { d.Pid.Store(1 << 30) },
	} {
		f := nodetest.New(t, 2).Start(t)
		spoil(f[0].Control().Door(1))
		if f[0].CanRead(1) {
			t.Errorf("%s: CanRead is true", name)
		}
		if err := f[0].Read(1, [][]byte{make([]byte, 8)}, f[0].Control().Door(1).ProbeAddr); err == nil {
			t.Errorf("%s: Read succeeded", name)
		}
	}
}

func TestPidIsPublished(t *testing.T) {
	f := nodetest.New(t, 2).Start(t)
	for i := range 2 {
		if got := f[0].Control().Door(i).Pid.Load(); got != int32(os.Getpid()) {
			t.Errorf("door %d has pid %d, want %d", i, got, os.Getpid())
		}
	}
}

// A node that reports says once why it may not read another process's memory.
func TestReportOfDeniedMemory(t *testing.T) {
	for name, x := range map[string]struct {
		spoil func(d *shmfmt.Door)
		want  string
	}{
		"probe": {func(d *shmfmt.Door) { d.Probe[0]++ }, "it is in another pid namespace"},
		"pid":   {func(d *shmfmt.Door) { d.Pid.Store(1 << 30) }, "pid 1073741824: no such process"},
		"first": {func(d *shmfmt.Door) { d.ProbeAddr = 0 }, "it is in another pid namespace"}, // has the own id
	} {
		f := nodetest.New(t, 3).Start(t)
		var lines []string
		f[1].Report(func(line string) { lines = append(lines, line) })
		if !f[1].CanRead(2) || lines != nil {
			t.Errorf("%s: memory that may be read: %q", name, lines)
		}
		x.spoil(f[1].Control().Door(0))
		for range 2 {
			f[1].CanRead(0)
		}
		if len(lines) != 1 || !strings.HasPrefix(lines[0], "long messages between processes of this node are copied twice: process 1 may not read the memory of process 0: ") || !strings.HasSuffix(lines[0], x.want) {
			t.Errorf("%s: %q", name, lines)
		}
	}
}
