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
// over slices of element types (Elem); what does not is a method. Counts are
// elements, and the message size is the length of the slice. Every call that
// communicates returns an error, an *Error with a class of the standard:
// errors.Is(err, mpi.ErrTruncate).
//
// Any goroutine may call anything at any time (MPI_THREAD_MULTIPLE). Buffers
// belong to the operation until it is complete; receive buffers must not be
// touched, send buffers may be read.
//
// Not there yet, by chapter of the standard: partitioned communication (4),
// derived datatypes (5), the other collectives and user operations (6),
// intercommunicators (7), topologies (8), dynamic processes and sessions (11),
// one-sided communication (12), generalized requests (13), files (14).
package mpi
