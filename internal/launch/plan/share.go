package plan

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
)

// A Share is what an agent must know of a job to run the ranks of its host.
type Share struct {
	ID     string
	Secret [32]byte
	Fabric string
	Bind   string
	Hosts  []string
	Where  []int32 // by rank: index into hosts
	Self   int32   // this host
	Listen string  // address on which its ranks listen
	Apps   []App
	Pushes []PushedFile // programs that the launcher copies to this host

	Universe int    // ranks for which the hosts have room: boot.Job.Universe
	Parent   string // boot.Job.Parent
	Busy     int    // ranks of other jobs on this host
	Far      bool   // other jobs may have ranks on other hosts
	Reader   int    // the rank that reads the standard input
}

// A PushedFile is a program that the launcher copies to the other hosts.
type PushedFile struct {
	Path string // on the launcher's host
	Size int64
}

// An App is one block of the command line, ready to be started: ranks follow
// the order of the apps.
type App struct {
	N    int
	File string // absolute
	Argv []string
	Dir  string   // "" is the agent's own
	Env  []string // variables in addition to the host's own environment

	Psets []string // names of process sets of its ranks
}

// Command returns the command of the job, for people.
func (s *Share) Command() string {
	var parts []string
	for _, a := range s.Apps {
		parts = append(parts, strings.Join(a.Argv, " "))
	}
	return strings.Join(parts, " : ")
}

// Ranks returns the ranks of this host, ascending.
func (s *Share) Ranks() (list []int) {
	for r, h := range s.Where {
		if h == s.Self {
			list = append(list, r)
		}
	}
	return list
}

// AppOf returns the index of a rank's app.
func (s *Share) AppOf(rank int) int {
	for i, a := range s.Apps {
		if rank < a.N {
			return i
		}
		rank -= a.N
	}
	return -1
}

// Blocks returns the apps as a rank knows them.
func (s *Share) Blocks() (list []boot.Block) {
	for _, a := range s.Apps {
		list = append(list, boot.Block{Ranks: a.N, Psets: a.Psets})
	}
	return list
}

// Mark is the name of the job on this host, in the environment of its processes. It
// contains the host, since two hosts of a job may see the same processes, and each must end only
// its own.
func (s *Share) Mark() string { return MarkOf(s.ID, s.Self) }

// MarkOf is the mark of a job on the host with an index.
func MarkOf(id string, host int32) string { return fmt.Sprintf("%s.%d", id, host) }

// Encode returns the share as the body of a frame.
func (s *Share) Encode() []byte {
	w := frame.New(0).Text(s.ID).Raw(s.Secret[:]).Text(s.Fabric).Text(s.Bind).Words(s.Hosts)
	w.U32(uint32(s.Self)).U32(uint32(len(s.Where)))
	for _, h := range s.Where {
		w.U32(uint32(h))
	}
	w.U32(uint32(len(s.Apps)))
	for _, a := range s.Apps {
		w.U32(uint32(a.N)).Words(append([]string{a.File, a.Dir}, a.Argv...)).Words(a.Env).Words(a.Psets)
	}
	encodePushes(w, s.Pushes)
	far := uint8(0)
	if s.Far {
		far = 1
	}
	w.U32(uint32(s.Universe)).Text(s.Parent).U32(uint32(s.Busy)).U8(far).U32(uint32(s.Reader))
	return w.Bytes()[frame.HeadSize:]
}

// DecodeShare decodes what Encode returns. It returns an error for a share that contradicts itself.
func DecodeShare(body []byte) (*Share, error) {
	r := frame.Body{Left: body}
	s := &Share{ID: r.Text()}
	copy(s.Secret[:], r.Take(len(s.Secret)))
	s.Fabric, s.Bind, s.Hosts = r.Text(), r.Text(), r.Words()
	s.Self = int32(r.U32())
	bad := func(what string) (*Share, error) {
		return nil, fmt.Errorf("description of a job of %d bytes with %s", len(body), what)
	}
	if s.Self < 0 || int(s.Self) >= len(s.Hosts) {
		return bad("another number of hosts")
	}
	n := r.U32()
	if n > boot.MaxRanks || r.Bad {
		return bad("too many ranks")
	}
	for range n {
		h := int32(r.U32())
		if h < 0 || int(h) >= len(s.Hosts) {
			return bad("a rank on no host")
		}
		s.Where = append(s.Where, h)
	}
	apps, total := r.U32(), 0
	for i := uint32(0); i < apps && !r.Bad; i++ {
		a := App{N: int(r.U32())}
		words := r.Words()
		if len(words) < 3 || a.N < 1 || a.N > boot.MaxRanks || words[0] == "" {
			return bad("a program without a name")
		}
		a.File, a.Dir, a.Argv, a.Env = words[0], words[1], words[2:], r.Words()
		a.Psets = r.Words()
		s.Apps = append(s.Apps, a)
		total += a.N
	}
	s.Pushes = decodePushes(&r)
	s.Universe, s.Parent, s.Busy, s.Far = int(r.U32()), r.Text(), int(r.U32()), r.U8() != 0
	s.Reader = int(r.U32())
	if s.Reader >= len(s.Where) {
		return bad("input for a rank that it has not")
	}
	if !r.Done() || total != len(s.Where) {
		return bad("other ranks than programs")
	}
	return s, nil
}

// encodePushes appends files to a frame.
func encodePushes(w *frame.Writer, files []PushedFile) {
	w.U32(uint32(len(files)))
	for _, f := range files {
		w.Words([]string{f.Path}).U32(uint32(f.Size)).U32(uint32(f.Size >> 32))
	}
}

func decodePushes(r *frame.Body) (files []PushedFile) {
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		words := r.Words()
		f := PushedFile{Size: int64(r.U32()) | int64(r.U32())<<32}
		if len(words) != 1 || f.Size < 1 {
			r.Bad = true
			break
		}
		f.Path = words[0]
		files = append(files, f)
	}
	return files
}

// PassedOn returns the variables of this host that ranks on other hosts get; these ranks
// have all other variables from their own host.
func PassedOn(own []string) (list []string) {
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "HALO_") && !foreign(name) {
			list = append(list, kv)
		}
	}
	return list
}
