package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// fileExecution is the records of the ranks from one run of a program, which the oracle reads when all
// ranks have ended.
type fileExecution struct {
	*fileProgram
	plan  fileRun
	path  string
	got   map[*fileAccess]*fileResult
	after [][]byte // what the file contains after each round
	over  sync.WaitGroup
}

// fileResult is what a rank has seen of an access.
type fileResult struct {
	data  []byte // as in the file: what was written or read
	bytes int64  // of the status
}

// execution prepares a run. ok is false if the program is not allowed.
func (p *fileProgram) execution(path string) (x *fileExecution, ok bool) {
	x = &fileExecution{fileProgram: p, path: path, got: map[*fileAccess]*fileResult{}, after: make([][]byte, len(p.rounds))}
	x.plan, ok = p.follow()
	if !ok {
		return nil, false
	}
	for _, r := range p.rounds {
		for _, s := range r.steps {
			for _, a := range s.parts {
				x.got[a] = &fileResult{}
			}
		}
	}
	x.over.Add(len(p.places))
	return x, true
}

// follow has a tracker follow the program. ok is false if it refuses a part of it.
func (p *fileProgram) follow() (fileRun, bool) {
	t := newFileTracker(len(p.places))
	for _, r := range p.rounds {
		for _, c := range r.changes {
			if !t.change(c) {
				return fileRun{}, false
			}
		}
		t.steps()
		for _, s := range r.steps {
			if !t.add(s) {
				return fileRun{}, false
			}
		}
		if !t.close() {
			return fileRun{}, false
		}
		for _, c := range r.closes {
			if !t.change(c) {
				return fileRun{}, false
			}
		}
	}
	return t.plan, true
}

// fileRank is the state of a rank that runs a program.
type fileRank struct {
	*fileExecution
	world  *mpi.Comm
	comms  [handlesOn]*mpi.Comm
	rank   int
	files  map[*fileHandle]*mpi.File
	views  map[*fileHandle]*fileView
	active map[*fileAccess]*fileMove
}

// fileMove is an access that has begun.
type fileMove struct {
	*fileAccess
	*placed
	view    *fileView
	write   bool
	before  []byte
	request mpi.Request
}

// run does one rank's part.
func (x *fileExecution) run(world *mpi.Comm) error {
	defer x.over.Done()
	r := &fileRank{fileExecution: x, world: world, rank: world.Rank(), files: map[*fileHandle]*mpi.File{},
		views: map[*fileHandle]*fileView{}, active: map[*fileAccess]*fileMove{}}
	halves, err := world.Split(r.rank%2, 0)
	err = errors.Join(err, register(world))
	if err != nil {
		return err
	}
	r.comms = [handlesOn]*mpi.Comm{world, halves, world.Self()}
	for i, round := range x.rounds {
		if err := r.round(i, round); err != nil {
			return fmt.Errorf("rank %d, round %d: %w", r.rank, i, err)
		}
	}
	return errors.Join(halves.Free(), world.Barrier())
}

func (r *fileRank) round(i int, round *fileRound) error {
	for _, c := range round.changes {
		if err := r.change(c); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
	}
	if err := r.world.Barrier(); err != nil {
		return err
	}
	for _, s := range round.steps {
		if !s.concerns(r.rank) {
			continue
		}
		if err := r.step(s); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	if err := r.synchronise(round.sync); err != nil {
		return err
	}
	if r.rank == 0 {
		b, err := os.ReadFile(r.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // nobody has opened it yet
			return err
		}
		r.after[i] = b
	}
	for _, h := range r.handles {
		want, group := r.plan.shared[i][h], h.group(r.rank)
		if want == nil || h.members(len(r.places), group)[0] != r.rank {
			continue
		}
		if at, err := r.files[h].PositionShared(); err != nil || at != want[group] {
			return fmt.Errorf("shared pointer of handle %d at %d, want %d: %w", h.number, at, want[group], err)
		}
	}
	if err := r.world.Barrier(); err != nil {
		return err
	}
	for _, c := range round.closes {
		if err := r.change(c); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
	}
	return nil
}

// synchronise has every rank see what others have written.
func (r *fileRank) synchronise(sync bool) error {
	all := func() error {
		for _, h := range r.handles {
			if f := r.files[h]; f != nil && sync {
				if err := f.Sync(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return errors.Join(all(), r.world.Barrier(), all())
}

func (r *fileRank) change(c *fileChange) (err error) {
	f := r.files[c.h]
	switch c.do {
	case changeOpen:
		info := mpi.NewInfo()
		for i := 0; i < len(c.h.hints); i += 2 {
			if err := info.Set(c.h.hints[i], c.h.hints[i+1]); err != nil {
				return err
			}
		}
		r.files[c.h], err = mpi.OpenFile(r.comms[c.h.on], r.path, c.h.mode, info)
		r.views[c.h] = bytesView()
		return err
	case changeClose:
		delete(r.files, c.h)
		return f.Close()
	case changeView:
		v := c.views[r.rank]
		r.views[c.h] = v
		disp := v.disp
		if c.h.sequential() {
			disp = mpi.DisplacementCurrent
		}
		etype, err := datatypeOf(v.etype)
		if err != nil {
			return err
		}
		filetype, err := datatypeOf(v.filetype)
		if err != nil {
			return err
		}
		if err := errors.Join(etype.Commit(), filetype.Commit(), f.SetView(disp, etype, filetype, v.rep)); err != nil {
			return err
		}
		if v.etype.Combiner != dtype.CombinerNamed { // the view keeps what it needs (IO-20)
			err = etype.Free()
		}
		if v.filetype.Combiner != dtype.CombinerNamed {
			err = errors.Join(err, filetype.Free())
		}
		return err
	case changeSize, changeAllocate: // by one group, in the order of all changes
		err = r.world.Barrier()
		if c.h.group(r.rank) == 0 && err == nil {
			set := f.SetSize
			if c.do == changeAllocate {
				set = f.Preallocate
			}
			err = set(c.n)
		}
		return errors.Join(err, r.world.Barrier())
	case changeAtomic:
		return f.SetAtomicity(c.on)
	case changeSeekShared:
		_, err = f.SeekShared(c.n, mpi.SeekSet)
	}
	return err
}

func (r *fileRank) step(s *fileStep) error {
	f := r.files[s.h]
	switch s.do {
	case stepSeek:
		at, err := f.Seek(s.n, s.whence)
		if want := r.plan.seeks[s]; err != nil || at != want {
			return fmt.Errorf("the pointer is at %d, want %d: %w", at, want, err)
		}
		return nil
	case stepTell:
		at, err := f.Position()
		size, err2 := f.Size()
		want := r.plan.tells[s]
		if err := errors.Join(err, err2); err != nil || at != want[0] || want[1] >= 0 && size != want[1] {
			return fmt.Errorf("the pointer is at %d, and the file has %d bytes, want %d: %w", at, size, want, err)
		}
		return nil
	case stepWait:
		m := r.active[s.begun.part(r.rank)]
		st, err := m.request.Wait()
		return r.done(m, st, err)
	case stepEnd:
		st, err := splitEnd(f, s.begun.family, s.begun.write)
		return r.done(r.active[s.begun.part(r.rank)], st, err)
	}
	m, err := r.prepare(s)
	if err != nil {
		return err
	}
	memory := m.endpoint.(fileMemory)
	switch {
	case s.family.split():
		return memory.begin(f, s.family, s.write, m.offset)
	case s.family.later():
		m.request = memory.start(f, s.family, s.write, m.offset)
		return m.request.Err()
	}
	st, err := memory.blocking(f, s.family, s.write, m.offset)
	return r.done(m, st, err)
}

// prepare makes the memory of an access.
func (r *fileRank) prepare(s *fileStep) (*fileMove, error) {
	a := s.part(r.rank)
	laid, err := a.memory.lay(rand.New(rand.NewPCG(a.seed, 1)))
	if err != nil {
		return nil, err
	}
	m := &fileMove{fileAccess: a, placed: laid, view: r.views[s.h], write: s.write}
	if s.write {
		m.each(func(at int64) { m.m.Normalize(m.mem, at) })
		r.got[a].data = m.inFile()
	}
	m.before = bytes.Clone(m.mem)
	r.active[a] = m
	return m, nil
}

// each calls do with the place of each element of the memory's type.
func (m *fileMove) each(do func(at int64)) {
	for i := range m.count {
		do(m.origin + i*m.m.Extent())
	}
}

// inFile is the data in memory as it is in the file.
func (m *fileMove) inFile() []byte {
	switch {
	case !converts(m.view.rep):
		return m.placed.data()
	case m.view.rep != external32:
		return toFile(m.view.rep, inFile(m.basic, "native"), m.placed.data())
	}
	var out []byte
	m.each(func(at int64) { out = append(out, m.m.External(m.mem, at)...) })
	return out
}

// done records the result of an access, and checks that it has changed nothing but its data.
func (r *fileRank) done(m *fileMove, st mpi.Status, err error) error {
	if err != nil {
		return err
	}
	delete(r.active, m.fileAccess)
	got := r.got[m.fileAccess]
	got.bytes = st.Bytes()
	if !m.write {
		got.data = m.inFile()
		m.unpack(m.before, m.origin, m.placed.data())
	}
	if !bytes.Equal(m.mem, m.before) {
		return errors.New("memory beside the data has changed")
	}
	return nil
}
