//go:build !arm64

package op

// signalingFirst says that of two NaNs a signaling one comes out. SSE and AVX do
// not look at that.
const signalingFirst = false
