package main

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// section returns a .debug_frame with a CIE as Go writes it and an entry for addresses from start on.
func section(start uint64, program ...byte) []byte {
	le := binary.LittleEndian
	pad := func(b []byte) []byte {
		for len(b)%8 != 4 {
			b = append(b, nop)
		}
		return append(le.AppendUint32(nil, uint32(len(b))), b...)
	}
	cie := pad([]byte{0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x7c, 16, 0x0c, 7, 8, 0x05, 16, 2})
	entry := le.AppendUint64(le.AppendUint64(make([]byte, 4), start), 0x200)
	return append(cie, pad(append(entry, program...))...)
}

// The entry of the function that changes stacks gets the rule for the call on the goroutine's stack,
// between its own instructions before and after the call. Other entries do not change.
func TestRuleOfTheCaller(t *testing.T) {
	old := section(0x1000, defOffsetSf, 0x7e, advanceLoc|4, defOffsetSf, 0x7c, advanceLoc2, 0x00, 0x01, defOffsetSf, 0x7e)
	table, changed, err := withCaller(slices.Clone(old), 0x1000, 0x80, 0x82)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	fresh := table[len(old):]
	rule := callerRule(-4)
	want := slices.Concat([]byte{defOffsetSf, 0x7e, advanceLoc4, 4, 0, 0, 0, defOffsetSf, 0x7c, advanceLoc4, 0x7c, 0, 0, 0}, rule,
		[]byte{advanceLoc4, 2, 0, 0, 0, restoreState, advanceLoc4, 0x82, 0, 0, 0, defOffsetSf, 0x7e})
	if got := fresh[24:]; !bytes.Equal(bytes.TrimRight(got, "\x00"), want) {
		t.Errorf("instructions % x, want % x", got, want)
	}
	if binary.LittleEndian.Uint64(fresh[8:]) != 0x1000 || binary.LittleEndian.Uint64(fresh[16:]) != 0x200 {
		t.Errorf("the entry is for % x", fresh[8:24])
	}
	if _, changed, err := withCaller(slices.Clone(table), 0x1000, 0x80, 0x82); changed || err != nil {
		t.Errorf("again: %v, %v", changed, err)
	}
}

// Unknown forms of tables and code are errors, and no table is written.
func TestUnknownTables(t *testing.T) {
	for name, c := range map[string]struct {
		table []byte
		says  string
	}{
		"another function":   {section(0x2000), "no entry"},
		"another rule":       {section(0x1000, 0x0d, 7), "instruction 0xd"},
		"cut off":            {section(0x1000)[:40], "not as the linker"},
		"another factor":     {bytes.Replace(section(0x1000), []byte{1, 0x7c, 16}, []byte{1, 0x04, 16}, 1), "alignment factors"},
		"with augmentations": {bytes.Replace(section(0x1000), []byte{3, 0, 1}, []byte{3, 'z', 0}, 1), "augmentation"},
	} {
		if _, _, err := withCaller(c.table, 0x1000, 0x80, 0x82); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := crossing([]byte{0x90, 0xff, 0xd0}); err == nil {
		t.Error("a function without the call has one")
	}
}

// The tag of an abbreviation for inlined functions becomes that of blocks; other bytes do not
// change, and a table that is cut off is an error.
func TestInlinedFunctionsBecomeBlocks(t *testing.T) {
	table := []byte{
		1, 0x11, 1, 0x13, 0x0b, 0, 0, // a unit, with an attribute
		2, 0x1d, 1, 0x31, 0x10, 0x1d, 0x0b, 0, 0,
		0x80, 0x01, 0x1d, 0, 0, 0,
		0,
		3, 0x1d, // of the next table
	}
	want := bytes.Clone(table)
	want[8], want[18] = 0x0b, 0x0b
	if changed, err := blocksForInlined(table); !changed || err != nil || !bytes.Equal(table, want) {
		t.Errorf("%v, %v: % x", changed, err, table)
	}
	if changed, err := blocksForInlined(table); changed || err != nil {
		t.Errorf("again: %v, %v", changed, err)
	}
	for n := range table[:22] {
		if _, err := blocksForInlined(table[:n]); err == nil {
			t.Errorf("a table of %d bytes has no error", n)
		}
	}
}
