package op

// word returns the FPCR of an environment, without traps. The processor flushes both operands
// and results, or neither.
func (e Env) word() uint32 {
	const (
		round = 22 // the first bit of the direction
		flush = 1 << 24
	)
	w := uint32([...]uint8{0, 2, 1, 3}[e&roundMask]) << round // nearest, up, down, to zero
	if e&flushMask != 0 {
		w |= flush
	}
	return w
}
