// Session is a program whose ranks use sessions, for tests of the launcher and of job engines. Argument 1 is what they
// do, argument 2 a folder for their files.
package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

var (
	rank, _ = strconv.Atoi(cmp.Or(os.Getenv("HALO_RANK"), os.Getenv("PMI_RANK"), os.Getenv("SLURM_PROCID"), os.Getenv("OMPI_COMM_WORLD_RANK")))
	size, _ = strconv.Atoi(cmp.Or(os.Getenv("HALO_SIZE"), os.Getenv("PMI_SIZE"), os.Getenv("SLURM_STEP_NUM_TASKS"), os.Getenv("OMPI_COMM_WORLD_SIZE")))
)

func main() {
	err := do(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", rank, err)
		os.Exit(1)
	}
}

func do(what string) error {
	switch what {
	case "some": // ranks 0 and 1 use a session while all others are stopped and never call MPI
		if rank > 1 {
			return stop()
		}
		pids, err := stopped()
		if err != nil {
			return err
		}
		if err := session([]int{1, 0}, false); err != nil {
			return err
		}
		if rank == 0 {
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGCONT)
			}
		}
	case "around": // before, beside and after the world model
		for range 2 {
			if err := session(all(), false); err != nil {
				return err
			}
		}
		if err := session(all(), true); err != nil {
			return err
		}
		return session(all(), false)
	case "ends": // rank 1 ends without a session while others want one with it
		if rank == 1 {
			return nil
		}
		return session(all(), false)
	case "leaves": // a session is not finalized
		_, err := mpi.OpenSession(mpi.ErrorsReturn)
		return err
	case "early": // rank 1 ends after its session while rank 0 is in Init
		if rank == 0 {
			_, err := mpi.Init()
			return err
		}
		return session([]int{1}, false)
	case "unopened", "opened", "amid": // the last rank dies while the others make communicators with it
		return die(what)
	case "psets":
		s, err := mpi.OpenSession(mpi.ErrorsReturn)
		if err != nil {
			return err
		}
		names, err := s.Psets()
		if err != nil {
			return err
		}
		for _, name := range names {
			g, err := s.Group(name)
			if err != nil {
				return err
			}
			if strings.HasPrefix(name, "halo://host/") {
				name = "host"
			}
			if g.Rank() == 0 {
				fmt.Println(name, g.Size())
			}
		}
		return s.Finalize()
	}
	return nil
}

func all() (ranks []int) {
	for r := range size {
		ranks = append(ranks, r)
	}
	return ranks
}

// stop stops this process, after it has written its id, until it is continued. Kill may return
// before the process stops.
func stop() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	if err := os.WriteFile(filepath.Join(os.Args[2], fmt.Sprint(rank)), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-continued
	return nil
}

// stopped waits until all ranks from 2 on are stopped, and returns their ids.
func stopped() (pids []int, err error) {
	for r := 2; r < size; r++ {
		for {
			text, _ := os.ReadFile(filepath.Join(os.Args[2], fmt.Sprint(r)))
			if pid, _ := strconv.Atoi(string(text)); pid > 0 {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				if err != nil {
					return nil, err
				}
				if _, state, _ := strings.Cut(string(stat), ") "); state[0] == 'T' {
					pids = append(pids, pid)
					break
				}
			}
			time.Sleep(time.Millisecond)
		}
	}
	return pids, nil
}

// die makes communicators of all ranks until the last one dies: before it has a session (unopened),
// before it takes part (opened), or at any time in a call (amid). The launcher ends the others.
func die(when string) error {
	victim := rank == size-1
	if victim && when == "unopened" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	s, err := mpi.OpenSession(mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	g, err := s.Group(mpi.PsetWorld)
	if err != nil {
		return err
	}
	if victim && when == "opened" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for round := 0; ; round++ {
		if victim && round == 3 {
			go func() {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}()
		}
		c, err := mpi.CommFromGroup(g, "test", mpi.ErrorsReturn)
		if err != nil {
			return err
		}
		if err := c.Disconnect(); err != nil {
			return err
		}
	}
}

// session uses a session with some ranks, and the world model within it.
func session(ranks []int, world bool) error {
	s, err := mpi.OpenSession(mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	g, err := s.Group(mpi.PsetWorld)
	if err != nil {
		return err
	}
	if g, err = g.Incl(ranks); err != nil {
		return err
	}
	c, err := mpi.CommFromGroup(g, "test", mpi.ErrorsReturn)
	if err != nil {
		return err
	}
	use := func() error {
		sum, err := mpi.AllreduceOne(c, c.Rank(), mpi.Sum)
		if err != nil {
			return err
		}
		if n := c.Size(); sum != n*(n-1)/2 {
			return fmt.Errorf("%d ranks have the sum %d", n, sum)
		}
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if err := w.Fence(0); err != nil {
			return err
		}
		if err := w.Put([]int64{int64(c.Rank() + 1)}, (c.Rank()+1)%c.Size(), 0); err != nil {
			return err
		}
		if err := w.Fence(0); err != nil {
			return err
		}
		if got, want := w.Local()[0], int64((c.Rank()+c.Size()-1)%c.Size()+1); got != want {
			return fmt.Errorf("the window has %d, want %d", got, want)
		}
		return w.Free()
	}
	if err := use(); err != nil {
		return err
	}
	if world {
		w, err := mpi.Init()
		if err != nil {
			return err
		}
		if err := w.Barrier(); err != nil {
			return err
		}
		if err := mpi.Finalize(); err != nil {
			return err
		}
		if err := use(); err != nil {
			return err
		}
	}
	if mpi.Initialized() != (world || mpi.Finalized()) {
		return fmt.Errorf("initialised: %t", mpi.Initialized())
	}
	if c.Rank() == 0 {
		fmt.Println("no errors")
	}
	return s.Finalize()
}
