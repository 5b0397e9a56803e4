//go:build !amd64 || race

package dtype

import "unsafe"

// Without vectors there are only the loops, which call none of these.

func (m mover) blocks(dst, src unsafe.Pointer, dstStep, srcStep, n, size int) {}

func stringMove(dst, src, next unsafe.Pointer, n int) {}

func everyOtherAVX512(dst, src unsafe.Pointer, n int) {}

func gatherWords(dst, src unsafe.Pointer, dstStep, srcStep, n int) {}

func scatterWords(dst, src unsafe.Pointer, dstStep, srcStep, n int) {}

func addresses(to *[6]uintptr) {}
