package shmfmt

import "testing"

// Layouts that differ have different numbers.
func TestLayoutNumber(t *testing.T) {
	fields := TypeLayout()
	was := LayoutNumber(fields)
	for i := range fields {
		fields[i].Value++
		if LayoutNumber(fields) == was {
			t.Errorf("%s does not count", fields[i].Name)
		}
		fields[i].Value--
	}
	if LayoutNumber(fields[1:]) == was {
		t.Error("the first field does not count")
	}
}
