//go:build linux

package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Programs for kills_linux_test.go: they meet, or spawn others, again and again, while processes are killed, until
// the test says stop. Their parameters are in the environment.
const (
	killRole    = "HALO_TEST_KILL_ROLE"    // which of killRoles
	killStop    = "HALO_TEST_KILL_STOP"    // a file; the programs end soon after it exists
	killService = "HALO_TEST_KILL_SERVICE" // the name of the server
	killApart   = "HALO_TEST_KILL_APART"   // set: what is spawned is apart
	killHost    = "HALO_TEST_KILL_HOST"    // where to spawn; "": wherever
)

func init() { linuxPrograms["kills"] = killsProgram }

// killRoles are the rounds of the programs.
var killRoles = map[string]func(ctx context.Context, world *mpi.Comm, round int) error{
	"server": serverRound,
	"client": clientRound,
	"parent": parentRound,
}

func killsProgram() error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(os.Getenv(killStop)); err == nil {
				stop()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	world, err := mpi.Init()
	if err != nil {
		return err // the job ends
	}
	role := os.Getenv(killRole)
	if world.Parent() != nil {
		if err := wrongUnlessKilled(childLife(ctx, world, role == "child")); err != nil {
			return err
		}
		return mpi.Finalize()
	}
	for round := 0; ; round++ {
		err := killRoles[role](ctx, world, round)
		if err != nil && ctx.Err() == nil {
			err = wrongUnlessKilled(err)
			if err != nil {
				return err
			}
		}
		// All of the job stop in the same round.
		over := []int32{0}
		if ctx.Err() != nil {
			over[0] = 1
		}
		if err := mpi.Allreduce(world, over, over, mpi.Max); err != nil {
			return wrongUnlessKilled(err)
		}
		if over[0] == 1 {
			return mpi.Finalize()
		}
	}
}

// wrongUnlessKilled returns an error unless err is nil, or one that the death of a process causes, or several of these.
func wrongUnlessKilled(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if wrong := wrongUnlessKilled(e); wrong != nil {
				return wrong
			}
		}
		return nil
	}
	for _, c := range []mpi.Class{mpi.ErrProcFailed, mpi.ErrPort, mpi.ErrName, mpi.ErrSpawn} {
		if errors.Is(err, c) {
			return nil
		}
	}
	if err != nil {
		err = fmt.Errorf("wrong: %s %d: %w", os.Getenv(killRole), os.Getpid(), err)
	}
	return err
}

// together uses an intercommunicator and what is made of it, and disconnects them whatever happens.
func together(inter *mpi.Comm) error {
	use := func() error {
		if err := inter.Barrier(); err != nil {
			return err
		}
		all := make([]int64, inter.RemoteSize())
		if err := mpi.Allgather(inter, []int64{1}, all); err != nil {
			return err
		}
		for r, v := range all {
			if v != 1 {
				return fmt.Errorf("rank %d has sent %d", r, v)
			}
		}
		return nil
	}
	err := use()
	if all, failed := inter.Merge(false); failed == nil {
		err = errors.Join(err, all.Barrier(), stored(all))
		if dup, failed := all.Dup(); failed == nil {
			err = errors.Join(err, dup.Barrier(), dup.Disconnect())
		} else {
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, all.Disconnect())
	} else {
		err = errors.Join(err, failed)
	}
	return errors.Join(err, inter.Disconnect())
}

// stored stores into the memory of the next member of c, which may be of another job.
func stored(c *mpi.Comm) error {
	w, err := mpi.WinAllocate[int64](c, 1)
	if err != nil {
		return err
	}
	next := (c.Rank() + 1) % c.Size()
	if mem, err := w.Shared(next); err == nil && mem != nil {
		mem[0] = int64(c.Rank())
	}
	return errors.Join(c.Barrier(), w.Free())
}

func serverRound(ctx context.Context, world *mpi.Comm, _ int) error {
	var port *mpi.Port
	if world.Rank() == 0 {
		var err error
		port, err = mpi.OpenPort(world)
		if err == nil {
			err = port.Publish(os.Getenv(killService))
		}
		if err != nil {
			return err // that is none of a kill, and ends the job
		}
	}
	inter, err := port.Accept(ctx, world, 0)
	if world.Rank() == 0 {
		err = errors.Join(err, port.Unpublish(os.Getenv(killService)), port.Close())
	}
	if err != nil {
		return err
	}
	return together(inter)
}

func clientRound(ctx context.Context, world *mpi.Comm, _ int) error {
	name := ""
	for world.Rank() == 0 && name == "" && ctx.Err() == nil {
		var err error
		name, err = mpi.LookupName(world, os.Getenv(killService))
		if err != nil {
			if !errors.Is(err, mpi.ErrName) {
				return err
			}
			time.Sleep(time.Millisecond)
		}
	}
	if world.Rank() == 0 && name != "" {
		defer hostile(name)()
	}
	inter, err := mpi.Connect(ctx, name, world, 0)
	if err != nil {
		return err
	}
	return together(inter)
}

// hostile calls a port without its secret: with nothing, a part of a handshake, and what is none. It returns a function
// that ends the calls.
func hostile(port string) (end func()) {
	addr, _, _ := strings.Cut(strings.TrimPrefix(port, "halo://"), "/")
	var calls []net.Conn
	for _, b := range [][]byte{nil, {1, 2, 3}, bytes.Repeat([]byte{0xff}, 4096)} {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Write(b)
			calls = append(calls, c)
		}
	}
	return func() {
		for _, c := range calls {
			c.Close()
		}
	}
}

// spawnRole spawns processes with a role.
func spawnRole(ctx context.Context, world *mpi.Comm, role string, n int) error {
	self, _ := os.Executable()
	m := mpi.Command{Program: self, N: n, Apart: os.Getenv(killApart) != "", Env: []string{killRole + "=" + role}}
	if at := os.Getenv(killHost); at != "" {
		m.Info = mpi.NewInfo()
		m.Info.Set("host", at)
	}
	inter, _, err := world.Spawn(ctx, 0, m)
	if err != nil {
		return err
	}
	return together(inter)
}

func parentRound(ctx context.Context, world *mpi.Comm, round int) error {
	if round%3 == 2 {
		return spawnRole(ctx, world, "grandchild", 1)
	}
	return spawnRole(ctx, world, "child", 2)
}

func childLife(ctx context.Context, world *mpi.Comm, spawns bool) (err error) {
	if spawns {
		err = spawnRole(ctx, world, "grandchild", 1)
	}
	return errors.Join(err, together(world.Parent()))
}
