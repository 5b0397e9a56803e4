//go:build !arm64

package op

// signalingFirst tells whether a signaling NaN is the result rather than a quiet one. SSE and
// AVX do not distinguish them.
const signalingFirst = false
