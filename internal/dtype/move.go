package dtype

import "unsafe"

// Move copies src to dst, which has room for it, as copy does; if it is long the way that
// layouts are copied, which leaves more of it in the caches.
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
