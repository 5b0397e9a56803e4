// Rank is a program for tests of job engines. Argument 1 is what its ranks do.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func do(args []string) error {
	switch args[0] {
	case "without": // never calls MPI
		// Hydra 4.0.2 itself dies of SIGPIPE in a fifth of the runs of programs that end at once, /bin/true among them.
		time.Sleep(200 * time.Millisecond)
		return nil
	case "child": // is started by a rank, and is a world of one
		c, err := mpi.Init()
		if err != nil {
			return err
		}
		fmt.Println("a child in a world of", c.Size())
		return mpi.Finalize()
	}
	c, err := mpi.Init()
	if err != nil {
		return err
	}
	switch args[0] {
	case "all": // each rank talks to each other one
		return all(c)
	case "die": // a rank dies while the others wait for it
		victim, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == victim {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		_, err = mpi.Recv(c, make([]int, 1), victim, 0)
		fmt.Fprintln(os.Stderr, "a rank got:", err)
		select {}
	case "abort":
		if c.Rank() == c.Size()-1 {
			c.Abort(7)
		}
		select {}
	case "leave": // ends without Finalize
		if c.Rank() == 0 {
			return nil
		}
		select {}
	case "forever": // until somebody ends it; argument 2 is a file that is made when all have begun
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := os.WriteFile(args[1], nil, 0o600); err != nil {
				return err
			}
		}
		select {}
	case "parent":
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			child := exec.Command(self, "child")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			if err := child.Run(); err != nil {
				return err
			}
		}
		return mpi.Finalize()
	}
	return fmt.Errorf("%q is nothing that a rank does", args[0])
}

// all sends a message between each two ranks, and prints what the engine says about this one.
func all(c *mpi.Comm) error {
	me, n := c.Rank(), c.Size()
	for d := range n {
		to, from := (me+d)%n, (me-d+n)%n
		got := make([]int, 1)
		if _, err := mpi.Sendrecv(c, []int{1000*me + to}, to, 1, got, from, 1); err != nil {
			return err
		}
		if want := 1000*from + me; got[0] != want {
			return fmt.Errorf("rank %d got %d from %d, want %d", me, got[0], from, want)
		}
	}
	near, err := c.SplitType(mpi.CommTypeShared, 0)
	if err != nil {
		return err
	}
	sum, err := mpi.AllreduceOne(c, me, mpi.Sum)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d of %d, %d on its node, sum %d, app %d, universe %d\n", me, n, near.Size(), sum, c.AppNum(), c.UniverseSize())
	return mpi.Finalize()
}
