package mpi

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Command is a program that Spawn starts, and how.
//
// C: MPI_Comm_spawn, section 11.8.2.
type Command struct {
	// Program is a file, or a name that is looked up in the keys path of Info and in PATH, or a Go package,
	// which is built, as for halo run. A relative path is one in Dir.
	Program string
	Args    []string // without the name of the program
	N       int      // how many processes
	Dir     string   // working directory; "": that of this process
	Env     []string // NAME=value, in addition to the environment of the job of this process
	// Apart has the new job end alone, once it is started: if one of its processes fails, other jobs go on, and
	// calls that need the new processes fail with ErrProcFailed. When its parents end, it ends, too. The first command
	// has it for all.
	Apart bool
	// Info has other keys of the standard (host, hostfile, arch, wdir, path, file, soft, mpi_initial_errhandler,
	// mpi_memory_alloc_kinds) and of Halo (env, bind, timeout): docs/dynamic.md. Other keys are ignored.
	Info *Info
}

// Spawn starts processes that run the commands, as a job with a world of its own, and returns an
// intercommunicator with them. Its remote group is the world of the new processes, in the order of the
// commands; the number of its command is the AppNum of a process there. They find the intercommunicator by
// Parent. Spawn returns when all of them have called Init, or Spawn has failed.
//
// If a command has the key soft, fewer processes may be started than N. The errors then tell, in the order of
// the commands and their processes, which were not started, and why; the error of a process that was started is
// nil. Without the key either all are started or none. ErrSpawn, at all members, with the reason, if none are.
//
// The context and the commands count at the root only; the others may pass any. If the context ends first,
// Spawn fails at all members, and ends what has been started. The new communicator has the error handler of c.
// Collective over c. Several goroutines may spawn at the same time, each over a communicator of its
// own, or over that of this process alone.
//
// The new processes are watched together with those of c: if one of them fails, or calls Abort, all end.
//
// C: MPI_Comm_spawn and MPI_Comm_spawn_multiple, section 11.8.
func (c *Comm) Spawn(ctx context.Context, root int, commands ...Command) (*Comm, []error, error) {
	return c.spawn(call.CommSpawn, ctx, root, commands, "")
}

// FreeSlots asks the launcher for how many more processes there is room now on the hosts of halo run: the slots that no
// process of the job, or of jobs that are spawned, has. Hosts that are given without a number of slots take any number
// of processes; here they have as many slots as cores. Other goroutines and processes may spawn at the same time, so a
// Spawn may find fewer. c is any communicator of the process. ErrSpawn if the process cannot spawn others. It is local.
// The attribute MPI_UNIVERSE_SIZE, section 11.10.1, is the number of slots when the process was started.
//
// C: MPIX_Comm_get_free_slots, an extension.
func (c *Comm) FreeSlots(ctx context.Context) (int, error) {
	const k = call.CommGetFreeSlots
	if err := c.usable(k); err != nil {
		return 0, err
	}
	if ctx == nil {
		return 0, fail(ErrArg, k, c, "the context is nil")
	}
	n, err := c.w.FreeSlots(ctx)
	if err != nil {
		return 0, wrap(err, k, c, Undefined, Undefined)
	}
	return n, nil
}

// FreeSlots is MPIX_Comm_get_free_slots.
func (internals) FreeSlots(c *Comm) (int, error) { return c.FreeSlots(context.Background()) }

// Spawn is MPI_Comm_spawn or, if multiple, MPI_Comm_spawn_multiple. bad says what is wrong with other arguments
// of the root.
func (internals) Spawn(c *Comm, root int, multiple bool, commands []Command, bad string) (*Comm, []error, error) {
	k := call.CommSpawn
	if multiple {
		k = call.CommSpawnMultiple
	}
	return c.spawn(k, context.Background(), root, commands, bad)
}

func (c *Comm) spawn(k call.Number, ctx context.Context, root int, commands []Command, wrong string) (*Comm, []error, error) {
	if err := c.usable(k); err != nil {
		return nil, nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, nil, err
	}
	if root < 0 || root >= c.Size() {
		return nil, nil, fail(ErrRoot, k, c, "root %d in a communicator of %d", root, c.Size())
	}
	var what *boot.Spawn
	var bad *class.Error
	if c.Rank() == root {
		what, bad = c.asks(ctx, commands)
		if wrong != "" {
			bad = &class.Error{Class: class.Arg, Text: wrong}
		}
	}
	defer c.core.Begin(k)()
	core, answer, err := c.w.Spawn(ctx, c.core, root, what, bad)
	if err != nil {
		err = wrap(err, k, c, Undefined, Undefined)
		return nil, unstarted(commands, err), err
	}
	d := c.derive(core)
	errs, err := c.started(root, commands, answer)
	if err != nil {
		return nil, nil, wrap(err, k, c, Undefined, Undefined)
	}
	c.self.own.spawns.add(d)
	return d, errs, nil
}

// asks checks commands, and returns what the launcher is asked for.
func (c *Comm) asks(ctx context.Context, commands []Command) (*boot.Spawn, *class.Error) {
	bad := func(cl class.Class, format string, args ...any) (*boot.Spawn, *class.Error) {
		return nil, class.Errorf(cl, format, args...)
	}
	if len(commands) == 0 {
		return bad(class.Arg, "no command")
	}
	if ctx == nil {
		return bad(class.Arg, "the context is nil")
	}
	what := &boot.Spawn{Apart: commands[0].Apart}
	total := 0
	here, _ := os.Getwd()
	for i := range commands {
		m := &commands[i]
		total += max(m.N, 0)
		if m.N < 1 || total > boot.MaxRanks {
			return bad(class.Arg, "command %d, %s: %d processes, want 1 to %d in all", i, m.Program, m.N, boot.MaxRanks)
		}
		b := boot.SpawnBlock{Program: m.Program, Args: m.Args, Max: m.N, Dir: m.Dir, Env: slices.Clone(m.Env)}
		limit, err := spawnKeys(m.Info, &b)
		if err != nil {
			return bad(class.Spawn, "command %d, %s: %v", i, m.Program, err)
		}
		what.Timeout = cmp.Or(what.Timeout, limit)
		b.Dir = cmp.Or(b.Dir, here)
		if b.Program == "" {
			return bad(class.Arg, "command %d of %d has no program", i, len(commands))
		}
		what.Blocks = append(what.Blocks, b)
	}
	return what, nil
}

// unstarted are the errors of all processes if none was started.
func unstarted(commands []Command, err error) (errs []error) {
	for _, m := range commands {
		for range max(0, min(m.N, boot.MaxRanks)) {
			errs = append(errs, err)
		}
	}
	return errs
}

// started returns the errors of the processes of commands by the answer to the root, which tells it the others.
func (c *Comm) started(root int, commands []Command, answer *boot.Spawned) ([]error, error) {
	var errs []error
	if c.Rank() == root {
		for i, m := range commands {
			for k := range m.N {
				var err error
				if k >= answer.Counts[i] {
					err = newError(ErrSpawn, call.CommSpawn, c, "process %d of %s was not started: %s", k, m.Program, answer.Why)
				}
				errs = append(errs, err)
			}
		}
	}
	if c.Size() == 1 {
		return errs, nil
	}
	// The number of processes, and of those that were not started, then the places of these and the reason.
	head := make([]byte, 12)
	var missing []byte
	if c.Rank() == root {
		for i, err := range errs {
			if err != nil {
				missing = binary.LittleEndian.AppendUint32(missing, uint32(i))
			}
		}
		binary.LittleEndian.PutUint32(head, uint32(len(errs)))
		binary.LittleEndian.PutUint32(head[4:], uint32(len(missing)/4))
		if missing != nil {
			binary.LittleEndian.PutUint32(head[8:], uint32(len(answer.Why)))
			missing = append(missing, answer.Why...)
		}
	}
	if err := c.w.Coll.Bcast(c.core, head, dtype.Mixed, root); err != nil {
		return nil, err
	}
	n, lost, text := int(binary.LittleEndian.Uint32(head)), int(binary.LittleEndian.Uint32(head[4:])), int(binary.LittleEndian.Uint32(head[8:]))
	if lost > n || n > boot.MaxRanks || text > math.MaxUint16 {
		return nil, errors.New("an answer to a spawn that does not decode")
	}
	if lost > 0 {
		if c.Rank() != root {
			missing = make([]byte, 4*lost+text)
		}
		if err := c.w.Coll.Bcast(c.core, missing, dtype.Mixed, root); err != nil {
			return nil, err
		}
	}
	if c.Rank() == root {
		return errs, nil
	}
	errs = make([]error, n)
	for i := range lost {
		if k := int(binary.LittleEndian.Uint32(missing[4*i:])); k < n {
			errs[k] = newError(ErrSpawn, call.CommSpawn, c, "process %d was not started: %s", k, missing[4*lost:])
		}
	}
	return errs, nil
}

// Parent returns the intercommunicator with the processes that have spawned this one, or nil if none have, or
// when the communicator has been freed or disconnected. c is any communicator of the world model. Its name is
// "parent".
//
// C: MPI_Comm_get_parent, section 11.8.2.
func (c *Comm) Parent() *Comm {
	if c == nil || c.self.own == nil || c.self.own.session != nil {
		return nil
	}
	p := c.self.own.spawns.parent.Load()
	if p == nil || p.freed.Load() {
		return nil
	}
	return p
}
