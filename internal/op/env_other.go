//go:build !amd64 && !arm64

package op

import "unsafe"

// word is not used: there is no library for C here, and so no caller with another environment.
func (e Env) word() uint32 { return 0 }

// lanesIn computes in Go's environment.
func lanesIn(o Op, t Type, dst, a, b *byte, n int, _ uint32) {
	Apply(o, t, unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n))
}
