//go:build !race

package dtype

import "unsafe"

// blocks copies n blocks of size bytes; n must be at least 1 and size at least 32. m must
// not be loops.
func (m mover) blocks(dst, src unsafe.Pointer, dstStep, srcStep, n, size int) {
	switch {
	case size <= 256 && sparse(dstStep) && n > 8:
		blocksAVX(dst, src, dstStep, srcStep, n, size) // four stores for each line
	case m == avx512:
		blocksAVX512(dst, src, dstStep, srcStep, n, size)
	default:
		blocksAVX2(dst, src, dstStep, srcStep, n, size)
	}
}

//go:noescape
func blocksAVX(dst, src unsafe.Pointer, dstStep, srcStep, n, size int)

//go:noescape
func blocksAVX2(dst, src unsafe.Pointer, dstStep, srcStep, n, size int)

//go:noescape
func blocksAVX512(dst, src unsafe.Pointer, dstStep, srcStep, n, size int)

//go:noescape
func stringMove(dst, src, next unsafe.Pointer, n int)

//go:noescape
func everyOtherAVX512(dst, src unsafe.Pointer, n int)

//go:noescape
func gatherWords(dst, src unsafe.Pointer, dstStep, srcStep, n int)

//go:noescape
func scatterWords(dst, src unsafe.Pointer, dstStep, srcStep, n int)

// addresses stores the addresses of blocksAVX, blocksAVX2, blocksAVX512, stringMove,
// everyOtherAVX512 and gatherWords, in this order.
//
//go:noescape
func addresses(to *[6]uintptr)
