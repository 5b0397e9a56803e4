package shmfmt

// Field is where something is in memory, or what stands for something there, for code in
// other languages that uses the same memory.
type Field struct {
	Name  string // in capital letters, with words separated by _
	Value int64
}

// StripesLayout is what code in other languages needs to know to enter stripes as a reader,
// or as the favoured process: see Enter, Leave, ClaimFavoured and ReleaseFavoured, which it
// has to do step by step.
func StripesLayout() []Field {
	return []Field{
		{"STRIPE_COUNT", StripeCount},
		{"STRIPE_SHIFT", StripeShift},
		{"STRIPE_LINE", Line},
		{"STRIPE_FAVOUR", favour},
		{"STRIPE_ENTERED", entered},
		{"STRIPE_FAVOUR_EVERY", favourEvery},
		{"STRIPE_FAVOUR_MOST", favourMost},
	}
}
