package tcp

import (
	"fmt"
	"slices"
)

// A socket in an epoll set costs whoever sends to it 4 % of a round trip: the kernel
// looks after the set for each segment that comes. So a connection on which frame
// after frame is found without asking the set, as by a poller that waits for
// replies, is taken out of it, and put back when the fabric is armed: what has come
// by then the set reports, since it looks at what it is given.
const (
	// outAfter is how many frames in a row are found until then: beside them the two
	// system calls do not count.
	outAfter = 32
	// outMost is how many connections are out at a time: a sweep reads each.
	outMost = 4
)

// found notes that something was found on a connection that was read without asking.
func (f *Fabric) found(l *link) {
	if l.arms != f.arms {
		l.arms, l.finds = f.arms, 0
	}
	if l.finds++; l.finds >= outAfter && !l.out && !l.watched && len(f.outside) < outMost && !f.sleep.armed.Load() && f.links[l.peer] == l {
		if f.set.Remove(l.fd) == nil {
			l.out = true
			f.outside = append(f.outside, l)
		}
	}
}

// putBack makes the set whole again. A connection that it does not take has failed:
// nobody would be woken for it.
func (f *Fabric) putBack() {
	f.arms++
	for i, l := range f.outside {
		f.outside[i], l.out = nil, false
		if err := f.set.Add(l.fd, int32(l.peer)); err != nil && l.broken == nil {
			l.broken, f.broken = fmt.Errorf("waiting for it again: %w", err), true
		}
	}
	f.outside = f.outside[:0]
}

// forget is for a connection that ends.
func (f *Fabric) forget(l *link) {
	if l.out {
		f.outside = slices.DeleteFunc(f.outside, func(o *link) bool { return o == l })
	} else {
		f.set.Remove(l.fd)
	}
}
