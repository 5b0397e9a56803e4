//go:build unix

package launch

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
)

// A share is what an agent must know of a job to run the ranks of its host.
type share struct {
	id     string
	secret [32]byte
	fabric string
	bind   string
	hosts  []string
	where  []int32 // by rank: index into hosts
	self   int32   // this host
	listen string  // address on which its ranks listen
	apps   []app
	pushes []pushedFile // programs that the launcher copies to this host

	universe int    // ranks for which the hosts have room: boot.Job.Universe
	parent   string // boot.Job.Parent
	busy     int    // ranks of other jobs on this host
	far      bool   // other jobs may have ranks on other hosts
	reader   int    // the rank that reads the standard input
}

// An app is one block of the command line, ready to be started: ranks follow
// the order of the apps.
type app struct {
	n    int
	file string // absolute
	argv []string
	dir  string   // "" is the agent's own
	env  []string // variables in addition to the host's own environment

	psets []string // names of process sets of its ranks
}

// command returns the command of the job, for people.
func (s *share) command() string {
	var parts []string
	for _, a := range s.apps {
		parts = append(parts, strings.Join(a.argv, " "))
	}
	return strings.Join(parts, " : ")
}

// ranks returns the ranks of this host, ascending.
func (s *share) ranks() (list []int) {
	for r, h := range s.where {
		if h == s.self {
			list = append(list, r)
		}
	}
	return list
}

// app returns the index of a rank's app.
func (s *share) app(rank int) int {
	for i, a := range s.apps {
		if rank < a.n {
			return i
		}
		rank -= a.n
	}
	return -1
}

// blocks returns the apps as a rank knows them.
func (s *share) blocks() (list []boot.Block) {
	for _, a := range s.apps {
		list = append(list, boot.Block{Ranks: a.n, Psets: a.psets})
	}
	return list
}

// mark is the name of the job on this host, in the environment of its processes. It
// contains the host, since two hosts of a job may see the same processes, and each must end only
// its own.
func (s *share) mark() string { return mark(s.id, s.self) }

func mark(id string, host int32) string { return fmt.Sprintf("%s.%d", id, host) }

// encode returns the share as the body of a frame.
func (s *share) encode() []byte {
	w := frame.New(0).Text(s.id).Raw(s.secret[:]).Text(s.fabric).Text(s.bind).Words(s.hosts)
	w.U32(uint32(s.self)).U32(uint32(len(s.where)))
	for _, h := range s.where {
		w.U32(uint32(h))
	}
	w.U32(uint32(len(s.apps)))
	for _, a := range s.apps {
		w.U32(uint32(a.n)).Words(append([]string{a.file, a.dir}, a.argv...)).Words(a.env).Words(a.psets)
	}
	encodePushes(w, s.pushes)
	w.U32(uint32(s.universe)).Text(s.parent).U32(uint32(s.busy)).U8(uint8(flag(s.far))).U32(uint32(s.reader))
	return w.Bytes()[frame.HeadSize:]
}

func decodeShare(body []byte) (*share, error) {
	r := frame.Body{Left: body}
	s := &share{id: r.Text()}
	copy(s.secret[:], r.Take(len(s.secret)))
	s.fabric, s.bind, s.hosts = r.Text(), r.Text(), r.Words()
	s.self = int32(r.U32())
	bad := func(what string) (*share, error) {
		return nil, fmt.Errorf("description of a job of %d bytes with %s", len(body), what)
	}
	if s.self < 0 || int(s.self) >= len(s.hosts) {
		return bad("another number of hosts")
	}
	n := r.U32()
	if n > boot.MaxRanks || r.Bad {
		return bad("too many ranks")
	}
	for range n {
		h := int32(r.U32())
		if h < 0 || int(h) >= len(s.hosts) {
			return bad("a rank on no host")
		}
		s.where = append(s.where, h)
	}
	apps, total := r.U32(), 0
	for i := uint32(0); i < apps && !r.Bad; i++ {
		a := app{n: int(r.U32())}
		words := r.Words()
		if len(words) < 3 || a.n < 1 || a.n > boot.MaxRanks || words[0] == "" {
			return bad("a program without a name")
		}
		a.file, a.dir, a.argv, a.env = words[0], words[1], words[2:], r.Words()
		a.psets = r.Words()
		s.apps = append(s.apps, a)
		total += a.n
	}
	s.pushes = decodePushes(&r)
	s.universe, s.parent, s.busy, s.far = int(r.U32()), r.Text(), int(r.U32()), r.U8() != 0
	s.reader = int(r.U32())
	if s.reader >= len(s.where) {
		return bad("input for a rank that it has not")
	}
	if !r.Done() || total != len(s.where) {
		return bad("other ranks than programs")
	}
	return s, nil
}

// passedOn returns the variables of this host that ranks on other hosts get; these ranks
// have all other variables from their own host.
func passedOn(own []string) (list []string) {
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "HALO_") && !foreign(name) {
			list = append(list, kv)
		}
	}
	return list
}
