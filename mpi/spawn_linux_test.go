package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// roleVariable names the program that a spawned process runs, instead of that of its parents.
const roleVariable = "HALO_TEST_ROLE"

func init() {
	linuxPrograms["spawner"] = func() error {
		role := os.Getenv(roleVariable)
		if role == "" {
			role = "first"
		}
		what, known := spawnRoles[role]
		if !known {
			return fmt.Errorf("no role %q", role)
		}
		if role == "vanish" { // after it has told the launcher that it calls Init
			boot.Connect(false, true)
			os.Exit(5)
		}
		world, err := mpi.Init()
		if err == nil {
			err = what(world)
		}
		if err != nil {
			fmt.Println(role, err)
			world.Abort(3)
		}
		return mpi.Finalize()
	}
}

// spawnRoles are what processes do; "first" is what those do that the test has started, by spawnCase.
var spawnRoles map[string]func(world *mpi.Comm) error

// caseVariable names the case that the first processes run.
const caseVariable = "HALO_TEST_CASE"

func init() {
	spawnRoles = map[string]func(world *mpi.Comm) error{
		"first":  func(world *mpi.Comm) error { return spawnCases[os.Getenv(caseVariable)](world) },
		"vanish": nil,
		"leave":  func(world *mpi.Comm) error { return world.Parent().Disconnect() },
		"keep":   func(world *mpi.Comm) error { return world.Barrier() },
		"talk":   talk,
		"tell":   tell,
		"nest":   nest,
		"merge":  func(world *mpi.Comm) error { return merged(world.Parent(), true) },
		"handlers": func(world *mpi.Comm) error {
			h, err := world.Errhandler()
			if err == nil && h != mpi.ErrorsAbort {
				err = fmt.Errorf("the initial error handler is %v", h)
			}
			if err != nil {
				return err
			}
			return world.Parent().Disconnect()
		},
	}
}

// role is a command that starts this program in a role.
func role(name string, n int, pairs ...string) mpi.Command {
	self, _ := os.Executable()
	m := mpi.Command{Program: self, N: n, Env: []string{roleVariable + "=" + name}}
	if pairs != nil {
		m.Info = mpi.NewInfo()
		for i := 0; i < len(pairs); i += 2 {
			m.Info.Set(pairs[i], pairs[i+1])
		}
	}
	return m
}

// talk exchanges messages with all parents, in both directions, and checks the names.
func talk(world *mpi.Comm) error {
	p := world.Parent()
	if p == nil || p.Name() != "parent" || p.Size() != world.Size() || p.Rank() != world.Rank() {
		return fmt.Errorf("parent %q, rank %d of %d", p.Name(), p.Rank(), p.Size())
	}
	for i := range p.RemoteSize() {
		if err := mpi.Send(p, []int64{int64(100*world.Rank() + i)}, i, 1); err != nil {
			return err
		}
		got := []int64{0}
		if _, err := mpi.Recv(p, got, i, 2); err != nil || got[0] != int64(100*i+world.Rank()) {
			return fmt.Errorf("from parent %d: %v, %v", i, got, err)
		}
	}
	if err := p.Disconnect(); err != nil {
		return err
	}
	if world.Parent() != nil {
		return errors.New("there is a parent after Disconnect")
	}
	return nil
}

// tell sends the parent what it asks for: the fields of the process.
func tell(world *mpi.Comm) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	info, err := world.Info()
	if err != nil {
		return err
	}
	kinds, _ := info.Get("mpi_memory_alloc_kinds")
	text := fmt.Sprintf("app %d size %d args %q dir %s extra %q kinds %s", world.AppNum(), world.Size(), os.Args[1:], dir, os.Getenv("EXTRA"), kinds)
	if err := mpi.Send(world.Parent(), []byte(text), 0, 3); err != nil {
		return err
	}
	return world.Parent().Disconnect()
}

// nest spawns once more until the depth is reached, and returns the sum of what those below have.
func nest(world *mpi.Comm) error {
	var depth int
	fmt.Sscan(os.Getenv("DEPTH"), &depth)
	sum := []int64{1}
	if depth > 0 {
		m := role("nest", 1)
		m.Env = append(m.Env, fmt.Sprint("DEPTH=", depth-1))
		below, _, err := world.Spawn(context.Background(), 0, m)
		if err != nil {
			return err
		}
		got := []int64{0}
		if _, err := mpi.Recv(below, got, 0, 4); err != nil {
			return err
		}
		sum[0] += got[0]
		if err := below.Disconnect(); err != nil {
			return err
		}
	}
	p := world.Parent()
	if p == nil {
		if sum[0] != 6 {
			return fmt.Errorf("%d processes in a chain, want 6", sum[0])
		}
		return nil
	}
	if err := mpi.Send(p, sum, 0, 4); err != nil {
		return err
	}
	return p.Disconnect()
}

// merged merges an intercommunicator and adds up the ranks.
func merged(inter *mpi.Comm, high bool) error {
	c, err := inter.Merge(high)
	if err != nil {
		return err
	}
	sum := []int64{int64(c.Rank())}
	if err := mpi.Allreduce(c, sum, sum, mpi.Sum); err != nil || sum[0] != int64(c.Size()*(c.Size()-1)/2) {
		return fmt.Errorf("sum of the ranks of %d: %d, %v", c.Size(), sum[0], err)
	}
	if err := c.Disconnect(); err != nil {
		return err
	}
	return inter.Disconnect()
}

// spawnCases are what the first processes do.
var spawnCases map[string]func(world *mpi.Comm) error

func init() {
	ctx := context.Background()
	spawnCases = map[string]func(world *mpi.Comm) error{
		// DYN-05, DYN-03
		"messages": func(world *mpi.Comm) error {
			var m []mpi.Command
			var at context.Context
			if world.Rank() == 1 {
				m, at = []mpi.Command{role("talk", 2)}, ctx
			} else {
				m = []mpi.Command{{Program: "none", N: -7}} // counts at the root only, like the context
			}
			p, errs, err := world.Spawn(at, 1, m...)
			if err != nil {
				return err
			}
			if len(errs) != 2 || errs[0] != nil || errs[1] != nil || p.RemoteSize() != 2 || p.Size() != world.Size() || p.Rank() != world.Rank() {
				return fmt.Errorf("errors %v, %d of %d with %d", errs, p.Rank(), p.Size(), p.RemoteSize())
			}
			for i := range 2 {
				got := []int64{0}
				if _, err := mpi.Recv(p, got, i, 1); err != nil || got[0] != int64(100*i+world.Rank()) {
					return fmt.Errorf("from child %d: %v, %v", i, got, err)
				}
				if err := mpi.Send(p, []int64{int64(100*world.Rank() + i)}, i, 2); err != nil {
					return err
				}
			}
			return p.Disconnect()
		},
		// DYN-02, INF-04
		"keys": func(world *mpi.Comm) error {
			dir, err := os.MkdirTemp("", "spawn-keys-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			self, _ := os.Executable()
			if err := os.Symlink(self, filepath.Join(dir, "child-of-the-test")); err != nil {
				return err
			}
			file := filepath.Join(dir, "keys")
			if err := os.WriteFile(file, []byte("# keys\n\nwdir = /\nenv=EXTRA=f\n"), 0o600); err != nil {
				return err
			}
			one, two, three := role("tell", 1, "path", "/nowhere:"+dir, "wdir", dir, "env", "EXTRA=a b\n", "unknown", "x", "arch", "x86_64", "mpi_memory_alloc_kinds", "mpi:alloc_mem"), role("tell", 2), role("tell", 1, "file", file)
			if one.Info != nil && testrun.Race {
				one.Info.Delete("arch")
			}
			one.Program, one.Args, two.Dir, two.Args = "child-of-the-test", []string{"", "x y"}, "/tmp", []string{"2"}
			p, errs, err := world.Spawn(ctx, 0, one, two, three)
			if err != nil {
				return err
			}
			if len(errs) != 4 {
				return fmt.Errorf("errors of 4 processes: %v", errs)
			}
			real, _ := filepath.EvalSymlinks(dir)
			for i, want := range []string{"app 0 size 4 args [\"\" \"x y\"] dir " + real + " extra \"a b\"", "app 1 size 4 args [\"2\"] dir /tmp extra \"\"", "app 1 size 4 args [\"2\"] dir /tmp", "app 2 size 4 args [] dir / extra \"f\""} {
				text := make([]byte, 1000)
				st, err := mpi.Recv(p, text, i, 3)
				if err != nil || !strings.HasPrefix(string(text), want) {
					return fmt.Errorf("child %d says %s, %v; want %s (%v)", i, text, err, want, st)
				}
				if i == 0 && !strings.Contains(string(text), "mpi:alloc_mem") {
					return fmt.Errorf("child 0 has the kinds %s", text)
				}
			}
			return p.Disconnect()
		},
		"handlers": func(world *mpi.Comm) error {
			p, _, err := world.Spawn(ctx, 0, role("handlers", 1, "mpi_initial_errhandler", "mpi_errors_abort"))
			if err != nil {
				return err
			}
			return p.Disconnect()
		},
		// DYN-01, DYN-04
		"soft": func(world *mpi.Comm) error {
			if n, err := world.FreeSlots(ctx); n != 2 || err != nil {
				return fmt.Errorf("%d slots are free: %v", n, err)
			}
			if err := world.Barrier(); err != nil {
				return err
			}
			p, errs, err := world.Spawn(ctx, 0, role("leave", 4, "soft", "0:4"))
			if err != nil {
				return err
			}
			if n, err := world.FreeSlots(ctx); n != 0 || err != nil {
				return fmt.Errorf("%d slots are free after Spawn: %v", n, err)
			}
			if len(errs) != 4 || errs[0] != nil || errs[1] != nil || p.RemoteSize() != 2 {
				return fmt.Errorf("%d processes, errors %v", p.RemoteSize(), errs)
			}
			for _, e := range errs[2:] {
				if err := says(e, mpi.ErrSpawn, "was not started", "2 slots are free"); err != nil {
					return err
				}
			}
			return p.Disconnect()
		},
		"errors": spawnErrors,
		"depth": func(world *mpi.Comm) error {
			os.Setenv("DEPTH", "5")
			return nest(world)
		},
		"merge": func(world *mpi.Comm) error {
			p, _, err := world.Spawn(ctx, 0, role("merge", 2))
			if err != nil {
				return err
			}
			return merged(p, false)
		},
		// DYN-05: one communicator for each goroutine, or that of the process.
		"goroutines": func(world *mpi.Comm) error {
			errs := make([]error, 4)
			var all sync.WaitGroup
			for i := range errs {
				c, err := world.Dup()
				if err != nil {
					return err
				}
				if i%2 == 0 {
					c = world.Self() // that of the process alone serves several
				}
				all.Go(func() {
					p, _, err := c.Spawn(ctx, 0, role("leave", 1))
					if err == nil {
						err = p.Disconnect()
					}
					errs[i] = err
				})
			}
			all.Wait()
			return errors.Join(errs...)
		},
		// DYN-05: nothing grows.
		"rounds": func(world *mpi.Comm) error {
			var before int
			for i := range repeated(30) {
				p, _, err := world.Spawn(ctx, 0, role("leave", 1))
				if err != nil {
					return err
				}
				if err := p.Disconnect(); err != nil {
					return err
				}
				if held := heldByProcess(); i == 5 {
					before = held
				} else if i > 5 && held > before+3 {
					return fmt.Errorf("%d descriptors and mappings of files after round 5, %d after round %d", before, held, i)
				}
			}
			return nil
		},
		// The children and their parents are still connected when they call Finalize.
		"connected": func(world *mpi.Comm) error {
			_, _, err := world.Spawn(ctx, 0, role("keep", 2))
			return err
		},
		"free": func(world *mpi.Comm) error {
			p, _, err := world.Spawn(ctx, 0, role("keep", 1))
			if err != nil {
				return err
			}
			return p.Free()
		},
	}
}

// spawnTests runs cases of this binary as processes that spawn others.
type spawnTests struct{ halo, self string }

// run runs a case with n first processes over a fabric, or without a launcher if the fabric is "".
func (s *spawnTests) run(t *testing.T, fabric string, n int, name string, options ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.self)
	if fabric != "" {
		cmd = exec.CommandContext(t.Context(), s.halo, slices.Concat([]string{"run", "-fabric", fabric, "-n", fmt.Sprint(n)}, options, []string{s.self})...)
	}
	cmd.Env = append(os.Environ(), programVariable+"=spawner", caseVariable+"="+name, "HALO_LAUNCHER="+s.halo)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil || text.Len() > 0 {
		t.Errorf("%s of %d processes, fabric %q: %v: %s", name, n, fabric, err, text.String())
	}
}

// Processes spawn others, over each fabric, under the launcher and without one.
func TestDYN01_DYN02_DYN03_DYN04_DYN05_INF04_SYN35_EX05_SpawnedProcesses(t *testing.T) {
	self, err := os.Executable()
	ok(t, err)
	s := &spawnTests{halo: testrun.Halo(t, t.TempDir()), self: self}
	host, _ := os.Hostname()
	echoes := map[string]string{"shm": "pair", "": "pair", "tcp": "sockets"}
	for _, fabric := range append(testrun.Fabrics("shm", "tcp"), "") {
		for _, c := range []struct {
			name string
			n    []int
		}{{"messages", []int{3}}, {"keys", []int{1}}, {"handlers", []int{1}}, {"errors", []int{1, 2}}, {"depth", []int{1}}, {"merge", []int{1, 2}},
			{"goroutines", []int{1, 2}}, {"rounds", []int{1}}, {"connected", []int{1, 2}}, {"free", []int{1}}, {"window", []int{1, 2}}, {"sets", []int{1, 2}}, {"killed", []int{1, 2}}, {echoes[fabric], []int{1, 2}}} {
			for _, n := range c.n {
				if fabric != "" || n == 1 {
					t.Run(fmt.Sprintf("%s-%s-%d", c.name, fabric, n), func(t *testing.T) { s.run(t, fabric, n, c.name) })
				}
			}
		}
		if fabric == "shm" {
			t.Run("denied", func(t *testing.T) { testDeniedPair(t, s) })
			t.Run("unchecked", func(t *testing.T) { testUnchecked(t, s) })
		}
		for n := 1; n <= 2 && fabric != ""; n++ {
			t.Run(fmt.Sprintf("soft-%s-%d", fabric, n), func(t *testing.T) {
				s.run(t, fabric, n, "soft", "-host", fmt.Sprint(host, ":", n+2))
			})
		}
	}
}
