//go:build !amd64 && !arm64

package sys

import (
	"sync/atomic"
	"unsafe"
)

// touch writes the word that contains the byte at p with the value that it has, by one atomic operation,
// so that no store of others to it is lost. The word may extend beyond the memory that p points into.
//
//go:nocheckptr
func touch(p *byte) {
	atomic.OrUint32((*uint32)(unsafe.Add(unsafe.Pointer(p), -int(uintptr(unsafe.Pointer(p))%4))), 0)
}
