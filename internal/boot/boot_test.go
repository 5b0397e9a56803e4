package boot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/sys"
)

// testHost is a launcher without processes.
type testHost struct {
	size   int
	memory func(which int) (*os.File, error)
	after  func() // called as soon as an Exchange is complete
	lookup func(rank, of int)
	spawn  func(rank int, number uint32, body []byte)
	giveUp func(rank int, number uint32)

	server *Server
	mu     sync.Mutex
	events []string
}

// serve returns a server for the host.
func (h *testHost) serve() *Server {
	ranks := make([]int, h.size)
	for i := range ranks {
		ranks[i] = i
	}
	h.server = NewServer(ranks, h)
	return h.server
}

func (h *testHost) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, fmt.Sprintf(format, args...))
}

func (h *testHost) Hello(rank int, inC, world bool) (*Job, error) {
	h.note("hello %d", rank)
	host := make([]int32, h.size)
	var local []int
	for i := range host { // hosts a b a b ...
		host[i] = int32(i % 2)
		if i%2 == rank%2 {
			local = append(local, i)
		}
	}
	return &Job{ID: "test", Rank: rank, Size: h.size, Hosts: []string{"a", "b"}, Host: host, Local: local,
		Fabric: "tcp", Listen: "10.0.0.1", Cores: 2,
		Secret: [32]byte{1, 2, 3}, AppNum: rank / 2, Blocks: []Block{{1, nil}, {h.size - 1, []string{"ocean", "ice"}}}[:min(2, h.size)],
		Universe: 7, Parent: "a port"}, nil
}

func (h *testHost) Segment(which int) (*os.File, error) { return h.memory(which) }
func (h *testHost) Finalized(rank int)                  { h.note("finalized %d", rank) }
func (h *testHost) Init(rank int)                       { h.note("init %d", rank) }
func (h *testHost) InUse(rank int, used bool)           { h.note("in use %d %t", rank, used) }
func (h *testHost) Published(rank int, value []byte)    { h.note("published %d %s", rank, value) }
func (h *testHost) Lookup(rank, of int)                 { h.lookup(rank, of) }
func (h *testHost) Exchanged(values [][]byte) {
	h.server.Deliver(EncodeTable(values))
	h.mu.Lock()
	after := h.after
	h.mu.Unlock()
	if after != nil {
		after()
	}
}
func (h *testHost) Spawn(rank int, number uint32, body []byte) { h.spawn(rank, number, body) }
func (h *testHost) GiveUp(rank int, number uint32)             { h.giveUp(rank, number) }
func (h *testHost) Aborted(rank, code int, why string)         { h.note("aborted %d %d %s", rank, code, why) }

// world starts a server and n clients that are connected to it.
type world struct {
	server   *Server
	sessions []*Session
	served   []chan error
	ranks    []*launched
}

func newWorld(t *testing.T, h *testHost) *world {
	t.Helper()
	w := &world{server: h.serve()}
	for rank := range h.size {
		link, served := w.session(t, rank)
		c, err := dial(link, greeting{ownVersions(), "v9", false, true})
		if err != nil {
			t.Fatal(err)
		}
		w.ranks = append(w.ranks, c)
		w.served = append(w.served, served)
		t.Cleanup(func() { link.Close() })
	}
	return w
}

// session serves one end of a fresh link and returns the other.
func (w *world) session(t *testing.T, rank int) (*sys.Link, chan error) {
	t.Helper()
	mine, theirs, err := sys.LinkPair()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	fd, err := sys.Inherit(theirs)
	if err != nil {
		t.Fatal(err)
	}
	link, err := sys.NewLink(fd)
	if err != nil {
		t.Fatal(err)
	}
	s := w.server.Session(rank, mine)
	w.sessions = append(w.sessions, s)
	served := make(chan error, 1)
	go func() {
		served <- s.Serve()
		s.Close()
	}()
	t.Cleanup(func() { s.Close() })
	return link, served
}

func TestJobArrivesAsDescribed(t *testing.T) {
	h := &testHost{size: 5}
	w := newWorld(t, h)
	for rank, c := range w.ranks {
		want, _ := h.Hello(rank, false, true)
		if !reflect.DeepEqual(c.Job(), want) {
			t.Errorf("rank %d got %+v, want %+v", rank, c.Job(), want)
		}
	}
}

// exchangeAll lets every rank publish its value and checks what all get.
func exchangeAll(t *testing.T, ranks []Boot, round int) {
	t.Helper()
	value := func(rank int) []byte {
		return bytes.Repeat([]byte{byte(rank + round)}, min((rank+round)*97, MaxValue))
	}
	var wg sync.WaitGroup
	for rank, b := range ranks {
		wg.Go(func() {
			got, err := b.Exchange(value(rank))
			if err != nil {
				t.Errorf("round %d rank %d: %v", round, rank, err)
				return
			}
			for from := range ranks {
				if !bytes.Equal(got[from], value(from)) {
					t.Errorf("round %d: rank %d got %d bytes from %d, want %d", round, rank, len(got[from]), from, len(value(from)))
				}
			}
		})
	}
	wg.Wait()
}

func (w *world) boots() (all []Boot) {
	for _, c := range w.ranks {
		all = append(all, c)
	}
	return all
}

func TestSegmentWorksDuringExchange(t *testing.T) {
	h := &testHost{size: 2, memory: func(which int) (*os.File, error) {
		if which > 1 {
			return nil, fmt.Errorf("no segment %d: %w", which, errors.ErrUnsupported)
		}
		f, err := os.CreateTemp(t.TempDir(), "")
		if err == nil {
			_, err = fmt.Fprintf(f, "memory of %d", which)
		}
		return f, err
	}}
	w := newWorld(t, h)
	waiting := make(chan error)
	go func() {
		_, err := w.ranks[0].Exchange([]byte("x"))
		waiting <- err
	}()
	for _, which := range []int{ControlSegment, 0, 1} {
		f, err := w.ranks[1].Segment(which)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, _ := f.ReadAt(b, 0)
		if want := fmt.Sprintf("memory of %d", which); string(b[:n]) != want {
			t.Errorf("segment %d holds %q", which, b[:n])
		}
		f.Close()
	}
	if _, err := w.ranks[1].Segment(2); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("segment 2: %v", err)
	}
	if _, err := w.ranks[1].Exchange([]byte("y")); err != nil {
		t.Error(err)
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func TestVersionMismatchIsToldToBothSides(t *testing.T) {
	for _, v := range []versions{
		{ProtocolVersion + 1, ownVersions().wire, ownVersions().segment},
		{ProtocolVersion, ownVersions().wire + 1, ownVersions().segment},
		{ProtocolVersion, ownVersions().wire, ownVersions().segment + 1},
	} {
		w := &world{server: (&testHost{size: 1}).serve()}
		link, served := w.session(t, 0)
		_, err := dial(link, greeting{v, "v9.8.7 commit abc", false, true})
		if err == nil || !strings.Contains(err.Error(), "build both from the same version") ||
			!strings.Contains(err.Error(), "program: v9.8.7 commit abc, launcher protocol") || !strings.Contains(err.Error(), "launcher: "+Build()+",") {
			t.Errorf("program with %v was told %v", v, err)
		}
		var mismatch *VersionError
		if err := <-served; !errors.As(err, &mismatch) {
			t.Errorf("launcher of program with %v was told %v", v, err)
		}
		link.Close()
	}
}

// A Hello of a program of an older version ends after the numbers, without a build text.
func TestGreetingMayEndBehindTheNumbers(t *testing.T) {
	v := ownVersions()
	old := frame.New(kindHello).Raw([]byte(helloMagic)).U16(v.protocol).U16(v.wire).U16(v.segment).Bytes()
	if g, err := decodeHello(old[frame.HeadSize:]); err != nil || g != (greeting{v, "", false, false}) {
		t.Errorf("%+v, %v", g, err)
	}
	new := greeting{v, "v9\x1b[2J", true, false}.encode()
	if g, err := decodeHello(new[frame.HeadSize:]); err != nil || g != (greeting{v, "v9[2J", true, false}) {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestEndOfLauncherClosesLostAndFailsCalls(t *testing.T) {
	w := newWorld(t, &testHost{size: 2})
	waiting := make(chan error)
	go func() {
		_, err := w.ranks[0].Exchange(nil)
		waiting <- err
	}()
	for _, s := range w.sessions {
		s.Close()
	}
	for _, c := range w.ranks {
		<-c.Lost()
	}
	w.server.Stop()
	if err := <-waiting; !errors.Is(err, ErrOver) {
		t.Errorf("Exchange under way: %v", err)
	}
	if _, err := w.ranks[1].Segment(0); !errors.Is(err, ErrOver) {
		t.Errorf("Segment after the end: %v", err)
	}
}

func TestOverClosesLost(t *testing.T) {
	w := newWorld(t, &testHost{size: 1})
	w.sessions[0].Over("because")
	<-w.ranks[0].Lost()
}

func TestSecondProgramOfARankIsRefused(t *testing.T) {
	h := &testHost{size: 1}
	w := &world{server: h.serve()}
	link, served := w.session(t, 0)
	defer link.Close()
	link.Write(greeting{ownVersions(), "v9", false, true}.encode(), nil)
	link.Write(frame.New(kindFinalize).Bytes(), nil)
	link.Write(greeting{ownVersions(), "v9", false, true}.encode(), nil)
	if err := <-served; err == nil || !strings.Contains(err.Error(), "one program with mpi.Init per rank") {
		t.Errorf("got %v", err)
	}
}

func TestBrokenRequestsEndTheSession(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"no greeting":      frame.New(kindExchange).Bytes(),
		"wrong magic":      frame.New(kindHello).Raw([]byte("GET / HTTP/1.1\r\n")).Bytes(),
		"short greeting":   frame.New(kindHello).Raw([]byte("HALO")).Bytes(),
		"huge frame":       {0xff, 0xff, 0xff, 0xff, 1},
		"empty frame":      {0, 0, 0, 0, 0},
		"unknown kind":     append(greeting{ownVersions(), "v9", false, true}.encode(), frame.New(33).Bytes()...),
		"reply to us":      append(greeting{ownVersions(), "v9", false, true}.encode(), frame.New(kindTable).Bytes()...),
		"two greetings":    append(greeting{ownVersions(), "v9", false, true}.encode(), greeting{ownVersions(), "v9", false, true}.encode()...),
		"segment and more": append(greeting{ownVersions(), "v9", false, true}.encode(), frame.New(kindSegment).U32(0).U32(0).Bytes()...),
	} {
		w := &world{server: (&testHost{size: 1}).serve()}
		link, served := w.session(t, 0)
		link.Write(bytes, nil)
		if err := <-served; err == nil {
			t.Errorf("%s: no error", name)
		}
		link.Close()
	}
}

func TestMemoryAbortReachesAllRanksOnce(t *testing.T) {
	var told []string
	ranks := MemoryWith(3, func(rank, code int, reason string) {
		told = append(told, fmt.Sprintf("%d %d %s", rank, code, reason))
	})
	waiting := make(chan error)
	go func() {
		_, err := ranks[0].Exchange(nil)
		waiting <- err
	}()
	ranks[2].Abort(7, "enough")
	ranks[1].Abort(8, "more")
	for _, b := range ranks {
		<-b.Lost()
	}
	if err := <-waiting; !errors.Is(err, ErrOver) {
		t.Errorf("Exchange under way: %v", err)
	}
	if want := []string{"2 7 enough"}; !reflect.DeepEqual(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestMemoryHasNoSegments(t *testing.T) {
	if _, err := Memory(1)[0].Segment(0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// A job description that contradicts itself is refused as a whole.
func TestJobThatContradictsItselfIsRefused(t *testing.T) {
	good := func() *Job {
		return &Job{ID: "x", Size: 3, Rank: 1, Hosts: []string{"a", "b"}, Host: []int32{0, 1, 1}, Fabric: "shm", Listen: "::1"}
	}
	if _, err := decodeJob(good().encode()[frame.HeadSize:]); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Job){
		"no hosts":             func(j *Job) { j.Hosts = nil },
		"host without a name":  func(j *Job) { j.Hosts[1] = "" },
		"host of a long name":  func(j *Job) { j.Hosts[0] = strings.Repeat("x", MaxName+1) },
		"rank on no host":      func(j *Job) { j.Host[2] = 2 },
		"rank on host -1":      func(j *Job) { j.Host[2] = -1 },
		"rank without a host":  func(j *Job) { j.Host = j.Host[:2] },
		"more hosts for ranks": func(j *Job) { j.Host = append(j.Host, 1) },
		"rank beyond the size": func(j *Job) { j.Rank = 3 },
		"size beyond all":      func(j *Job) { j.Size = MaxRanks + 1 },
	} {
		j := good()
		spoil(j)
		if j, err := decodeJob(j.encode()[frame.HeadSize:]); err == nil {
			t.Errorf("%s: taken as %+v", name, j)
		}
	}
}

// Processes of several hosts take part in one Exchange: the server of each host passes
// on the values of its processes and receives the values of all.
func TestExchangeAcrossHosts(t *testing.T) {
	ranks := [][]int{{0, 3, 4}, {1}, {2, 5}}
	hosts := make([]*branch, len(ranks))
	all := make([][]byte, 6)
	boots := make([]Boot, 6)
	var mu sync.Mutex
	entered := 0
	for i := range hosts {
		b := &branch{testHost: testHost{size: 6}}
		b.up = func(values [][]byte) {
			mu.Lock()
			defer mu.Unlock()
			for k, r := range ranks[i] {
				all[r] = values[k]
			}
			entered += len(values)
			if entered == len(all) {
				entered = 0
				for _, h := range hosts {
					h.server.Deliver(EncodeTable(all))
				}
			}
		}
		b.server = NewServer(ranks[i], b)
		hosts[i] = b
		w := &world{server: b.server}
		for _, r := range ranks[i] {
			link, _ := w.session(t, r)
			c, err := dial(link, greeting{ownVersions(), "v9", false, true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { link.Close() })
			boots[r] = c
		}
	}
	for round := range 20 {
		exchangeAll(t, boots, round)
	}
	// The launcher tells one host that a rank of another host has finalized.
	waiting := make(chan error)
	go func() {
		_, err := boots[1].Exchange(nil)
		waiting <- err
	}()
	hosts[1].server.Finalized(5)
	if err := <-waiting; err == nil || !strings.Contains(err.Error(), "rank 5 has called Finalize") {
		t.Errorf("Exchange without rank 5: %v", err)
	}
}

// branch is the host of some ranks of a job.
type branch struct {
	testHost
	up func([][]byte)
}

func (b *branch) Exchanged(values [][]byte) { b.up(values) }
