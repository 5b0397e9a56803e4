package tcp

import (
	"fmt"
	"slices"
)

// A socket in an epoll set costs its sender 4 % of a round trip: the kernel updates the set
// for each segment that arrives. Therefore a connection on which direct reads keep finding
// frames, as those of a poller that waits for replies, is detached from the set. Arm attaches
// it again. The set then reports what has arrived before, since epoll checks a socket when it
// is added.
const (
	// detachAfter is how many frames in a row direct reads find before. The cost of the two
	// system calls is small compared with that of so many frames.
	detachAfter = 32
	// detachedMax is how many connections are detached at a time: a sweep reads each.
	detachedMax = 4
)

// countFind counts a direct read that has found a frame, and detaches the connection after
// detachAfter of them.
func (f *Fabric) countFind(l *link) {
	if l.arms != f.arms {
		l.arms, l.finds = f.arms, 0
	}
	l.finds++
	if l.finds >= detachAfter && !l.detached && !l.watched && len(f.detached) < detachedMax && !f.sleep.armed.Load() && f.routes.At(l.peer).link == l {
		if f.set.Remove(l.fd) == nil {
			l.detached = true
			f.detached = append(f.detached, l)
		}
	}
}

// reattach adds all detached connections to the set. A connection that cannot be added is
// broken: it could not end a Sleep.
func (f *Fabric) reattach() {
	f.arms++
	for i, l := range f.detached {
		f.detached[i], l.detached = nil, false
		if err := f.set.Add(l.fd, int32(l.peer)); err != nil && l.broken == nil {
			l.broken, f.broken = fmt.Errorf("waiting for it again: %w", err), true
		}
	}
	f.detached = f.detached[:0]
}

// removeFromSet removes a connection that ends.
func (f *Fabric) removeFromSet(l *link) {
	if l.detached {
		f.detached = slices.DeleteFunc(f.detached, func(o *link) bool { return o == l })
	} else {
		f.set.Remove(l.fd)
	}
}
