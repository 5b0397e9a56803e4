package op

// word returns the MXCSR of an environment, with all exceptions masked.
func (e Env) word() uint32 {
	const (
		masked = 0x1f80
		zeros  = 1 << 6  // denormals are zeros
		round  = 13      // the first bit of the direction, which has the values of an Env
		flush  = 1 << 15 // flush to zero
	)
	w := uint32(masked) | uint32(e&roundMask)<<round
	if e&FlushResults != 0 {
		w |= flush
	}
	if e&FlushOperands != 0 {
		w |= zeros
	}
	return w
}
