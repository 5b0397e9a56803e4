package tcp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/wire"
)

func TestMain(m *testing.M) { leak.Main(m) }

// A made is an end of either data path, with methods for tests.
type made interface {
	fabric.Fabric
	Start([]string) error
	Refused() uint64
	Speak(to int, b []byte)
	Connector() *connector
	Seal(to int) *wire.Sealed // of the connection, nil if it is not sealed
}

// A maker opens one end.
type maker func(Config) (made, string, error)

// goroutines makes the data path for every platform.
func goroutines(c Config) (made, string, error) {
	f, addr, err := listenStreams(c)
	if err != nil {
		return nil, "", err
	}
	return streamsEnd{f}, addr, nil
}

// A streamsEnd is a streams that tests can kill, and that can send arbitrary bytes.
type streamsEnd struct{ *streams }

func (f streamsEnd) Kill() {
	for _, l := range f.active {
		l.conn.Close()
	}
	f.Close()
}

func (f streamsEnd) Inject(to int, r *rand.Rand) {
	if l := f.routes.At(to).link; l != nil {
		l.conn.Write(hostile(r))
		return
	}
	f.connector.trouble(to, hostile(r))
}

// Speak sends bytes unchanged.
func (f streamsEnd) Speak(to int, b []byte) { f.routes.At(to).link.conn.Write(b) }

// Seal implements made.
func (f streamsEnd) Seal(to int) *wire.Sealed { return f.routes.At(to).link.seal }

// Connector implements made.
func (f streamsEnd) Connector() *connector { return f.connector }

// apart returns a maker for jobs in which each process is on a host of its own.
func apart(mk maker) maker {
	return func(c Config) (made, string, error) {
		j := *c.Job
		for i := range j.Size {
			j.Hosts = append(j.Hosts, fmt.Sprintf("node%d", i))
			j.Host = append(j.Host, int32(i))
		}
		c.Job = &j
		return mk(c)
	}
}

// makers returns the makers of both data paths, within a host and between hosts.
func makers() map[string]maker {
	all := map[string]maker{}
	for name, mk := range paths() {
		all[name], all[name+", sealed"] = mk, apart(mk)
	}
	return all
}

// wrap returns the bytes with which a correct peer sends frames.
func wrap(f made, to int, frames ...arrived) (stream []byte) {
	for _, a := range frames {
		if seal := f.Seal(to); seal != nil {
			stream = seal.Seal(stream, &a.h, a.payload)
			continue
		}
		b := make([]byte, wire.HeaderSize)
		a.h.Encode(b)
		stream = append(append(stream, b...), a.payload...)
	}
	return stream
}

// meet connects all pairs of ends: it sends a frame in each direction.
func meet(t testing.TB, fs []made) {
	t.Helper()
	traffic(t, fs, 1, 64, nil)
}

func secret(b byte) (s [32]byte) {
	for i := range s {
		s[i] = b
	}
	return s
}

// greeting returns a valid Hello of a pair, which an attacker could record.
func greeting(p wire.Pair) []byte {
	var b [wire.HelloSize]byte
	wire.NewDialler(p).Hello(&b)
	return b[:]
}

// zeroToOne is the pair in which process 0 of the test job dials process 1.
func zeroToOne() wire.Pair { return wire.Pair{Secret: secret(7), Job: "test", From: 0, To: 1} }

func job(rank, size int) *boot.Job {
	return &boot.Job{ID: "test", Rank: rank, Size: size, Fabric: "tcp", Secret: secret(7)}
}

// open opens an end for each configuration. They are closed with the test.
func open(t testing.TB, mk maker, configs ...Config) (fs []made, addrs []string) {
	t.Helper()
	for _, c := range configs {
		f, addr, err := mk(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		fs, addrs = append(fs, f), append(addrs, addr)
	}
	return fs, addrs
}

// start gives the ends the addresses of all.
func start(t testing.TB, addrs []string, fs ...made) {
	t.Helper()
	for _, f := range fs {
		if err := f.Start(addrs); err != nil {
			t.Fatal(err)
		}
	}
}

// ends opens n ends and starts them.
func ends(t testing.TB, mk maker, n int, l limits) []made {
	t.Helper()
	var configs []Config
	for i := range n {
		configs = append(configs, Config{Job: job(i, n), limits: l})
	}
	fs, addrs := open(t, mk, configs...)
	start(t, addrs, fs...)
	return fs
}

// pattern returns a payload whose size, at most max, and content follow from the seed.
func pattern(seed uint64, max int) []byte {
	source := rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24, 32), seed)))
	r := rand.New(source)
	n := 0
	switch r.IntN(4) {
	case 0:
		n = r.IntN(64)
	case 1:
		n = r.IntN(4096)
	case 2:
		n = r.IntN(max + 1)
	}
	b := make([]byte, n)
	source.Read(b)
	return b
}

// An inbox is a sink that keeps the frames it gets. place reports for which frames it
// offers a place.
type inbox struct {
	t      testing.TB
	place  func(*wire.Header) bool
	frames map[int][]arrived
	asked  map[int][]byte
	downs  map[int]error
}

type arrived struct {
	h       wire.Header
	payload []byte
}

func newInbox(t testing.TB) *inbox {
	return &inbox{t: t, frames: map[int][]arrived{}, asked: map[int][]byte{}, downs: map[int]error{}}
}

func (s *inbox) live(from int, what string) {
	if err := s.downs[from]; err != nil {
		s.t.Errorf("%s of process %d after it was down: %v", what, from, err)
	}
}

func (s *inbox) Frame(from int, h *wire.Header, payload []byte) {
	s.live(from, "frame")
	if len(payload) != int(h.Size) {
		s.t.Errorf("frame of %d bytes with a payload of %d", h.Size, len(payload))
	}
	s.frames[from] = append(s.frames[from], arrived{*h, bytes.Clone(payload)})
}

func (s *inbox) Place(from int, h *wire.Header) []byte {
	s.live(from, "place")
	if s.asked[from] != nil {
		s.t.Errorf("process %d: place asked while one is being filled", from)
	}
	if h.Size == 0 || s.place == nil || !s.place(h) {
		return nil
	}
	s.asked[from] = make([]byte, h.Size)
	return s.asked[from]
}

func (s *inbox) Placed(from int, h *wire.Header) {
	s.live(from, "placed")
	b := s.asked[from]
	if len(b) != int(h.Size) {
		s.t.Errorf("placed %d bytes, asked about %d", h.Size, len(b))
	}
	delete(s.asked, from)
	s.frames[from] = append(s.frames[from], arrived{*h, b})
}

func (s *inbox) Down(peer int, cause error) {
	if err := s.downs[peer]; err != nil {
		s.t.Errorf("process %d down twice: %v, then %v", peer, err, cause)
	}
	if cause == nil {
		s.t.Errorf("process %d down without a cause", peer)
	}
	s.downs[peer] = cause
}

// attend polls all ends until done returns true; each end has its own sink.
func attend(fs []made, sinks []*inbox, done func() bool) {
	for !done() {
		n := 0
		for i, f := range fs {
			if f != nil {
				n += f.Poll(sinks[i], -1)
			}
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
}

func inboxes(t testing.TB, n int) (s []*inbox) {
	for range n {
		s = append(s, newInbox(t))
	}
	return s
}
