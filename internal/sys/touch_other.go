//go:build !amd64 && !arm64

package sys

import (
	"sync/atomic"
	"unsafe"
)

// touch writes the word around the byte at p as it is, in one atomic operation: no store of
// others to it is lost. The word may go beyond the memory that the pointer is to.
//
//go:nocheckptr
func touch(p *byte) {
	atomic.OrUint32((*uint32)(unsafe.Add(unsafe.Pointer(p), -int(uintptr(unsafe.Pointer(p))%4))), 0)
}
