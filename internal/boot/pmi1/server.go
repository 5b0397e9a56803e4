package pmi1

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/planted"
)

// A Job is what a Server tells its processes. It does not change.
type Job struct {
	Name   string // name of the job's key-value store, safe to print
	Size   int
	Nodes  []int              // by rank: the number of its node
	AppNum func(rank int) int // which block of the command line a rank belongs to
	Room   int                // bytes that a rank may put between two barriers: one Host.Fence takes them
}

// A Host is what a launcher does for the processes of a Server. Its methods may be called for several
// ranks at once.
type Host interface {
	// Joined is called when rank has connected.
	Joined(rank int) error
	// Fence is called when rank enters a barrier, with what it has put since the last one: at most
	// Job.Room bytes, in lines KEY=VALUE. When all ranks of the job are in the barrier it returns what
	// they have put, by rank.
	Fence(rank int, puts []byte) ([][]byte, error)
	// Name publishes, finds or removes the name of a service for rank.
	Name(rank int, r NameRequest) (port string, err error)
	// Finalized is called when rank may end from now on.
	Finalized(rank int)
	// Aborted is called when rank aborts the job.
	Aborted(rank, code int)
}

// ErrOver is the error of a Host when the job ends: the process gets no answer, since a signal ends it.
var ErrOver = errors.New("pmi1: the job is over")

// A NameRequest asks to publish, to find or to remove the name of a service.
type NameRequest struct {
	Verb          NameVerb
	Service, Port string
}

// A NameVerb says what a NameRequest asks for.
type NameVerb uint8

// The verbs of a NameRequest.
const (
	Publish NameVerb = iota
	Lookup
	Unpublish
)

const (
	// The limits on names of stores, keys and values that servers of PMI-1 state, in bytes. Clients
	// allocate as much.
	maxStore = 256
	maxKey   = 64
	maxValue = 1024
	// maxName is the limit on the name of a service and on a port, in bytes.
	maxName = 1024
	// maxStored bounds the keys and values of a job, in bytes. Only a program that puts without end
	// comes near it.
	maxStored = 64 << 20
)

// A Server is the server of PMI-1 for the processes of a job on one host. A barrier sends all that was
// put to all hosts, so the server answers a get without asking another host.
type Server struct {
	job     Job
	host    Host
	mapping string // value of engine.MappingKey, "" if it is too long

	mu     sync.Mutex
	values map[string]string
	stored int // bytes in values
	fences int // barriers whose puts are in values
	full   bool
}

// NewServer makes the server of a host.
func NewServer(job Job, host Host) *Server {
	s := &Server{job: job, host: host, values: map[string]string{}}
	s.mapping = engine.FormatMapping(job.Nodes)
	if len(s.mapping) >= maxValue {
		s.mapping = "" // clients then compare the names of their hosts
	}
	return s
}

// Serve serves rank until the stream from it ends. An error that is neither the stream's nor that of
// Host.Joined means that the process violates the protocol.
func (s *Server) Serve(rank int, from io.Reader, to io.Writer) error {
	c := &connection{server: s, rank: rank}
	for r := NewReader(from); ; {
		m, err := r.Next()
		if err != nil {
			return err
		}
		answer, err := c.do(m)
		if err == nil && answer.Name != "" {
			var b []byte
			b, err = answer.Bytes()
			if err == nil {
				_, err = to.Write(b)
			}
		}
		if err != nil {
			return err
		}
	}
}

// connection is the state of one process.
type connection struct {
	server *Server
	rank   int
	state  int
	puts   []byte // since the last barrier: KEY=VALUE\n each
	fences int    // barriers that the process has left
}

// The states of a connection.
const (
	fresh = iota
	joined
	finalized
)

// do carries out a request. An answer without a name is not sent.
func (c *connection) do(m Message) (Message, error) {
	answer := answers(m.Name)
	switch {
	case c.state == fresh && m.Name != "init" && m.Name != "abort":
		return Message{}, fmt.Errorf("pmi1: request %.40q before init", m.Name)
	case c.state == finalized && m.Name != "abort":
		return failed(answer, "the_process_has_finalized"), nil
	}
	s := c.server
	switch m.Name {
	case "init":
		return c.init(m)
	case "get_maxes":
		return New(answer, "kvsname_max", strconv.Itoa(maxStore), "keylen_max", strconv.Itoa(maxKey), "vallen_max", strconv.Itoa(maxValue), "rc", "0"), nil
	case "get_my_kvsname":
		return New(answer, "kvsname", s.job.Name, "rc", "0"), nil
	case "get_universe_size":
		return New(answer, "size", strconv.Itoa(s.job.Size), "rc", "0"), nil
	case "get_appnum":
		return New(answer, "appnum", strconv.Itoa(s.job.AppNum(c.rank)), "rc", "0"), nil
	case "put":
		return c.put(m), nil
	case "get":
		return c.get(m), nil
	case "barrier_in":
		return c.barrier(m)
	case "publish_name", "lookup_name", "unpublish_name":
		return c.name(m)
	case "abort":
		code, ok := m.Int("exitcode")
		if !ok {
			code = 1
		}
		s.host.Aborted(c.rank, code)
		return Message{}, nil
	case "finalize":
		c.state = finalized
		s.host.Finalized(c.rank)
		return New(answer, "rc", "0"), nil
	case "spawn":
		return failed(answer, "halo_run_starts_no_processes_later"), nil
	}
	return failed(answer, "unknown_request"), nil
}

// answers is the name of the answer to a request.
func answers(request string) string {
	switch request {
	case "init":
		return "response_to_init"
	case "get_maxes", "get_my_kvsname", "get_universe_size", "get_appnum":
		return strings.TrimPrefix(request, "get_")
	case "barrier_in":
		return "barrier_out"
	case "publish_name", "lookup_name", "unpublish_name":
		return strings.TrimSuffix(request, "_name") + "_result"
	case "finalize":
		return "finalize_ack"
	case "spawn":
		return "spawn_result"
	}
	if strings.ContainsAny(request, "\\ ") {
		request = "unknown"
	}
	return request + "_result"
}

// failed is the answer to a request that cannot be met. why contains no blank, which would end the value.
func failed(answer, why string) Message {
	m := New(answer, "rc", "-1", "msg", why)
	switch answer { // clients look for these fields, which the answer has in case of success
	case "get_result":
		m.Fields = append(m.Fields, Field{"value", "unknown"})
	case "response_to_init":
		m.Fields = append(m.Fields, Field{"pmi_version", "1"}, Field{"pmi_subversion", "1"})
	}
	return m
}

// init accepts the process. Subversion 1 tells newer clients that this server has no barriers of groups.
func (c *connection) init(m Message) (Message, error) {
	answer := answers(m.Name)
	if c.state != fresh {
		return failed(answer, "second_init"), nil
	}
	if v, _ := m.Int("pmi_version"); v != 1 {
		return failed(answer, "this_server_speaks_pmi_version_1.1"), nil
	}
	if err := c.server.host.Joined(c.rank); err != nil {
		return Message{}, err
	}
	c.state = joined
	return New(answer, "pmi_version", "1", "pmi_subversion", "1", "rc", "0"), nil
}

// ours reports whether a request is for the store of this job.
func (c *connection) ours(m Message) bool {
	name, named := m.Get("kvsname")
	return !named || name == c.server.job.Name
}

// put keeps a value until the next barrier.
func (c *connection) put(m Message) Message {
	answer := answers(m.Name)
	key, _ := m.Get("key")
	value, _ := m.Get("value")
	switch {
	case !c.ours(m):
		return failed(answer, "unknown_kvs")
	case key == "" || len(key) > maxKey || strings.Contains(key, "="):
		return failed(answer, fmt.Sprintf("key_of_%d_bytes_the_limit_is_%d", len(key), maxKey))
	case strings.HasPrefix(key, "PMI_"):
		return failed(answer, "keys_that_begin_with_PMI__are_reserved")
	case value == "" || len(value) > maxValue:
		return failed(answer, fmt.Sprintf("value_of_%d_bytes_the_limit_is_%d", len(value), maxValue))
	case len(c.puts)+len(key)+len(value)+2 > c.server.job.Room:
		return failed(answer, fmt.Sprintf("more_than_%d_bytes_before_a_barrier", c.server.job.Room))
	}
	c.puts = append(c.puts, key+"="+value+"\n"...)
	return New(answer, "rc", "0", "msg", "success")
}

// get returns a value that was put before the last barrier.
func (c *connection) get(m Message) Message {
	answer := answers(m.Name)
	key, _ := m.Get("key")
	if !c.ours(m) {
		return failed(answer, "unknown_kvs")
	}
	value := c.server.value(key)
	if value == "" {
		return failed(answer, "key_not_found")
	}
	return New(answer, "rc", "0", "msg", "success", "value", value)
}

// value is the value of a key, "" if there is none.
func (s *Server) value(key string) string {
	if key == engine.MappingKey {
		return s.mapping
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

func (c *connection) barrier(m Message) (Message, error) {
	answer := answers(m.Name)
	if group, ok := m.Get("group"); ok {
		return failed(answer, word(fmt.Sprintf("barrier_of_group_%.40s", group))), nil
	}
	all, err := c.server.host.Fence(c.rank, c.puts)
	c.puts = c.puts[:0]
	switch {
	case errors.Is(err, ErrOver):
		return Message{}, nil
	case err != nil:
		return failed(answer, word(err.Error())), nil
	}
	c.fences++
	if !c.server.absorb(c.fences, all) {
		return failed(answer, fmt.Sprintf("more_than_%d_bytes_in_the_store", maxStored)), nil
	}
	return New(answer, "rc", "0", "msg", "success"), nil
}

// absorb stores what all ranks have put before a barrier. The first process of this host that leaves the
// barrier does so for the others. The result is false if the store is full.
func (s *Server) absorb(fence int, all [][]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fence <= s.fences {
		return !s.full
	}
	s.fences = fence
	if planted.PutsOfTheFirst && fence > 1 {
		all = nil
	}
	for _, puts := range all {
		for line := range strings.Lines(string(puts)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			s.stored += len(key) + len(value)
			s.full = s.full || s.stored > maxStored
			if !s.full {
				s.values[key] = value
			}
		}
	}
	return !s.full
}

// name publishes, finds or removes the name of a service.
func (c *connection) name(m Message) (Message, error) {
	answer := answers(m.Name)
	q := NameRequest{Verb: Publish}
	q.Service, _ = m.Get("service")
	q.Port, _ = m.Get("port")
	switch m.Name {
	case "lookup_name":
		q.Verb = Lookup
	case "unpublish_name":
		q.Verb = Unpublish
	}
	switch {
	case q.Service == "" || len(q.Service) > maxName:
		return failed(answer, fmt.Sprintf("service_of_%d_bytes_the_limit_is_%d", len(q.Service), maxName)), nil
	case q.Verb == Publish && (q.Port == "" || len(q.Port) > maxName):
		return failed(answer, fmt.Sprintf("port_of_%d_bytes_the_limit_is_%d", len(q.Port), maxName)), nil
	}
	port, err := c.server.host.Name(c.rank, q)
	switch {
	case errors.Is(err, ErrOver):
		return Message{}, nil
	case err != nil:
		return failed(answer, word(err.Error())), nil
	case q.Verb == Lookup:
		return New(answer, "rc", "0", "port", port), nil
	}
	return New(answer, "rc", "0", "info", "ok"), nil
}

// word returns text as one word, since a blank ends a value.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '\\' || r > '~' {
			return '_'
		}
		return r
	}, text)
}
