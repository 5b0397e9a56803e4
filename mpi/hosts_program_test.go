package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Programs for hosts_linux_test.go. Their parameters are in the environment.
const (
	placesVariable = "HALO_TEST_PLACES" // the host of each rank, as mpitest.RunOver takes them
	readyVariable  = "HALO_TEST_READY"  // a file name; rank r writes its process id to the file with .r appended
)

// splitsProgram splits the world by hosts.
func splitsProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	if err := splitsByHost(world, os.Getenv(placesVariable)); err != nil {
		return err
	}
	return mpi.Finalize()
}

// differentFilesProgram opens one path on hosts that do not share its directory.
func differentFilesProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	const path = "/dev/shm/halo-test-file"
	_, err = mpi.OpenFile(world, path, newFile) // rank 0 creates it
	if err := says(err, mpi.ErrNoSuchFile, "OpenFile on "+path+": "); err != nil {
		return err
	}
	if err := makeLater(world, path); err != nil {
		return err
	}
	_, err = mpi.OpenFile(world, path, newFile)
	if err := says(err, mpi.ErrNotSame, "OpenFile on "+path+": rank 0 has ", ", rank 1 "); err != nil {
		return err
	}
	fmt.Println("right:", err)
	return mpi.Finalize()
}

// makeLater has all ranks but 0 make a file at another time than the one of rank 0 was made at: the clock of
// file systems advances by some milliseconds at once.
func makeLater(world *mpi.Comm, path string) error {
	made := func() (int64, error) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return info.ModTime().UnixNano(), nil
	}
	first := make([]int64, 1)
	var err error
	if world.Rank() == 0 {
		first[0], err = made()
		if err != nil {
			return err
		}
	}
	if err := mpi.Bcast(world, first, 0); err != nil {
		return err
	}
	for own := first[0]; world.Rank() > 0 && own == first[0]; {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
			return err
		}
		own, err = made()
		if err != nil {
			return err
		}
	}
	return world.Barrier()
}

// endlessProgram does collectives of all ranks until one fails. A surviving rank reports whether
// the error is the right one, and waits to be ended.
func endlessProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	err = endless(world)
	if !errors.Is(err, mpi.ErrProcFailed) {
		fmt.Printf("wrong: rank %d: %v\n", world.Rank(), err)
	} else {
		fmt.Printf("right: rank %d: %v\n", world.Rank(), err)
	}
	time.Sleep(time.Hour)
	return err
}

func endless(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	ready := fmt.Sprintf("%s.%d", os.Getenv(readyVariable), world.Rank())
	if err := os.WriteFile(ready+"~", fmt.Append(nil, os.Getpid()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(ready+"~", ready); err != nil {
		return err
	}
	short, long := make([]int64, 3), make([]int64, 40_000)
	all := make([]int64, 3*world.Size())
	persistent := mpi.AllreduceInit(world, long, long, mpi.Bxor)
	for i := 0; ; i++ {
		root := i % world.Size()
		started := []mpi.Request{world.Ibarrier(), mpi.Iallreduce(world, short, short, mpi.Min)}
		err := errors.Join(
			world.Barrier(),
			mpi.Bcast(world, short, root),
			mpi.Allreduce(world, short, short, mpi.Max),
			mpi.Reduce(world, short, all[:3], mpi.Sum, root),
			mpi.Bcast(world, long, root),
			mpi.Allgather(world, short, all),
			mpi.Waitall(started, nil),
			persistent.Start(),
			second(persistent.Wait()),
		)
		if err != nil {
			return err
		}
	}
}
