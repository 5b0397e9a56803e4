package joined

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// exchange lets all processes exchange values in some rounds, and checks them.
func exchange(t *testing.T, list []*Process, rounds int) {
	t.Helper()
	for round := range rounds {
		for rank, err := range together(list, func(p *Process) error {
			got, err := p.Exchange(fmt.Appendf(nil, "%d of %d", p.id.Rank, round))
			if err != nil {
				return err
			}
			for i, v := range got {
				if want := fmt.Sprintf("%d of %d", i, round); string(v) != want {
					return fmt.Errorf("%q in the place of %q", v, want)
				}
			}
			if len(got) != p.id.Size {
				return fmt.Errorf("%d values", len(got))
			}
			return nil
		}) {
			if err != nil {
				t.Fatalf("round %d, rank %d: %v", round, rank, err)
			}
		}
	}
}

// Leaders of many nodes make a tree of several levels, and exchange what all of their processes say.
func TestXLCH01_TreeOfLeaders(t *testing.T) {
	for _, nodes := range [][]int{{0}, {0, 0, 0}, {0, 1, 0, 1}, {0, 1, 2, 2, 1}, counted(40, 1), counted(20, 2)} {
		f := newFake(nodes...)
		list := f.all(t)
		for r, p := range list {
			j := p.Job()
			if j.Rank != r || j.Size != len(nodes) || len(j.Host) != len(nodes) || int(j.Host[r]) != nodes[r] || j.Key == nil {
				t.Errorf("rank %d: %+v", r, j)
			}
		}
		exchange(t, list, 3)
		for _, a := range f.aborted() {
			t.Error(a)
		}
	}
}

// counted returns the nodes of n times each processes.
func counted(n, each int) (nodes []int) {
	for i := range n {
		for range each {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// When a leader has no use for MPI and ends, another process follows it, and memory that two processes share
// stays the same.
func TestXSES01_MemoryOutlivesTheLeader(t *testing.T) {
	f := newFake(0, 0, 0, 0)
	list := f.all(t)[:3] // rank 3 asks for nothing
	leader, others := list[0], list[1:]
	files := map[int]os.FileInfo{}
	which := []int{boot.ControlSegment, 1, 2, boot.BellFile(1), boot.NotesSegment}
	for i, n := range which {
		files[n] = segmentOf(t, others[i%2], n)
	}
	if err := leader.InUse(false); err != nil {
		t.Fatal(err)
	}
	leader.exit()
	for i, n := range which {
		// The process that did not ask before asks now.
		if !os.SameFile(segmentOf(t, others[(i+1)%2], n), files[n]) {
			t.Errorf("segment %d is another one", n)
		}
	}
	if _, err := others[0].Exchange(nil); err == nil || !strings.Contains(err.Error(), "no Exchange can complete") {
		t.Errorf("an Exchange without the process that has left: %v", err)
	}
	for _, a := range f.aborted() {
		t.Error(a)
	}
	select {
	case <-others[0].Lost():
		t.Error("the job is over")
	default:
	}
}

func segmentOf(t *testing.T, p *Process, which int) os.FileInfo {
	t.Helper()
	file, err := p.Segment(which)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// A leader that ends in use of MPI has died, and so has any other process: the job is over for all, on all
// nodes, and the engine is told.
func TestF4_DeathOfAProcess(t *testing.T) {
	for name, victim := range map[string]int{"leader of the first node": 0, "leader of another node": 2, "no leader": 3} {
		t.Run(name, func(t *testing.T) {
			f := newFake(0, 0, 1, 1)
			list := f.all(t)
			exchange(t, list, 1)
			list[victim].exit()
			for r, p := range list {
				if r != victim {
					<-p.Lost()
				}
			}
			if len(f.aborted()) == 0 {
				t.Error("the engine was not told")
			}
		})
	}
}

// A process that has said that it has no use for MPI may end without consequence.
func TestXSES01_EndWithoutUse(t *testing.T) {
	f := newFake(0, 0, 1)
	list := f.all(t)
	exchange(t, list, 1)
	for _, p := range list[1:] {
		if err := errors.Join(p.Finalize(), p.InUse(false)); err != nil {
			t.Error(err)
		}
		p.exit()
	}
	if _, err := list[0].Exchange(nil); err == nil || !strings.Contains(err.Error(), "has called Finalize") {
		t.Errorf("an Exchange after a Finalize: %v", err)
	}
	if a := f.aborted(); a != nil {
		t.Errorf("aborts: %q", a)
	}
}

// All may end as soon as they have the values of the last Exchange: the ends of some do not overtake the
// values of others.
func TestXLCH01_EndsDoNotPassTables(t *testing.T) {
	for range 20 {
		f := newFake(counted(6, 2)...)
		list := f.all(t)
		for rank, err := range together(list, func(p *Process) error {
			if _, err := p.Exchange(nil); err != nil {
				return err
			}
			return errors.Join(p.Finalize(), p.InUse(false))
		}) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
	}
}

// An engine that is wrong about nodes is found out.
func TestXLCH01_EngineIsWrongAboutNodes(t *testing.T) {
	f := newFake(0, 0, 1)
	list := []*Process{f.join(t, 0), f.joinAs(t, &fakeClient{fake: f, rank: 1, job: "elsewhere-" + f.job})}
	if err := list[1].fenceAfter(list[0]); err == nil || !strings.Contains(err.Error(), "a fake says that rank 0 runs on the same node") || !strings.Contains(err.Error(), envLocal) {
		t.Errorf("two processes that do not meet: %v", err)
	}
	for _, nodes := range [][]int{{0}, {1, 0}, {0, 2}, {0, -1}} {
		if p, err := newPlace(f.identity(), nodes); err == nil {
			t.Errorf("nodes %v: %+v", nodes, p)
		}
	}
}

// fenceAfter is fence, after another process has put its contact.
func (p *Process) fenceAfter(other *Process) error {
	if err := other.fence(); err != nil {
		return err
	}
	return p.fence()
}

// What others write into the store of an engine makes an error that names rank, engine and cure.
func TestXLCH01_NonsenseInTheStore(t *testing.T) {
	key := wire.PublicKey(newPlaceOf(t).key)
	good := contact{0, "127.0.0.1:1", key}.encode()
	for text, want := range map[string]string{
		"":                                 "is not what a process of Halo publishes",
		"kvs,1,2":                          "is not what a process of Halo publishes",
		good[:len(good)-50]:                "has 4 parts, want 5: the engine has cut it off",
		"halo,other,0,127.0.0.1:1," + key:  "another version of Halo (there: other; here: launcher-protocol",
		"halo," + versions() + ",9,a:1,k":  `names rank "9" of 2`,
		"halo," + versions() + ",-1,a:1,k": `names rank "-1" of 2`,
		"halo," + versions() + ",1,a:1,k":  "rank 1 leads it, but a fake says that this rank runs on node 1",
	} {
		f := newFake(0, 1)
		f.set(contactKey, 0, text)
		p := f.join(t, 1)
		if err := p.server.tree.open(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "from rank 0 by a fake") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, addr := range []string{"127.0.0.1:1", "10.255.1.2:65535", "[fd00:0:0:0:0:0:0:1]:5"} {
		c := contact{1, addr, key}
		if got, err := parseContact(c.encode(), 2); err != nil || got != c {
			t.Errorf("%+v is read as %+v, %v", c, got, err)
		}
	}
}

func newPlaceOf(t *testing.T) *place {
	t.Helper()
	p, err := newPlace(newFake(0).identity(), []int{0})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Strangers at the port of a leader get no byte, even if they know its contact.
func TestS2_LeadersRefuseStrangers(t *testing.T) {
	f := newFake(0, 1)
	list := f.all(t)
	exchange(t, list, 1)
	c, err := parseContact(list[0].job.Leader, 2)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := wire.PairSecret(newPlaceOf(t).key, c.key)
	if err != nil {
		t.Fatal(err)
	}
	var hello [wire.HelloSize]byte
	wire.NewDialler(wire.Pair{Secret: secret, Job: f.job + "/leaders", From: 1, To: 0}).Hello(&hello)
	for name, b := range map[string][]byte{"garbage": []byte(strings.Repeat("GET / ", 20)), "another key": hello[:], "another node": append([]byte("HALO"), make([]byte, 200)...)} {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(b)
		conn.SetReadDeadline(time.Now().Add(testrun.Long))
		if got, _ := io.ReadAll(conn); len(got) > 0 {
			t.Errorf("%s: %d bytes came back", name, len(got))
		}
		conn.Close()
	}
	exchange(t, list, 1)
}

// A leader refuses a process that claims a rank of another node, or one that is taken, and takes no memory
// from it.
func TestXLCH01_RanksThatAreTaken(t *testing.T) {
	f := newFake(0, 0, 1)
	list := f.all(t)
	foreign, err := sys.Memfd("halo-foreign", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	info, err := foreign.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range map[int]string{2: "rank 2 is none of the 2 ranks of this node", 1: "is rank 1 already"} {
		link, err := sys.DialNode(list[0].nodeName())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := boot.Join(link, rank, false, true, true, map[int]*os.File{0: foreign}); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("rank %d: %v", rank, err)
		}
		link.Close()
	}
	if os.SameFile(segmentOf(t, list[1], 0), info) {
		t.Error("the segment of rank 0 is that of a stranger")
	}
	exchange(t, list, 1)
}

// BRD-09, ENV-07: A line that says why the job ends is read by the engine before the engine is told to end the job, also
// by one that is slow to read on a busy machine.
func TestENV07_BRD09_EnginesReadTheLine(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("a line\n"); err != nil {
		t.Fatal(err)
	}
	var reads atomic.Bool
	go func() {
		time.Sleep(10 * passTime) // another program has the core
		reads.Store(true)
		r.Read(make([]byte, 100))
	}()
	passOn(int(w.Fd()))
	if !reads.Load() {
		t.Error("the engine is told to end the job, and has not read the line")
	}
}
