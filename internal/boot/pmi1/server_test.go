package pmi1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// fakeHost is the host of the ranks of a test, which all are on it.
type fakeHost struct {
	mu     sync.Mutex
	size   int
	round  [][]byte
	in     int
	done   chan struct{}
	over   bool
	events []string
	names  map[string]string
}

func (h *fakeHost) event(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, fmt.Sprintf(format, args...))
}

func (h *fakeHost) Joined(rank int) error {
	h.event("joined %d", rank)
	return nil
}

func (h *fakeHost) Fence(rank int, puts []byte) ([][]byte, error) {
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return nil, ErrOver
	}
	if h.in == 0 {
		h.round, h.done = make([][]byte, h.size), make(chan struct{})
	}
	h.round[rank] = append([]byte(nil), puts...)
	round, done := h.round, h.done
	h.in++
	if h.in == h.size {
		h.in = 0
		close(done)
	}
	h.mu.Unlock()
	<-done
	return round, nil
}

func (h *fakeHost) Name(rank int, r NameRequest) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.Verb {
	case Publish:
		h.names[r.Service] = r.Port
	case Unpublish:
		delete(h.names, r.Service)
	}
	if port := h.names[r.Service]; port != "" || r.Verb == Unpublish {
		return port, nil
	}
	return "", errors.New("not \\ there")
}

func (h *fakeHost) Finalized(rank int)     { h.event("finalized %d", rank) }
func (h *fakeHost) Aborted(rank, code int) { h.event("aborted %d %d", rank, code) }

// dial returns clients of a server for size ranks, and what Serve returns for each.
func dial(t *testing.T, size, room int) (h *fakeHost, clients []net.Conn, ends []chan error) {
	t.Helper()
	h = &fakeHost{size: size, names: map[string]string{}}
	nodes := make([]int, size)
	for i := range nodes {
		nodes[i] = i / 2
	}
	s := NewServer(Job{Name: "kvs", Size: size, Nodes: nodes, AppNum: func(rank int) int { return rank % 2 }, Room: room}, h)
	for i := range size {
		mine, theirs := net.Pipe()
		end := make(chan error, 1)
		go func() {
			end <- s.Serve(i, theirs, theirs)
			theirs.Close()
		}()
		t.Cleanup(func() { mine.Close() })
		mine.SetDeadline(time.Now().Add(testrun.Long))
		clients, ends = append(clients, mine), append(ends, end)
	}
	return h, clients, ends
}

// ask sends a request and returns the answer.
func ask(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	if _, err := io.WriteString(c, request+"\n"); err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	var b []byte
	one := make([]byte, 1)
	for {
		if _, err := c.Read(one); err != nil {
			t.Fatalf("%q: %q, %v", request, b, err)
		}
		if one[0] == '\n' {
			return string(b)
		}
		b = append(b, one[0])
	}
}

// dialogue checks the answers to requests, which follow each other.
func dialogue(t *testing.T, c net.Conn, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := ask(t, c, pairs[i]); got != pairs[i+1] {
			t.Errorf("%.80q: answer %.200q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

const (
	initRequest = "cmd=init pmi_version=1 pmi_subversion=1"
	initAnswer  = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
)

// X-LCH-01: each request of PMI-1 has its answer.
func TestServerAnswers(t *testing.T) {
	h, c, ends := dial(t, 1, 1<<16)
	dialogue(t, c[0],
		initRequest, initAnswer,
		"cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0",
		"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs rc=0",
		"cmd=get_universe_size", "cmd=universe_size size=1 rc=0",
		"cmd=get_appnum", "cmd=appnum appnum=0 rc=0",
		"cmd=get kvsname=kvs key=PMI_process_mapping", "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))",
		"cmd=put kvsname=kvs key=a value=x=y;\\ z", "cmd=put_result rc=0 msg=success",
		"cmd=get kvsname=kvs key=a", "cmd=get_result rc=-1 msg=key_not_found value=unknown", // before the barrier
		"cmd=barrier_in", "cmd=barrier_out rc=0 msg=success",
		"cmd=get kvsname=kvs key=a", "cmd=get_result rc=0 msg=success value=x=y;\\ z",
		"cmd=get kvsname=kvs key=b", "cmd=get_result rc=-1 msg=key_not_found value=unknown",
		"cmd=get kvsname=other key=a", "cmd=get_result rc=-1 msg=unknown_kvs value=unknown",
		"cmd=put kvsname=other key=a value=1", "cmd=put_result rc=-1 msg=unknown_kvs",
		"cmd=publish_name service=s port=p", "cmd=publish_result rc=0 info=ok",
		"cmd=lookup_name service=s", "cmd=lookup_result rc=0 port=p",
		"cmd=unpublish_name service=s", "cmd=unpublish_result rc=0 info=ok",
		"cmd=lookup_name service=s", "cmd=lookup_result rc=-1 msg=not___there",
		"mcmd=spawn\nnprocs=1\nexecname=x\nendcmd", "cmd=spawn_result rc=-1 msg=halo_run_starts_no_processes_later",
		initRequest, "cmd=response_to_init rc=-1 msg=second_init pmi_version=1 pmi_subversion=1",
		"cmd=finalize", "cmd=finalize_ack rc=0",
		"cmd=get_maxes", "cmd=maxes rc=-1 msg=the_process_has_finalized",
	)
	c[0].Close()
	if err := <-ends[0]; err != io.EOF {
		t.Error(err)
	}
	if got := fmt.Sprint(h.events); got != "[joined 0 finalized 0]" {
		t.Error(got)
	}
}

// What one rank has put all find after the barrier, and a later value replaces an earlier one.
func TestServerBarriers(t *testing.T) {
	_, c, _ := dial(t, 4, 1<<16)
	var all sync.WaitGroup
	for rank := range c {
		all.Go(func() {
			dialogue(t, c[rank], initRequest, initAnswer)
			for round := range 20 {
				dialogue(t, c[rank],
					fmt.Sprintf("cmd=put kvsname=kvs key=k%d value=%d.%d", rank, rank, round), "cmd=put_result rc=0 msg=success",
					"cmd=barrier_in", "cmd=barrier_out rc=0 msg=success")
				for peer := range c {
					dialogue(t, c[rank], fmt.Sprintf("cmd=get kvsname=kvs key=k%d", peer),
						fmt.Sprintf("cmd=get_result rc=0 msg=success value=%d.%d", peer, round))
				}
				dialogue(t, c[rank], "cmd=barrier_in", "cmd=barrier_out rc=0 msg=success")
			}
		})
	}
	all.Wait()
}

// A process that the host calls off gets no answer, and may abort at any time.
func TestServerEnds(t *testing.T) {
	h, c, ends := dial(t, 1, 1<<16)
	dialogue(t, c[0], initRequest, initAnswer)
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	io.WriteString(c[0], "cmd=barrier_in\ncmd=abort exitcode=7\ncmd=abort exitcode=x message=a b\n")
	dialogue(t, c[0], "cmd=get_appnum", "cmd=appnum appnum=0 rc=0")
	c[0].Close()
	<-ends[0]
	if got := fmt.Sprint(h.events); got != "[joined 0 aborted 0 7 aborted 0 1]" {
		t.Error(got)
	}
}

// S5: requests that exceed a limit, or that PMI-1.1 does not have, are refused with the reason; the
// process can go on.
func TestServerRefusesWhatIsTooLong(t *testing.T) {
	_, c, _ := dial(t, 1, 3000)
	long := strings.Repeat("x", 1024)
	dialogue(t, c[0],
		"cmd=init pmi_version=2 pmi_subversion=0", "cmd=response_to_init rc=-1 msg=this_server_speaks_pmi_version_1.1 pmi_version=1 pmi_subversion=1",
		initRequest, initAnswer,
		"cmd=put kvsname=kvs key="+long[:65]+" value=1", "cmd=put_result rc=-1 msg=key_of_65_bytes_the_limit_is_64",
		"cmd=put kvsname=kvs value=1", "cmd=put_result rc=-1 msg=key_of_0_bytes_the_limit_is_64",
		"cmd=put kvsname=kvs key=a value="+long+"x", "cmd=put_result rc=-1 msg=value_of_1025_bytes_the_limit_is_1024",
		"cmd=put kvsname=kvs key=a", "cmd=put_result rc=-1 msg=value_of_0_bytes_the_limit_is_1024",
		"cmd=put kvsname=kvs key=PMI_x value=1", "cmd=put_result rc=-1 msg=keys_that_begin_with_PMI__are_reserved",
		"cmd=put kvsname=kvs key=a value="+long, "cmd=put_result rc=0 msg=success",
		"cmd=put kvsname=kvs key=b value="+long, "cmd=put_result rc=0 msg=success",
		"cmd=put kvsname=kvs key=c value="+long, "cmd=put_result rc=-1 msg=more_than_3000_bytes_before_a_barrier",
		"cmd=barrier_in group=NODE:1", "cmd=barrier_out rc=-1 msg=barrier_of_group_NODE:1",
		`cmd=barrier_in group=a\ b\\c`, "cmd=barrier_out rc=-1 msg=barrier_of_group_a__b__c",
		"cmd=barrier_in", "cmd=barrier_out rc=0 msg=success",
		"cmd=put kvsname=kvs key=c value="+long, "cmd=put_result rc=0 msg=success",
		"cmd=publish_name service=s", "cmd=publish_result rc=-1 msg=port_of_0_bytes_the_limit_is_1024",
		"cmd=publish_name port=p", "cmd=publish_result rc=-1 msg=service_of_0_bytes_the_limit_is_1024",
		"cmd=lookup_name service="+long+"x", "cmd=lookup_result rc=-1 msg=service_of_1025_bytes_the_limit_is_1024",
		"cmd=nonsense x=1", "cmd=nonsense_result rc=-1 msg=unknown_request",
		"cmd=non\\ sense", "cmd=unknown_result rc=-1 msg=unknown_request",
	)
}

// S5: the store of a job is bounded.
func TestServerStoreIsBounded(t *testing.T) {
	s := NewServer(Job{Size: 1, Nodes: []int{0}}, nil)
	puts := bytes.Repeat([]byte("key="+strings.Repeat("x", 1020)+"\n"), 1<<10)
	for fence := 1; fence <= 64; fence++ {
		if !s.absorb(fence, [][]byte{puts}) {
			t.Fatalf("the store is full after %d MiB", fence)
		}
	}
	if s.absorb(65, [][]byte{puts}) {
		t.Error("the store takes more than its limit")
	}
}

// S5: text that is no request ends the connection with an error, and nothing is done.
func TestServerRefusesStrangers(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n":                              "no message",
		"cmd=get_maxes\n":                      `request "get_maxes" before init`,
		"cmd=" + strings.Repeat("x", 9000):     "more than 8192 bytes",
		"mcmd=spawn\nnprocs=1\nendcmd\n":       `request "spawn" before init`,
		"mcmd=" + strings.Repeat("x\n", 70000): "more than 65536 lines",
		"cmd=finalize\n":                       "before init",
	} {
		h, c, ends := dial(t, 1, 100)
		go func() {
			io.WriteString(c[0], text)
		}()
		if err := <-ends[0]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
		if len(h.events) != 0 {
			t.Errorf("%.20q: %v", text, h.events)
		}
	}
}

// Whatever a process sends, each request has at most one answer of one line, and what others have put stays.
func FuzzServer(f *testing.F) {
	f.Add([]byte(initRequest + "\ncmd=put kvsname=kvs key=a value=b\ncmd=barrier_in\ncmd=get kvsname=kvs key=a\ncmd=finalize\n"))
	f.Add([]byte(initRequest + "\ncmd=publish_name service=s port=p\ncmd=lookup_name service=s\ncmd=abort exitcode=3\n"))
	f.Add([]byte("cmd=init\nmcmd=spawn\nendcmd\ncmd=x\\ y=\\\n"))
	f.Add([]byte(initRequest + "\ncmd=put key=theirs value=\\\ncmd=barrier_in\ncmd=get key=theirs x\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		h := &fakeHost{size: 1, names: map[string]string{}}
		s := NewServer(Job{Name: "kvs", Size: 1, Nodes: []int{0}, AppNum: func(int) int { return 0 }, Room: 200}, h)
		var out bytes.Buffer
		if err := s.Serve(0, bytes.NewReader(in), &out); err == nil {
			t.Fatal("Serve ended without a reason")
		}
		if asked, answered := bytes.Count(in, []byte("\n")), bytes.Count(out.Bytes(), []byte("\n")); answered > asked {
			t.Fatalf("%d answers to %d lines", answered, asked)
		}
		for r := NewReader(&out); ; {
			m, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := m.Int("rc"); !ok {
				t.Fatalf("%q says neither success nor failure", m)
			}
		}
		for key, value := range s.values {
			if len(key) > maxKey || len(value) > maxValue {
				t.Fatalf("stored %q=%q", key, value)
			}
		}
	})
}
