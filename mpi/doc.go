// Package mpi is message passing for Go programs: MPI-5.0 with Go's manners.
//
// A program is started as n ranks by "halo run -n 4 PROGRAM", or runs n ranks
// as goroutines with Run, or is a world of one when started by itself:
//
//	func main() {
//		mpi.Main(func(world *mpi.Comm) error {
//			sum := []int{0}
//			if err := mpi.Allreduce(world, []int{world.Rank()}, sum, mpi.Sum); err != nil {
//				return err
//			}
//			fmt.Println(world.Rank(), sum[0])
//			return nil
//		})
//	}
//
// Names are the standard's without the prefix. What moves data is a function
// over slices of numbers or other plain data, such as structs of numbers; what does
// not is a method. Counts are elements, and the message size is the length of the
// slice. Data of any other shape, such as a column of a matrix, is described by a
// Datatype and put into a Buffer, for which the same verbs are methods:
//
//	mpi.Send(world, row, 1, 0)                          // []float64
//	mpi.Send(world, particles, 1, 0)                    // []Particle
//	world.Send(mpi.BufOf(matrix[j:], 1, column), 1, 0)  // TypeVector
//
// Elements that hold pointers, strings, slices and the like are ErrType; halovet
// (docs/checking.md) finds them before the program runs.
//
// The other side receives with whatever layout it likes. Every call that
// communicates returns an error, an *Error with a class of the standard:
// errors.Is(err, mpi.ErrTruncate).
//
// Any goroutine may call anything at any time (MPI_THREAD_MULTIPLE). Buffers
// belong to the operation until it is complete; receive buffers must not be
// touched, send buffers may be read.
//
// Every collective has three forms: Bcast returns when the caller's part is
// done, Ibcast returns a request at once, and BcastInit a persistent request, to
// be started any number of times. All members of a communicator call collectives
// of the first two forms in the same order, and those of the third likewise,
// whose requests they may start in any order. In place means that the slice that
// is sent is the slice, or the part of it, that is received. Of the
// blocking ones that are used for a single value there are BcastOne, AllreduceOne,
// AllgatherOne and ExscanOne.
//
// One-sided communication is by a Window, memory that each member opens to the others.
// What moves numbers are methods of Win, displacements count elements:
//
//	w, err := mpi.WinAllocate[float64](world, 1000)
//	w.Lock(mpi.LockShared, target, 0)
//	w.Accumulate(part, target, first, mpi.Sum) // the target takes no part
//	w.Unlock(target)
//
// Not there yet, by chapter of the standard: partitioned communication (4), topologies
// and their collectives (8), dynamic processes and sessions (11), files (14).
package mpi
