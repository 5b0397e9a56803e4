package dtype

import "unsafe"

// Move copies src to dst, which must be at least as long; the two may overlap, as for copy. Long
// memory without overlap is copied by the mover, which leaves more of it in the caches.
func Move(dst, src []byte) {
	if len(src) < stringCopy {
		copy(dst, src)
		return
	}
	dst = dst[:len(src)]
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	if apart := uintptr(d) - uintptr(s); apart < uintptr(len(src)) || -apart < uintptr(len(src)) {
		copy(dst, src)
		return
	}
	bestMover().run(d, s, len(src))
}
