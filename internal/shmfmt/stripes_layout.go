package shmfmt

// StripesLayout returns what code in other languages needs to enter stripes, as a reader or as the
// biased process. It implements the steps of Enter, Leave, ClaimBiased and ReleaseBiased.
func StripesLayout() []Field {
	return []Field{
		{"STRIPE_COUNT", StripeCount},
		{"STRIPE_SHIFT", StripeShift},
		{"STRIPE_LINE", Line},
		{"STRIPE_BIAS", biasShift},
		{"STRIPE_ENTERED", entered},
		{"STRIPE_BIAS_EVERY", biasEvery},
		{"STRIPE_BIAS_MOST", biasMost},
	}
}
