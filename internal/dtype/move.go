package dtype

import "unsafe"

// Move copies src to dst as copy does. Long memory without overlap is copied by the mover, which
// leaves more of it in the caches.
func Move(dst, src []byte) {
	src = src[:min(len(src), len(dst))]
	if len(src) < stringCopy || len(src) >= streamCopy {
		copy(dst, src)
		return
	}
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	if apart := uintptr(d) - uintptr(s); apart < uintptr(len(src)) || -apart < uintptr(len(src)) {
		copy(dst, src)
		return
	}
	bestMover().run(d, s, len(src))
}
