package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

// programVariable is the environment variable with the name of the program that this test binary is to run
// instead of tests: see programs.
const programVariable = "HALO_POOL_TEST_PROGRAM"

func init() {
	lone = func() bool {
		pool.Worker()
		program := programs[os.Getenv(programVariable)]
		if program != nil {
			mpi.Main(program)
		}
		return program != nil
	}
}

var (
	processID = pool.Register("process", func(context.Context, struct{}) (int, error) { return os.Getpid(), nil })
	// die makes the file mark and kills its worker, or does neither if the file exists.
	die = pool.Register("die", func(_ context.Context, mark string) (int, error) {
		if f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return os.Getpid(), nil
	})
	endless = pool.Register("endless", func(context.Context, struct{}) (int, error) { select {} })
)

// programs are the programs, by name, of processes that have pools of processes. They return an error if
// a pool does something wrong.
var programs = map[string]func(world *mpi.Comm) error{
	// Workers are other processes, and do what goroutines do.
	"squares": func(world *mpi.Comm) error {
		args, want := numbersTo(50)
		for _, n := range []int{1, 3} {
			err := pool.Spawn(bg, world, n, func(p *pool.Pool) error {
				got, err := pool.Map(bg, p, square, args)
				if err == nil && !slices.Equal(got, want) {
					err = fmt.Errorf("squares are %v", got)
				}
				if err == nil {
					var pid int
					pid, err = pool.Submit(bg, p, processID, struct{}{}).Wait()
					if pid == os.Getpid() {
						err = errors.New("the worker is this process")
					}
				}
				if _, e := pool.Submit(bg, p, explode, 3).Wait(); e == nil || !strings.Contains(e.Error(), "panic: runtime error: index out of range [3]") {
					err = errors.Join(err, fmt.Errorf("panic: %w", e))
				}
				return err
			}, pool.InFlight(2))
			if err != nil {
				return err
			}
		}
		return nil
	},
	// A worker that is killed is replaced; its task fails, and runs again with Retry.
	"deaths": func(world *mpi.Comm) error {
		dir, err := os.MkdirTemp("", "halo-pool-test-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		var marks []string
		for i := range 4 {
			marks = append(marks, filepath.Join(dir, strconv.Itoa(i)))
		}
		for retries := range 2 {
			err := pool.Spawn(bg, world, 2, func(p *pool.Pool) error {
				for i := range 2 {
					_, err := pool.Submit(bg, p, die, marks[2*retries+i]).Wait()
					if died := errors.Is(err, mpi.ErrProcFailed) && strings.Contains(err.Error(), "the worker has died"); died != (retries == 0) {
						return fmt.Errorf("task that kills its worker: %w", err)
					}
				}
				args, want := numbersTo(20)
				if got, err := pool.Map(bg, p, square, args); err != nil || !slices.Equal(got, want) {
					return fmt.Errorf("afterwards the squares are %v, %w", got, err)
				}
				return nil
			}, pool.Retry(retries))
			if err != nil {
				return err
			}
		}
		return nil
	},
	// Goroutines have pools at the same time.
	"several": func(world *mpi.Comm) error {
		args, want := numbersTo(20)
		var all sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			all.Go(func() {
				errs[i] = pool.Spawn(bg, world, 1, func(p *pool.Pool) error {
					got, err := pool.Map(bg, p, square, args)
					if err == nil && !slices.Equal(got, want) {
						err = fmt.Errorf("squares are %v", got)
					}
					return err
				})
			})
		}
		all.Wait()
		return errors.Join(errs...)
	},
	// What cannot be a pool is refused.
	"refusals": func(world *mpi.Comm) error {
		none := func(*pool.Pool) error { return errors.New("there is a pool") }
		if err := pool.Spawn(bg, nil, 1, none); !errors.Is(err, mpi.ErrComm) {
			return fmt.Errorf("without a communicator: %w", err)
		}
		if err := pool.Spawn(bg, world, 0, none); !errors.Is(err, mpi.ErrArg) || !strings.Contains(err.Error(), "0 workers") {
			return fmt.Errorf("without workers: %w", err)
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		if err := pool.Spawn(ctx, world, 2, none); !errors.Is(err, mpi.ErrSpawn) {
			return fmt.Errorf("in a context that has ended: %w", err)
		}
		nowhere := mpi.NewInfo()
		nowhere.Set("host", "nowhere.invalid")
		if err := pool.Spawn(bg, world, 1, none, pool.Info(nowhere)); !errors.Is(err, mpi.ErrSpawn) || !strings.Contains(err.Error(), "nowhere.invalid") {
			return fmt.Errorf("on no host: %w", err)
		}
		broken := errors.New("the milk is off")
		if err := pool.Spawn(bg, world, 1, func(*pool.Pool) error { return broken }); err != broken {
			return fmt.Errorf("the error of run: %w", err)
		}
		return nil
	},
	// The process prints its number and the workers' numbers, and waits for its end.
	"wait": func(world *mpi.Comm) error {
		return pool.Spawn(bg, world, 2, func(p *pool.Pool) error {
			pids := map[int]bool{}
			for len(pids) < 2 {
				got, err := pool.Map(bg, p, processID, make([]struct{}, 4))
				if err != nil {
					return err
				}
				for _, pid := range got {
					pids[pid] = true
				}
			}
			fmt.Println(os.Getpid())
			for pid := range pids {
				fmt.Println(pid)
			}
			_, err := pool.Submit(bg, p, endless, struct{}{}).Wait()
			return err
		})
	},
}

// launcher builds the program halo and returns its path.
func launcher(t *testing.T) string {
	t.Helper()
	return testrun.Halo(t, t.TempDir())
}

// process is a command that runs a program under halo or, if fabric is empty, by itself.
func process(t *testing.T, halo, fabric, program string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	if fabric != "" {
		cmd = exec.CommandContext(t.Context(), halo, "run", "-n", "1", "-fabric", fabric, self)
	}
	cmd.Env = append(os.Environ(), programVariable+"="+program, "HALO_LAUNCHER="+halo)
	return cmd
}

// Pools of processes work under the launcher, over each fabric, and without it.
func TestSpawnedWorkers(t *testing.T) {
	halo := launcher(t)
	for _, fabric := range append(testrun.Fabrics("shm", "tcp"), "") {
		for _, program := range []string{"squares", "deaths", "several", "refusals"} {
			t.Run(program+"-"+fabric, func(t *testing.T) {
				out, err := process(t, halo, fabric, program).CombinedOutput()
				if err != nil || len(out) > 0 {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		t.Run("kill-"+fabric, func(t *testing.T) { testKilledMaster(t, process(t, halo, fabric, "wait")) })
	}
}

// testKilledMaster kills the process that has a pool, and waits for the end of its workers.
func testKilledMaster(t *testing.T, cmd *exec.Cmd) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var master, a, b int
	if _, err := fmt.Fscan(out, &master, &a, &b); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(master, syscall.SIGKILL)
	io.Copy(io.Discard, out)
	cmd.Wait()
	for deadline := time.Now().Add(testrun.Long); alive(a) || alive(b); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a worker outlives the process that has the pool: %d %v, %d %v", a, alive(a), b, alive(b))
		}
	}
}

// alive reports whether a process has not ended.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := strings.Cut(string(text), ") ") // after the name of the program
	return err == nil && found && state[0] != 'Z'
}

// A process that nobody has spawned is no worker.
func TestWorkersWithoutParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "HALO_POOL_WORKER=1")
	out, err := cmd.CombinedOutput()
	if err == nil || string(out) != "pool: Worker: the environment has HALO_POOL_WORKER, but no process has spawned this one\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
