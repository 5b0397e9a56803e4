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

// Every process in C numbers all layouts in Init: memory that is allocated there stays with it.
func TestLayoutNumberAllocatesNothing(t *testing.T) {
	for i, fields := range [][]Field{MessageRecordLayout(), SlotLayout(), WindowRecordLayout(), FileLayout(), TypeLayout()} {
		if n := testing.AllocsPerRun(10, func() { LayoutNumber(fields) }); n > 0 {
			t.Errorf("layout %d: %v allocations", i, n)
		}
	}
}
