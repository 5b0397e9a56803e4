package dtype

// Part is a range of the packed form of a Buffer: N bytes from byte At on. Positions
// in its methods count from its own beginning.
type Part struct {
	*Buffer
	At, N int64
}

// All is the whole of the packed form.
func (b *Buffer) All() Part { return Part{Buffer: b, N: b.size} }

// Slice is bytes lo to hi of p.
func (p Part) Slice(lo, hi int64) Part {
	p.At, p.N = p.At+lo, hi-lo
	return p
}

// Pack copies bytes of p from byte at on to dst, as many as there is room for, and
// returns how many.
func (p Part) Pack(dst []byte, at int64) int {
	return p.Buffer.Pack(dst[:min(int64(len(dst)), p.N-at)], p.At+at)
}

// Unpack copies src to the places of the bytes of p from byte at on, and returns
// how many those are: less than len(src) at the end.
func (p Part) Unpack(src []byte, at int64) int {
	return p.Buffer.Unpack(src[:min(int64(len(src)), p.N-at)], p.At+at)
}

// Slices describes at most limit bytes of p from byte at on by slices of memory, as
// many as dst has room for; it returns their number and the position behind them.
func (p Part) Slices(dst [][]byte, at, limit int64) (n int, next int64) {
	n, next = p.Buffer.Slices(dst, p.At+at, min(limit, p.N-at))
	return n, next - p.At
}

// copyPiece is the scratch memory of Copy in bytes: it stays in the nearest cache.
const copyPiece = 4 << 10

// Copy copies the packed form of src to dst, as far as both go. Memory that they
// share makes the result undefined.
func Copy(dst, src Part) {
	var scratch [copyPiece]byte
	for at, n := int64(0), min(dst.N, src.N); at < n; at += copyPiece {
		piece := scratch[:min(copyPiece, n-at)]
		src.Pack(piece, at)
		dst.Unpack(piece, at)
	}
}
