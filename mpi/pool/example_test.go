package pool_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

// Every process registers the functions that workers run, mostly in variables.
var collatz = pool.Register("collatz", func(_ context.Context, n int) (steps int, err error) {
	if n < 1 {
		return 0, fmt.Errorf("%d is not positive", n)
	}
	for ; n != 1; steps++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return steps, nil
})

// Rank 0 gets the pool, and the three others run the tasks.
func Example() {
	mpi.Run(4, func(world *mpi.Comm) error {
		return pool.Over(world, func(p *pool.Pool) error {
			steps, err := pool.Map(context.Background(), p, collatz, []int{6, 7, 27})
			fmt.Println(steps)
			return err
		})
	})
	// Output: [8 16 111]
}

// Tasks that start one by one have a Future each. The error of a task names its function.
func ExampleSubmit() {
	pool.Local(2, func(p *pool.Pool) error {
		good := pool.Submit(context.Background(), p, collatz, 97)
		bad := pool.Submit(context.Background(), p, collatz, -1)
		fmt.Println(good.Wait())
		_, err := bad.Wait()
		var e *pool.Error
		fmt.Println(errors.As(err, &e), e.Func, e.Text)
		return nil
	})
	// Output:
	// 118 <nil>
	// true collatz -1 is not positive
}

// The loop reads no more arguments than the workers need. Leaving it ends the tasks that run.
func ExampleMapSeq() {
	pool.Local(2, func(p *pool.Pool) error {
		endless := func(yield func(int) bool) {
			for n := 1; yield(n); n++ {
			}
		}
		n := 1
		for steps, err := range pool.MapSeq(context.Background(), p, collatz, endless) {
			if err != nil || steps > 100 {
				fmt.Println(n, "takes", steps, "steps")
				return err
			}
			n++
		}
		return nil
	})
	// Output: 27 takes 111 steps
}
