// Package mpi is message passing for Go programs: MPI-5.0 in the style of Go. docs/tour.md is a tour of it.
//
// "halo run -n 4 PROGRAM" starts a program as 4 ranks; Run starts ranks that are goroutines; and a program that is started
// by itself is a world of one rank:
//
//	func main() {
//		mpi.Main(func(world *mpi.Comm) error {
//			sum, err := mpi.AllreduceOne(world, world.Rank(), mpi.Sum)
//			fmt.Println(world.Rank(), sum)
//			return err
//		})
//	}
//
// Names are those of the standard without the prefix. Calls that move data are functions over slices of numbers or of other
// plain data, such as structs of numbers; other calls are methods. Counts are in elements, and the size of a message is the
// length of the slice. For other layouts, such as a column of a matrix, a Datatype describes the data and a Buffer refers to
// it; the calls for Buffers are methods:
//
//	mpi.Send(world, particles, 1, 0)                    // []Particle
//	world.Send(mpi.BufOf(matrix[j:], 1, column), 1, 0)  // TypeVector
//
// Elements that contain pointers, strings, slices and the like are ErrType; the tool halovet (docs/checking.md) finds them
// before the program runs. The receiver may use another layout than the sender. Every call that communicates returns an
// error, which is an *Error with a class of the standard: errors.Is(err, mpi.ErrTruncate).
//
// Every collective has three forms: Bcast returns when the caller's part is done, Ibcast returns a request at once, and
// BcastInit a persistent request, which can be started any number of times. All members of a communicator make these calls,
// blocking and nonblocking, in the same order; they may start persistent requests in any order. A collective works in place
// if the send slice is the receive slice, or a part of it. AllreduceOne and its like are for a single value.
//
// One-sided communication uses a Win, memory that each member makes accessible to the others (WinAllocate); displacements
// are in elements. A library that must not depend on Init opens a Session (OpenSession, CommFromGroup).
//
// The trap: any goroutine may call any function at any time (MPI_THREAD_MULTIPLE), but a buffer belongs to the operation
// until that is complete: until then the program must not access receive buffers, and must not write to send buffers.
//
// Not implemented yet: the tool information interface (chapter 15), which is empty in C.
package mpi
