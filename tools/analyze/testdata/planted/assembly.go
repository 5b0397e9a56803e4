package planted

// Everywhere has a body in assembly on amd64 alone.
func Everywhere() // reported: Everywhere has neither a body nor assembly
