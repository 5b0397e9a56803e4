package bind

import "sync"

// unmoved is new memory whose address may be kept as a number, as programs in C give it: on a
// goroutine's stack it would move when the stack grows, and without the list be collected.
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
