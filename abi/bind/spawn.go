package bind

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// spawn is MPI_Comm_spawn. The arguments before root count at the root only.
func (l *Lib) spawn(a args) error {
	c, err := l.comm(a.word(5), call.CommSpawn)
	if err != nil {
		return err
	}
	if err := l.need(call.CommSpawn, a, "intercomm", 6); err != nil {
		return err
	}
	var s spawnArguments
	if c.Rank() == a.int(4) {
		s.add(l, a.word(0), a.result(1), a.int(2), a.word(3))
	}
	d, errs, err := engine.Spawn(c, a.int(4), false, s.commands, s.bad)
	l.spawned(a, 6, d, errs)
	return err
}

// spawnMultiple is MPI_Comm_spawn_multiple.
func (l *Lib) spawnMultiple(a args) error {
	c, err := l.comm(a.word(6), call.CommSpawnMultiple)
	if err != nil {
		return err
	}
	if err := l.need(call.CommSpawnMultiple, a, "intercomm", 7); err != nil {
		return err
	}
	var s spawnArguments
	if c.Rank() == a.int(5) {
		n := a.int(0)
		names, argvs, counts, infos := a.handles(1, n), a.handles(2, n), a.numbers(3), a.handles(4, n)
		if names == nil || counts.null() {
			s.bad = fmt.Sprintf("%d commands at %#x, numbers of processes at %#x", n, a.word(1), a.word(3))
		}
		for i, name := range names {
			if s.bad != "" {
				break
			}
			var argv unsafe.Pointer // MPI_ARGVS_NULL is null
			if argvs != nil {
				argv = pointer(argvs[i])
			}
			info := infoNull
			if infos != nil {
				info = infos[i]
			}
			s.add(l, name, argv, counts.get(i), info)
		}
	}
	d, errs, err := engine.Spawn(c, a.int(5), true, s.commands, s.bad)
	l.spawned(a, 7, d, errs)
	return err
}

// spawned stores the results of a spawn: the communicator in argument i, and the error codes in the next one,
// unless that is MPI_ERRCODES_IGNORE, which is null.
func (l *Lib) spawned(a args, i int, c *mpi.Comm, errs []error) {
	a.setWord(i, l.addComm(c))
	codes := a.numbers(i + 1)
	for k, err := range errs {
		if codes.null() {
			break
		}
		codes.set(k, int(mpi.ErrorClass(err)))
	}
}

// spawnArguments are the commands of the root, and what is wrong with them.
type spawnArguments struct {
	commands []mpi.Command
	bad      string
}

// add adds a command. argv ends with a null pointer, or is MPI_ARGV_NULL, which is null.
func (s *spawnArguments) add(l *Lib, name uintptr, argv unsafe.Pointer, n int, info handle) {
	m := mpi.Command{Program: text(name), N: n}
	for ; argv != nil; argv = unsafe.Add(argv, unsafe.Sizeof(uintptr(0))) {
		p := *(*uintptr)(argv)
		if p == 0 {
			break
		}
		m.Args = append(m.Args, text(p))
	}
	switch i, ok := l.infos.get(info); {
	case ok:
		m.Info = i
	case info == infoEnv:
		m.Info = mpi.InfoEnv()
	case info != infoNull:
		s.bad = fmt.Sprintf("%#x is no info: it was freed, or never was one", info)
	}
	s.commands = append(s.commands, m)
}

// commParent is MPI_Comm_get_parent, which always returns the same handle.
func (l *Lib) commParent(a args) error {
	if err := l.need(call.CommGetParent, a, "parent", 0); err != nil {
		return err
	}
	a.setWord(0, commNull)
	if world := l.world.Load(); world != nil && world.Parent() != nil {
		a.setWord(0, l.parent)
	}
	return nil
}
