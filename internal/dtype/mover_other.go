//go:build !amd64 || race

package dtype

import "unsafe"

// Builds without vector instructions have only one mover, loops, which calls none of these
// functions.

func (m mover) blocks(dst, src unsafe.Pointer, dstStep, srcStep, n, size int) {}

func stringMove(dst, src, next unsafe.Pointer, n int) {}

func everyOtherAVX512(dst, src unsafe.Pointer, n int) {}

func gatherWords(dst, src unsafe.Pointer, dstStep, srcStep, n int) {}

func scatterWords(dst, src unsafe.Pointer, dstStep, srcStep, n int) {}

func addresses(to *[6]uintptr) {}
