package mpi_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Groups are computed without communication; Create makes a communicator from one.
func ExampleComm_Create() {
	mpi.Run(5, func(world *mpi.Comm) error {
		all, err := world.Group()
		if err != nil {
			return err
		}
		even, err := all.RangeIncl([]mpi.Range{{First: 0, Last: world.Size() - 1, Stride: 2}})
		if err != nil {
			return err
		}
		c, err := world.Create(even)
		if c == nil || err != nil { // nil: not in the group
			return err
		}
		sum := []int{0}
		if err := mpi.Allreduce(c, []int{world.Rank()}, sum, mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(c.Size(), "even ranks add up to", sum[0])
		}
		return c.Free()
	})
	// Output: 3 even ranks add up to 6
}

// CreateGroup involves only the members of the group.
func ExampleComm_CreateGroup() {
	mpi.Run(4, func(world *mpi.Comm) error {
		if world.Rank() > 1 {
			return nil // these ranks take no part
		}
		all, err := world.Group()
		if err != nil {
			return err
		}
		pair, err := all.Incl([]int{1, 0})
		if err != nil {
			return err
		}
		c, err := world.CreateGroup(pair, 0)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("rank", world.Rank(), "is rank 0 of", c.Size())
		}
		return c.Free()
	})
	// Output: rank 1 is rank 0 of 2
}

// The members of a difference of groups, as ranks in another group.
func ExampleGroup_Difference() {
	mpi.Run(1, func(world *mpi.Comm) error {
		all, err := world.Group()
		if err != nil {
			return err
		}
		rest, err := all.Difference(mpi.GroupEmpty)
		if err != nil {
			return err
		}
		ranks, err := rest.TranslateRanks([]int{0, mpi.ProcNull}, all)
		fmt.Println(rest.Size(), ranks[0], ranks[1] == mpi.ProcNull)
		return err
	})
	// Output: 1 0 true
}

// Idup lets the program continue while the members agree.
func ExampleComm_Idup() {
	mpi.Run(2, func(world *mpi.Comm) error {
		library, request := world.Idup()
		// ... compute meanwhile; library cannot be used yet ...
		if _, err := request.Wait(); err != nil {
			return err
		}
		how, err := world.Compare(library)
		if world.Rank() == 0 {
			fmt.Println(how == mpi.Congruent)
		}
		return errors.Join(err, library.Free())
	})
	// Output: true
}

// The processes of each host get a communicator.
func ExampleComm_SplitType() {
	mpi.Run(4, func(world *mpi.Comm) error {
		host, err := world.SplitType(mpi.CommTypeShared, world.Rank())
		if err != nil {
			return err
		}
		if host.Rank() == 0 {
			fmt.Println("ranks on this host:", host.Size())
		}
		return host.Free()
	})
	// Output: ranks on this host: 4
}

// Hints are assertions about what a program does not do.
func ExampleNoAnyTag() {
	mpi.Run(1, func(world *mpi.Comm) error {
		c, err := world.Dup(mpi.NoAnyTag(true))
		if err != nil {
			return err
		}
		_, err = mpi.Recv(c, make([]byte, 1), 0, mpi.AnyTag)
		fmt.Println(err)
		return c.Free()
	})
	// Output: mpi: Recv from 0 tag any: AnyTag on a communicator with mpi_assert_no_any_tag (MPI_ERR_TAG)
}

// A library keeps a private communicator and other data as an attribute of its caller's
// communicator. The attribute is deleted when the caller frees the communicator.
func ExampleCreateKeyval() {
	mpi.Run(2, func(world *mpi.Comm) error {
		state := mpi.CreateKeyval(nil, func(_ *mpi.Comm, private *mpi.Comm) error {
			if private.Rank() == 0 {
				fmt.Println("the library is done with", private.Name())
			}
			return private.Free()
		})
		enter := func(c *mpi.Comm) (*mpi.Comm, error) { // at the beginning of each call of the library
			private, found, err := mpi.GetAttr(c, state)
			if found || err != nil {
				return private, err
			}
			private, err = c.Dup()
			if err != nil {
				return nil, err
			}
			return private, errors.Join(private.SetName("solver"), mpi.SetAttr(c, state, private))
		}
		c, err := world.Dup()
		if err != nil {
			return err
		}
		for range 3 {
			private, err := enter(c)
			if err != nil {
				return err
			}
			if err := private.Barrier(); err != nil {
				return err
			}
		}
		return c.Free()
	})
	// Output: the library is done with solver
}

// A handler is called for every error of calls on its communicator, and on those made from it;
// the calls return the error, too.
func ExampleCreateCommErrhandler() {
	mpi.Run(1, func(world *mpi.Comm) error {
		log := mpi.CreateCommErrhandler(func(c *mpi.Comm, err *mpi.Error) {
			fmt.Println(c.Name(), "noticed", err.Class)
		})
		if err := world.SetErrhandler(log); err != nil {
			return err
		}
		err := mpi.Send(world, []int{1}, 17, 0)
		fmt.Println(err)
		return nil
	})
	// Output:
	// world noticed MPI_ERR_RANK
	// mpi: Send on world to 17 tag 0: rank 17 in a communicator of 1 (MPI_ERR_RANK)
}

// A library adds its own error classes to those of the standard.
func ExampleAddErrorClass() {
	mpi.Run(1, func(world *mpi.Comm) error {
		solver := mpi.AddErrorClass()
		diverged, err := mpi.AddErrorCode(solver)
		if err != nil {
			return err
		}
		if err := mpi.AddErrorString(diverged, "the solver has diverged"); err != nil {
			return err
		}
		err = world.CallErrhandler(diverged)
		fmt.Println(errors.Is(err, solver), errors.Is(err, diverged), mpi.ErrorString(diverged))
		return nil
	})
	// Output: true true the solver has diverged
}
