package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// spawnErrors are wrong calls: all members learn why.
func spawnErrors(world *mpi.Comm) error {
	ctx := context.Background()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	var nothing context.Context
	for _, c := range []struct {
		ctx   context.Context
		m     []mpi.Command
		class mpi.Class
		words []string
	}{
		{ctx, nil, mpi.ErrArg, []string{"no command"}},
		{nothing, []mpi.Command{role("leave", 1)}, mpi.ErrArg, []string{"context"}},
		{ctx, []mpi.Command{role("leave", 0)}, mpi.ErrArg, []string{"0 processes"}},
		{ctx, []mpi.Command{{N: 1}}, mpi.ErrArg, []string{"no program"}},
		{ctx, []mpi.Command{{Program: "/no/such/program", N: 2}}, mpi.ErrSpawn, []string{"no such file", "/no/such/program"}},
		{ctx, []mpi.Command{{Program: os.Args[0], N: 1, Apart: true, Env: []string{roleVariable + "=vanish"}}}, mpi.ErrSpawn, []string{"rank 0 of spawned job", "exited with status 5"}},
		{ctx, []mpi.Command{{Program: "true", N: 1}}, mpi.ErrSpawn, []string{"rank 0 of spawned job", "exited with status 0", "Init"}},
		{ctx, []mpi.Command{{Program: "sleep", Args: []string{"100"}, N: 1, Info: role("", 1, "timeout", "0.05").Info}}, mpi.ErrSpawn, []string{"within 50ms", "rank 0 did not"}},
		{short, []mpi.Command{{Program: "sleep", Args: []string{"100"}, N: 1}}, mpi.ErrSpawn, []string{"deadline"}},
		{ctx, []mpi.Command{role("leave", 1, "soft", "x")}, mpi.ErrSpawn, []string{"soft"}},
		{ctx, []mpi.Command{role("leave", 1, "bind", "x")}, mpi.ErrSpawn, []string{"bind", "core, none or auto"}},
		{ctx, []mpi.Command{role("leave", 1, "arch", "vax")}, mpi.ErrSpawn, []string{"vax"}},
		{ctx, []mpi.Command{role("leave", 1, "timeout", "soon")}, mpi.ErrSpawn, []string{"timeout"}},
		{ctx, []mpi.Command{role("leave", 1, "file", "/no/such/file")}, mpi.ErrSpawn, []string{"file"}},
		{ctx, []mpi.Command{role("leave", 1, "env", "x")}, mpi.ErrSpawn, []string{"NAME=value"}},
		{ctx, []mpi.Command{role("leave", 1, "mpi_initial_errhandler", "x")}, mpi.ErrSpawn, []string{"mpi_errors_abort"}},
	} {
		p, errs, err := world.Spawn(c.ctx, 0, c.m...)
		if p != nil || err == nil {
			return fmt.Errorf("%v: %v, no error", c.m, p)
		}
		if err := says(err, c.class, c.words...); err != nil {
			return err
		}
		for _, e := range errs {
			if c.class == mpi.ErrSpawn && !errors.Is(e, mpi.ErrSpawn) {
				return fmt.Errorf("%v: errors %v", c.m, errs)
			}
		}
	}
	if _, _, err := world.Spawn(ctx, 9, role("leave", 1)); !errors.Is(err, mpi.ErrRoot) {
		return fmt.Errorf("root 9: %v", err)
	}
	return nil
}
