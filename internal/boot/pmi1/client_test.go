package pmi1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// A script answers requests: by the request without its end, or only its name, the answer.
type script map[string]string

// as are the answers of Hydra 4.0.2.
func hydra402() script {
	return script{
		"init":              "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
		"get_maxes":         "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
		"get_my_kvsname":    "cmd=my_kvsname kvsname=kvs_27657_0_338415221_vm",
		"get_universe_size": "cmd=universe_size size=-1",
		"get_appnum":        "cmd=appnum appnum=0",
		"put":               "cmd=put_result rc=0 msg=success",
		"barrier_in":        "cmd=barrier_out",
		"publish_name":      "cmd=publish_result info=ok rc=0 msg=success",
		"lookup_name":       "cmd=lookup_result rc=1 msg=service_not_found",
		"finalize":          "cmd=finalize_ack",
		"get kvsname=kvs_27657_0_338415221_vm key=a-1":                 "cmd=get_result rc=0 msg=success value=v1",
		"get kvsname=kvs_27657_0_338415221_vm key=PMI_process_mapping": "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))",
		"get": "cmd=get_result rc=-1 msg=key_not_found value=unknown",
	}
}

// with returns a script with other answers.
func (s script) with(pairs ...string) script {
	c := script{}
	for k, v := range s {
		c[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		c[pairs[i]] = pairs[i+1]
	}
	return c
}

// serve answers requests from one end of a pipe, and returns the other one and the requests so far. An empty
// answer is none; "end" ends the connection.
func (s script) serve(t *testing.T) (conn io.ReadWriteCloser, requests func() []string) {
	mine, theirs := net.Pipe()
	var mu sync.Mutex
	var got []string
	var served sync.WaitGroup
	served.Go(func() {
		defer theirs.Close()
		r := NewReader(theirs)
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			b, _ := m.Bytes()
			text := strings.TrimPrefix(strings.TrimSuffix(string(b), "\n"), "cmd=")
			mu.Lock()
			got = append(got, text)
			mu.Unlock()
			answer, ok := s[text]
			if !ok {
				answer = s[m.Name]
			}
			if answer == "end" {
				return
			}
			if answer != "" {
				if _, err := io.WriteString(theirs, answer+"\n"); err != nil {
					return
				}
			}
		}
	})
	t.Cleanup(func() {
		mine.Close()
		theirs.Close()
		served.Wait()
	})
	return mine, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), got...)
	}
}

// client opens a client of a script as rank 0 of 4.
func (s script) client(t *testing.T) (*Client, func() []string) {
	t.Helper()
	conn, requests := s.serve(t)
	c, err := Open(conn, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	return c, requests
}

// The answers of all versions of the servers mean the same: fields come in any order, some have no result,
// and some have fields that others lack.
func TestXLCH01_AnswersOfAllVersions(t *testing.T) {
	for name, s := range map[string]script{
		"Hydra 4.0": hydra402(),
		"Hydra 4.2": hydra402().with(
			"get kvsname=kvs_27657_0_338415221_vm key=a-1", "cmd=get_result found=TRUE value=v1",
			"get kvsname=kvs_27657_0_338415221_vm key=PMI_process_mapping", "cmd=get_result value=(vector,[(0,2,1)]x2) rc=0 found=TRUE",
			"get", "cmd=get_result rc=1 found=FALSE", "put", "cmd=put_result", "publish_name", "cmd=publish_result rc=0"),
		"Hydra 5.0": hydra402().with("init", "cmd=response_to_init pmi_version=1 pmi_subversion=2"),
		"Slurm": hydra402().with("get_appnum", "cmd=appnum appnum=-1 rc=0", "get_universe_size", "cmd=universe_size rc=0 size=4",
			"get kvsname=kvs_27657_0_338415221_vm key=a-1", "cmd=get_result value=v1 msg=success rc=0"),
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := s.client(t)
			id := c.Identity()
			if id.Rank != 0 || id.Size != 4 || id.Job != "kvs_27657_0_338415221_vm" || !strings.HasPrefix(id.Engine, "PMI 1.") {
				t.Errorf("identity %+v", id)
			}
			if name == "Slurm" && (id.AppNum != -1 || id.Universe != 4) || name != "Slurm" && (id.AppNum != 0 || id.Universe != -1) {
				t.Errorf("identity %+v", id)
			}
			nodes, err := c.Nodes()
			want := "[0 0 1 1]"
			if name == "Hydra 4.2" {
				want = "[0 1 0 1]"
			}
			if err != nil || fmt.Sprint(nodes) != want {
				t.Errorf("nodes %v, %v", nodes, err)
			}
			for _, err := range []error{c.Put("a", "v0"), c.Fence(), c.Publish("n", "x")} {
				if err != nil {
					t.Error(err)
				}
			}
			if v, ok, err := c.Get("a", 1); err != nil || !ok || v != "v1" {
				t.Errorf("value %q %t %v", v, ok, err)
			}
			if v, ok, err := c.Get("a", 2); err != nil || ok {
				t.Errorf("a value that nobody has put: %q %t %v", v, ok, err)
			}
			if err := c.Finalize(); err != nil {
				t.Error(err)
			}
			if err := c.Finalize(); err != nil {
				t.Error("again:", err)
			}
			if _, _, err := c.Get("a", 1); !errors.Is(err, engine.ErrLost) {
				t.Error("after Finalize:", err)
			}
			<-c.Lost()
		})
	}
}

// A server that listens at a port tells the place of the process.
func TestXLCH01_PlaceByPort(t *testing.T) {
	conn, requests := hydra402().with("initack", "cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0").serve(t)
	c, err := OpenPort(conn, "17")
	if err != nil {
		t.Fatal(err)
	}
	if id := c.Identity(); id.Rank != 3 || id.Size != 4 {
		t.Errorf("identity %+v", id)
	}
	if got := requests()[0]; got != "initack pmiid=17" {
		t.Errorf("it says %q first", got)
	}
	c.Finalize()
}

// Lookup asks again until another process has published, and ends with its context.
func TestXSES01_LookupAsksAgain(t *testing.T) {
	s := hydra402()
	c, requests := s.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Lookup(ctx, "n", 1)
		done <- err
	}()
	for n := 0; n < 3; time.Sleep(time.Millisecond) {
		n = 0
		for _, r := range requests() {
			if r == "lookup_name service=halo-kvs_27657_0_338415221_vm-n-1" {
				n++
			}
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Finalize()

	c, _ = s.with("lookup_name", "cmd=lookup_result port=there rc=0").client(t)
	if v, err := c.Lookup(t.Context(), "n", 1); err != nil || v != "there" {
		t.Errorf("%q, %v", v, err)
	}
	c.Finalize()
}

// A server that makes no sense, refuses, or ends is named in the error, with the request and the rank.
func TestXLCH01_BadServers(t *testing.T) {
	for want, s := range map[string]script{
		"does not speak version 1":                      hydra402().with("init", "cmd=response_to_init pmi_version=2 pmi_subversion=0"),
		"answers get_maxes with finalize_ack":           hydra402().with("get_maxes", "cmd=finalize_ack"),
		"room for keys of 32 bytes":                     hydra402().with("get_maxes", "cmd=maxes keylen_max=32 vallen_max=1024"),
		"names the job \"\"":                            hydra402().with("get_my_kvsname", "cmd=my_kvsname"),
		"rank 0: init to the PMI-1 server: the job eng": hydra402().with("init", "end"),
		"no message: \"hello\"":                         hydra402().with("get_appnum", "hello"),
	} {
		conn, _ := s.serve(t)
		if _, err := Open(conn, 0, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	conn, _ := hydra402().serve(t)
	if _, err := Open(conn, 4, 4); err == nil || !strings.Contains(err.Error(), "rank 4 of 4") {
		t.Errorf("a rank that is too high: %v", err)
	}
	for want, s := range map[string]script{
		"refuses put: rc=1 no_room":            hydra402().with("put", "cmd=put_result rc=1 msg=no_room"),
		"put to the PMI-1 server (version 1.1": hydra402().with("put", "end"),
	} {
		c, _ := s.client(t)
		if err := c.Put("a", "v"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("%s: %v", want, err)
		}
		c.conn.Close()
		<-c.Lost()
	}
	for value, want := range map[string]string{"(vector,(0,0,1))": "is no list of nodes", "(vector,": "is no list", "(vector,[(0,1,1)]x99999)": "is no list"} {
		c, _ := hydra402().with("get", "cmd=get_result rc=0 value="+value, "get kvsname=kvs_27657_0_338415221_vm key=PMI_process_mapping", "cmd=get_result rc=0 value="+value).client(t)
		if nodes, err := c.Nodes(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", value, nodes, err)
		}
		c.Finalize()
	}
}

// Values that an engine would cut off are not sent, which the error says with the request and the rank.
func TestXLCH01_ValuesThatWouldBeCut(t *testing.T) {
	c, requests := hydra402().client(t)
	before := len(requests())
	_, _, getErr := c.Get("a;b", 1)
	_, lookErr := c.Lookup(t.Context(), "n;m", 1)
	for _, err := range []error{c.Put("a", "x y"), c.Put("a", strings.Repeat("x", engine.MaxValue+1)), c.Put("a", ""), c.Put("a;b", "x"),
		c.Put(strings.Repeat("k", engine.MaxKey), "x"), c.Publish("n", "x;y"), getErr, lookErr} {
		if err == nil || !strings.HasPrefix(err.Error(), "pmi1: rank 0: ") || !strings.Contains(err.Error(), " to the PMI-1 server (version 1.1): engine: ") {
			t.Error(err)
		}
	}
	if n := len(requests()); n != before {
		t.Errorf("%d requests", n-before)
	}
	c.Finalize()
}

// The end of the server is noticed without a request, and Abort does not wait for a request in progress.
func TestF1_ServerEnds(t *testing.T) {
	c, requests := hydra402().with("barrier_in", "", "abort", "end").client(t)
	done := make(chan error, 1)
	go func() { done <- c.Fence() }()
	for r := requests(); r[len(r)-1] != "barrier_in"; r = requests() {
		time.Sleep(time.Millisecond)
	}
	if err := c.Abort(7, "why"); err != nil {
		t.Error(err)
	}
	<-c.Lost()
	if err := <-done; !errors.Is(err, engine.ErrLost) {
		t.Error(err)
	}
	if r := requests(); r[len(r)-1] != "abort exitcode=7" {
		t.Errorf("%q", r)
	}
	c.conn.Close()
}
