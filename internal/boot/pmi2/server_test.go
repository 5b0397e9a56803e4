package pmi2

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
)

// server does what the PMI-2 server of a job with one node daemon does: a value is visible after
// the fence, a fence is answered to all at once, and the value of a name is called value.
type server struct {
	size     int
	left     bool   // lengths stand at the left of their six characters
	mapping  string // the value of PMI_process_mapping
	universe string
	appnum   string

	// instead returns what the server writes instead of its answer to a command, and whether it
	// closes the connection then; nil is the answer.
	instead func(m message) (b []byte, end bool)

	mu       sync.Mutex
	requests []message // of all processes but their greetings
	staged   map[string]string
	visible  map[string]string
	names    map[string]string
	fenced   []net.Conn    // processes in the fence
	entered  chan struct{} // a process has entered the fence
	aborted  chan message
	done     sync.WaitGroup
}

func newServer(t *testing.T, size int) *server {
	s := &server{size: size, mapping: fmt.Sprintf("(vector,(0,%d,1))", size), universe: strconv.Itoa(size), appnum: "-1",
		staged: map[string]string{}, visible: map[string]string{}, names: map[string]string{},
		entered: make(chan struct{}, 100), aborted: make(chan message, 1)}
	t.Cleanup(s.done.Wait)
	return s
}

// environ is the environment of a process of a step of Slurm.
func environ(rank, size int, more ...string) func(string) (string, bool) {
	vars := map[string]string{"PMI_RANK": strconv.Itoa(rank), "PMI_SIZE": strconv.Itoa(size), "PMI_JOBID": "6.0", "SLURM_JOB_ID": "6"}
	for i := 0; i+1 < len(more); i += 2 {
		vars[more[i]] = more[i+1]
	}
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// dial starts the service of a rank and returns the end of the process.
func (s *server) dial(t *testing.T, rank int) net.Conn {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { theirs.Close() })
	s.done.Go(func() {
		defer ours.Close()
		s.serve(rank, ours)
	})
	return theirs
}

func (s *server) connect(t *testing.T, rank int, more ...string) (*Client, error) {
	return Open(s.dial(t, rank), environ(rank, s.size, more...))
}

// clients connects all ranks.
func (s *server) clients(t *testing.T) []*Client {
	t.Helper()
	all := make([]*Client, s.size)
	for rank := range all {
		c, err := s.connect(t, rank)
		if err != nil {
			t.Fatal(err)
		}
		all[rank] = c
	}
	return all
}

func (s *server) serve(rank int, conn net.Conn) {
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil || line != "cmd=init pmi_version=2 pmi_subversion=0\n" {
		return
	}
	if b, _ := s.replaced(newMessage("init")); b != nil {
		conn.Write(b)
		return
	}
	conn.Write([]byte("cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"))
	for {
		m, err := readMessage(in)
		if err != nil {
			return
		}
		if b, end := s.replaced(m); b != nil {
			conn.Write(b)
			if end {
				return
			}
			continue
		}
		if !s.answer(rank, m, conn) {
			return
		}
	}
}

func (s *server) replaced(m message) ([]byte, bool) {
	if s.instead == nil {
		return nil, false
	}
	return s.instead(m)
}

// answer answers a request; false ends the connection.
func (s *server) answer(rank int, m message, conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	get := func(key string) string {
		v, _ := m.get(key)
		return v
	}
	optional := func(v string, ok bool) {
		if ok {
			s.reply(conn, m, "found", "TRUE", "value", v)
		} else {
			s.reply(conn, m, "found", "FALSE")
		}
	}
	switch m.cmd() {
	case "fullinit":
		s.reply(conn, m, "pmi-version", "2", "rank", strconv.Itoa(rank), "size", strconv.Itoa(s.size), "appnum", s.appnum, "debugged", "FALSE")
		return true
	case "job-getid":
		s.reply(conn, m, "jobid", "6.0")
		return true
	case "info-getjobattr":
		v := map[string]string{"PMI_process_mapping": s.mapping, "universeSize": s.universe}[get("key")]
		optional(v, v != "")
		return true
	}
	s.requests = append(s.requests, m)
	switch m.cmd() {
	case "kvs-put":
		s.staged[get("key")] = get("value")
		s.reply(conn, m)
	case "kvs-get":
		v, ok := s.visible[get("key")]
		optional(v, ok)
	case "kvs-fence":
		s.fenced = append(s.fenced, conn)
		s.entered <- struct{}{}
		if len(s.fenced) == s.size {
			for k, v := range s.staged {
				s.visible[k] = v
			}
			for _, c := range s.fenced {
				s.reply(c, m)
			}
			s.fenced = nil
		}
	case "name-publish":
		s.names[get("name")] = get("port")
		s.reply(conn, m)
	case "name-lookup":
		if v, ok := s.names[get("name")]; ok {
			s.reply(conn, m, "value", v)
		} else {
			conn.Write(newMessage("name-lookup-response", "rc", "1").encode())
		}
	case "abort":
		s.aborted <- m
	case "finalize":
		s.reply(conn, m)
		return false
	}
	return true
}

// reply writes the answer to m that reports success.
func (s *server) reply(conn net.Conn, m message, pairs ...string) {
	b := newMessage(m.cmd()+"-response", append([]string{"rc", "0"}, pairs...)...).encode()
	if s.left {
		size := strconv.Itoa(len(b) - headSize)
		copy(b, size+"      "[len(size):])
	}
	conn.Write(b)
}
