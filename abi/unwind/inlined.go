package main

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	languageGo = 0x16 // DW_LANG_Go
	inlined    = byte(dwarf.TagInlinedSubroutine)
	block      = byte(dwarf.TagLexDwarfBlock)
	unitHeader = 11 // bytes of the header of a unit in the 32-bit form of DWARF 4
	tableAt    = 6  // where a header has the offset of the unit's table of abbreviations
)

// withoutInlined returns the section of abbreviations in which, in the tables of Go's units, inlined
// functions have the tag of blocks.
func withoutInlined(f *elf.File, old []byte) ([]byte, bool, error) {
	info, err := f.Section(units).Data()
	if err != nil {
		return nil, false, err
	}
	d, err := f.DWARF()
	if err != nil {
		return nil, false, err
	}
	content, changed, done := bytes.Clone(old), false, map[uint32]bool{}
	for r := d.Reader(); ; r.SkipChildren() {
		unit, err := r.Next()
		if err != nil || unit == nil {
			return content, changed, err
		}
		if language, _ := unit.Val(dwarf.AttrLanguage).(int64); language != languageGo {
			continue
		}
		header := info[unit.Offset-unitHeader:]
		if version := binary.LittleEndian.Uint16(header[4:]); version != 4 {
			return nil, false, fmt.Errorf("the units of Go are DWARF %d: build with GOEXPERIMENT=nodwarf5", version)
		}
		table := binary.LittleEndian.Uint32(header[tableAt:])
		if done[table] {
			continue
		}
		done[table] = true
		if uint64(table) > uint64(len(content)) {
			return nil, false, errors.New("a unit has no table of abbreviations")
		}
		some, err := blocksForInlined(content[table:])
		if err != nil {
			return nil, false, err
		}
		changed = changed || some
	}
}

// blocksForInlined changes the tags of one table of abbreviations. An abbreviation has a code, a tag, a
// byte that tells whether there are children, and pairs of an attribute and a form, of which a
// pair of zeros is the last. The code 0 ends the table.
func blocksForInlined(table []byte) (changed bool, err error) {
	next := func() (v uint64) {
		v, n := binary.Uvarint(table)
		if n <= 0 {
			err = errors.New("a table of abbreviations is cut off")
			return 0
		}
		table = table[n:]
		return v
	}
	for next() != 0 {
		tag := table
		if next() == uint64(inlined) {
			tag[0], changed = block, true
		}
		next()
		if err != nil {
			return false, err
		}
		for attribute, form := next(), next(); attribute|form != 0; attribute, form = next(), next() {
		}
	}
	return changed, err
}
