package world

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// RunJobs is RunGoroutines of several jobs at the same time: sizes are their numbers of ranks. A name
// with places is of all jobs together, and is not supported. When a job fails, ctx ends for the others.
func RunJobs(name string, sizes []int, fn func(ctx context.Context, job int, w *World) error) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	errs := make([]error, len(sizes))
	var first error
	var mu sync.Mutex
	var all sync.WaitGroup
	for job, n := range sizes {
		all.Go(func() {
			errs[job] = RunGoroutines(name, n, func(w *World) error { return fn(ctx, job, w) })
			if errs[job] != nil {
				mu.Lock()
				if first == nil {
					first = fmt.Errorf("job %d: %w", job, errs[job])
				}
				mu.Unlock()
				cancel(errs[job])
			}
		})
	}
	all.Wait()
	if first != nil {
		return first
	}
	return errors.Join(errs...)
}
