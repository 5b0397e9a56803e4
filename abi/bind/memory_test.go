package bind

import "sync"

// unmoved allocates memory whose address may be kept as a number, as programs in C pass it.
// Memory on a goroutine's stack would move when the stack grows, and the collector would free
// memory that the list does not hold.
func unmoved[T any]() *T {
	p := new(T)
	kept.Lock()
	defer kept.Unlock()
	kept.all = append(kept.all, p)
	return p
}

var kept struct {
	sync.Mutex
	all []any
}
