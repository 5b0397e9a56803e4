package slot

// Form is a way to use a slot.
type Form uint8

// The forms. See Slot. Auto leaves the choice to Open.
const (
	Auto Form = iota
	Cells
	Counter
	None // messages only
)

// String returns the name of the form.
func (f Form) String() string {
	switch f {
	case Cells:
		return "cells"
	case Counter:
		return "counter"
	case None:
		return "none"
	}
	return "auto"
}
