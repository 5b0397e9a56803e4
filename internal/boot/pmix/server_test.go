package pmix

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// server does what the PMIx server of a job on one node does. Like the server of Slurm, it lets a process
// leave a fence at once if the fence does not collect values.
type server struct {
	nspace  string
	size    int
	compact bool                  // serializer 41 is offered, too
	job     func(rank int) []byte // the description of the job
	sets    map[string][]proc     // process sets

	// instead returns what the server sends in place of its answer to a command: the body of a message or,
	// if raw is true, bytes after which it closes the connection. For nil and false it sends the answer.
	instead func(command byte) (b []byte, raw bool)
	greet   []byte // instead of the answer to the handshake

	mu       sync.Mutex
	commands []byte // requests of all processes, in order of arrival
	values   map[proc][]kval
	waiting  []waiter // gets for values that are not there
	fenced   []waiter
	entered  chan struct{} // a process has entered a fence
	aborted  chan string
	done     sync.WaitGroup
}

// waiter is a request without an answer.
type waiter struct {
	conn net.Conn
	tag  uint32
	of   proc
	key  string
}

func newServer(t *testing.T, size int) *server {
	s := &server{nspace: "test.1", size: size, values: map[proc][]kval{}, entered: make(chan struct{}, 100), aborted: make(chan string, 1)}
	s.job = s.description
	t.Cleanup(s.done.Wait)
	return s
}

// description describes a job on one node as the servers of PMIx 4 do.
func (s *server) description(rank int) []byte {
	w := s.message()
	w.string(s.nspace)
	w.kval(kval{keySize, value{kind: typeUint32, number: int64(s.size)}})
	w.kval(kval{keyUniverse, value{kind: typeUint32, number: 8}})
	for i := range s.size {
		blob := s.message()
		blob.rank(uint32(i))
		blob.kval(kval{keyHost, value{kind: typeString, text: fmt.Sprintf("host%d", i/2)}})
		blob.kval(kval{keyAppNum, value{kind: typeUint32, number: int64(i)}})
		w.count(1)
		w.text(keyBlob)
		w.kind(typeByteObject)
		w.bytes(blob.b)
	}
	return w.b
}

// message returns an empty message.
func (s *server) message() buffer { return buffer{compact: s.compact} }

// environ is the environment of a process.
func (s *server) environ(rank int) map[string]string {
	vars := map[string]string{"PMIX_NAMESPACE": s.nspace, "PMIX_RANK": fmt.Sprint(rank), "PMIX_VERSION": "4.2.2",
		"PMIX_SERVER_URI21": "prterun-1.0;tcp4://127.0.0.1:1", "PMIX_SECURITY_MODE": "native"}
	if s.compact {
		vars["PMIX_SERVER_URI41"] = vars["PMIX_SERVER_URI21"]
	}
	return vars
}

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func (s *server) connect(t *testing.T, rank int) (*Client, error) {
	p, err := ReadPlace(lookup(s.environ(rank)))
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	t.Cleanup(func() { theirs.Close() })
	s.done.Go(func() {
		defer ours.Close()
		if err := s.serve(rank, ours); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
	return Open(theirs, p)
}

// clients connects all ranks, and ends their connections with t.
func (s *server) clients(t *testing.T) []*Client {
	t.Helper()
	all := make([]*Client, s.size)
	for rank := range all {
		c, err := s.connect(t, rank)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			c.conn.Close()
			<-c.lost
		})
		all[rank] = c
	}
	return all
}

// handshake checks the first message.
func (s *server) handshake(rank int, conn net.Conn) error {
	var head [headSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.NativeEndian.Uint32(head[8:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	mode, rest, _ := strings.Cut(string(body), "\x00")
	if mode != "native" || binary.BigEndian.Uint32([]byte(rest)) != 8 || rest[12] != 0 {
		return fmt.Errorf("credentials %q", body)
	}
	serializer := "v21"
	if s.compact {
		serializer = "v41"
	}
	nspace, rest, _ := strings.Cut(rest[13:], "\x00")
	if nspace != s.nspace || binary.BigEndian.Uint32([]byte(rest)) != uint32(rank) || rest[4:] != "4.2.2\x00"+serializer+"\x00\x01hash\x00" {
		return fmt.Errorf("handshake %q", body)
	}
	if s.greet != nil {
		conn.Write(s.greet)
		return io.EOF
	}
	_, err := conn.Write([]byte{0, 0, 0, 0, 0, 0, 0, byte(10 + rank)})
	return err
}

func (s *server) serve(rank int, conn net.Conn) error {
	if err := s.handshake(rank, conn); err != nil {
		return err
	}
	for {
		var head [headSize]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return err
		}
		if index := binary.BigEndian.Uint32(head[:]); index != uint32(10+rank) {
			return fmt.Errorf("index %d of rank %d", index, rank)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[8:]))
		if _, err := io.ReadFull(conn, body); err != nil {
			return err
		}
		r := newReader(body)
		r.one()
		command := r.u8()
		if s.instead != nil {
			if b, raw := s.instead(command); raw {
				conn.Write(b)
				return nil
			} else if b != nil {
				conn.Write(pack(0, binary.BigEndian.Uint32(head[4:]), b))
				continue
			}
		}
		s.answer(proc{s.nspace, uint32(rank)}, command, r, waiter{conn: conn, tag: binary.BigEndian.Uint32(head[4:])})
		if r.err != nil || len(r.left) > 0 {
			return fmt.Errorf("request %d of rank %d: %v, %d bytes left", command, rank, r.err, len(r.left))
		}
		if command == cmdFinalize || command == cmdAbort {
			return nil
		}
	}
}

// takeInfos takes the items that buffer.infos writes: the number of infos and, unless it is 0, the list.
func (r *reader) takeInfos() (list []kval) {
	n := r.size()
	if n > 0 {
		r.count()
		for range n {
			list = append(list, r.info())
		}
	}
	return list
}

func (s *server) answer(from proc, command byte, r *reader, to waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, command)
	w := s.message()
	switch command {
	case cmdJob:
		conn := to.conn
		conn.Write(pack(0, 1, []byte("an event"))) // which a client drops
		conn.Write(pack(0, to.tag, s.job(int(from.rank))))
	case cmdCommit:
		for r.more() {
			r.one()
			scope := r.u8()
			r.one()
			if kind := r.u8(); kind != undescribed {
				r.fail("buffer of kind %d", kind)
			}
			in := r.within(r.bytes())
			for in.more() {
				if k := in.kval(); scope == 2 {
					s.values[from] = append(s.values[from], k)
				}
			}
		}
		s.reply(to, success)
		waiting := s.waiting
		s.waiting = nil
		for _, g := range waiting {
			s.get(g, true)
		}
	case cmdFence:
		n := r.size()
		r.count()
		p := r.proc()
		_, collect := find(r.takeInfos(), keyCollect)
		if n != 1 || p != (proc{s.nspace, wildcard}) {
			r.fail("fence of %v", p)
		}
		if !collect {
			s.reply(to, success)
			return
		}
		s.fenced = append(s.fenced, to)
		s.entered <- struct{}{}
		if len(s.fenced) == s.size {
			for _, f := range s.fenced {
				s.reply(f, success)
			}
			s.fenced = nil
		}
	case cmdGet:
		r.one()
		to.of.nspace = r.text()
		r.one()
		to.of.rank = r.u32()
		_, immediate := find(r.takeInfos(), keyImmediate)
		to.key = r.string()
		s.get(to, !immediate)
	case cmdAbort:
		code, msg, n := r.status(), r.string(), r.size()
		s.aborted <- fmt.Sprintf("%d %s %d", code, msg, n)
	case cmdQuery:
		r.size()
		r.count()
		r.signed(4) // keys
		key := r.text()
		var qualifier string
		if r.number() > 0 {
			qualifier = r.info().value.text
		}
		if s.sets == nil {
			s.reply(to, unreachable)
			return
		}
		w.status(success)
		w.size(1)
		w.count(1)
		w.text(key)
		w.unsigned(0, 4)
		if key == keyPsets {
			w.value(value{kind: typeString, text: "a,b,empty"})
		} else {
			w.kind(typeDataArray)
			w.kind(typeProc)
			w.number(len(s.sets[qualifier]))
			for _, p := range s.sets[qualifier] {
				w.text(p.nspace)
				w.unsigned(uint64(p.rank), 4)
			}
		}
		to.conn.Write(pack(0, to.tag, w.b))
	case cmdFinalize:
		s.reply(to, success)
	default:
		r.fail("command %d", command)
	}
}

// get answers a get of a value that is there. If it is not there, get answers notFound, or with wait does
// what real servers do: it postpones the answer until the process g.of has stored any value, and then
// answers with what is stored, even if that lacks the key.
func (s *server) get(g waiter, wait bool) {
	list, stored := s.values[g.of]
	if _, ok := find(list, g.key); !ok {
		if wait && !stored {
			s.waiting = append(s.waiting, g)
			return
		}
		if !wait {
			s.reply(g, notFound)
			return
		}
	}
	in, w := s.message(), s.message()
	in.proc(g.of)
	for _, k := range list {
		in.kval(k)
	}
	w.status(success)
	w.count(1)
	w.bytes(in.b)
	g.conn.Write(pack(0, g.tag, w.b))
}

func (s *server) reply(g waiter, result status) {
	w := s.message()
	w.status(result)
	g.conn.Write(pack(0, g.tag, w.b))
}

// asked reports how often the server has got a command.
func (s *server) asked(command byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.commands, []byte{command})
}

// raw has the server send bytes instead of the answer to a command, and close the connection.
func raw(instead byte, b []byte) func(byte) ([]byte, bool) {
	return func(command byte) ([]byte, bool) {
		if command == instead {
			return b, true
		}
		return nil, false
	}
}
