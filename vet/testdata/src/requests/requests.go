// Package requests drops requests.
package requests

import "github.com/halo-mpi/halo/mpi"

func start(c *mpi.Comm) (mpi.Request, error) { return mpi.Isend(c, []int{1}, 1, 0), nil }

type alias = mpi.Request

func again(c *mpi.Comm) alias { return mpi.Irecv(c, []int{1}, 1, 0) }

func dropped(c *mpi.Comm, w mpi.Win[int]) {
	mpi.Isend(c, []int{1}, 1, 0)    // want `the Request of mpi.Isend is dropped`
	mpi.Isend[int](c, nil, 1, 0)    // want `the Request of mpi.Isend\[int\] is dropped`
	c.Ibarrier()                    // want `the Request of c.Ibarrier is dropped`
	(w.Rput([]int{1}, 0, 0))        // want `the Request of w.Rput is dropped`
	start(c)                        // want `the Request of start is dropped`
	again(c)                        // want `the Request of again is dropped`
	go mpi.Isend(c, []int{1}, 1, 0) // want `the Request of mpi.Isend is dropped`
	defer w.Rput([]int{1}, 0, 0)    // want `the Request of w.Rput is dropped`
}

func kept(c *mpi.Comm, w mpi.Win[int]) error {
	q := mpi.Isend(c, []int{1}, 1, 0)
	_ = mpi.Irecv(c, []int{1}, 1, 0) // on purpose
	all := []mpi.Request{q, c.Ibarrier()}
	mpi.Send(c, []int{1}, 1, 0)
	w.Put([]int{1}, 0, 0)
	err := mpi.Waitall(all, nil)
	return err
}
