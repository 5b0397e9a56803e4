// Package pool runs functions on workers: other ranks, which do one task after the other for the
// rank that has the pool.
//
//	var square = pool.Register("square", func(ctx context.Context, x int) (int, error) {
//		return x * x, nil
//	})
//
//	func main() {
//		mpi.Main(func(world *mpi.Comm) error {
//			return pool.Over(world, func(p *pool.Pool) error { // on rank 0 only
//				squares, err := pool.Map(context.Background(), p, square, []int{1, 2, 3})
//				fmt.Println(squares)
//				return err
//			})
//		})
//	}
//
// Every process registers the same functions, in variables of its packages. A task carries the name
// of a function and an encoded argument, and the result comes back encoded, so that worker and caller
// share no memory, even if both are goroutines of one process.
//
// Over uses the other ranks of a communicator as workers, Spawn starts processes, and Local starts
// goroutines.
//
// Submit starts one task; Map, MapSeq and MapUnordered run many. The context of the call reaches the
// function, so that the end of the context can end the task. An error or a panic of a function, and the
// death of a worker, are an *Error, which names the function and the worker.
//
// The trap: a task must not communicate on the communicator of the pool, nor wait for another task.
package pool
