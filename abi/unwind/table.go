package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Instructions of call frame tables (DWARF 5, 7.24).
const (
	advanceLoc    = 0x40 // with the distance in its lower six bits
	offsetRule    = 0x80 // with the register in its lower six bits
	nop           = 0x00
	advanceLoc1   = 0x02
	advanceLoc2   = 0x03
	advanceLoc4   = 0x04
	undefined     = 0x07
	rememberState = 0x0a
	restoreState  = 0x0b
	defCfaOffset  = 0x0e
	cfaExpression = 0x0f
	defOffsetSf   = 0x13
	opRsp         = 0x77 // breg7
	opDeref       = 0x06
	registerRbp   = 6
)

// lost are the callee-saved registers of amd64 except rbp: rbx and r12 to r15. Go does not save the
// values that C had in them at a place that a table could describe.
var lost = []byte{3, 12, 13, 14, 15}

// callerRule returns the instructions for the call on the goroutine's stack. The second argument of
// that call points to the arguments from C, the first of which is the frame address. The return
// address is 8 bytes below it by the rule for all frames, and the caller's rbp 16 bytes below it,
// because the functions of enter.c push rbp first. Offsets are multiples of factor.
func callerRule(factor int64) []byte {
	rule := []byte{rememberState, cfaExpression, 4, opRsp, 8, opDeref, opDeref, offsetRule | registerRbp, byte(-16 / factor)}
	for _, r := range lost {
		rule = append(rule, undefined, r)
	}
	return rule
}

// instruction is an instruction of a table, with the offset in its function from which on it
// applies.
type instruction struct {
	at   uint64
	text []byte
}

// withCaller appends a new entry for the function at start to a .debug_frame section: the old entry
// with callerRule from call to after. It sets the size of the old entry to 0 bytes of code. It
// reports false if the section has the rule already.
func withCaller(table []byte, start, call, after uint64) ([]byte, bool, error) {
	le := binary.LittleEndian
	for at := 0; at+12 <= len(table); {
		length := int(le.Uint32(table[at:]))
		end := at + 4 + length
		if length == 0xffffffff || length < 4 || end > len(table) {
			return nil, false, errors.New(frames + " is not as the linker makes it")
		}
		cie := le.Uint32(table[at+4:])
		if cie != 0xffffffff && length >= 20 && le.Uint64(table[at+8:]) == start && le.Uint64(table[at+16:]) != 0 {
			size := le.Uint64(table[at+16:])
			factor, err := dataFactor(table, int(cie))
			if err != nil {
				return nil, false, err
			}
			rule := callerRule(factor)
			if bytes.Contains(table[at+24:end], rule) {
				return table, false, nil
			}
			program, err := instructions(table[at+24 : end])
			if err != nil {
				return nil, false, err
			}
			entry := le.AppendUint32(nil, cie)
			entry = le.AppendUint64(le.AppendUint64(entry, start), size)
			entry = append(entry, encoded(program, call, after, rule)...)
			for len(entry)%8 != 4 {
				entry = append(entry, nop)
			}
			le.PutUint64(table[at+16:], 0)
			table = le.AppendUint32(table, uint32(len(entry)))
			return append(table, entry...), true, nil
		}
		at = end
	}
	return nil, false, fmt.Errorf("%s has no entry for %s", frames, function)
}

// dataFactor returns the data alignment factor of a CIE.
func dataFactor(table []byte, at int) (int64, error) {
	text := table[at+8:]
	version := text[0]
	none := bytes.IndexByte(text[1:], 0)
	if (version != 1 && version != 3) || none != 0 {
		return 0, fmt.Errorf("a CIE of version %d with an augmentation is not known", version)
	}
	codeFactor, n := binary.Uvarint(text[2:])
	factor, _ := sleb(text[2+n:])
	if codeFactor != 1 || factor >= 0 || 16%-factor != 0 {
		return 0, fmt.Errorf("alignment factors %d and %d are not known", codeFactor, factor)
	}
	return factor, nil
}

// instructions parses the instructions of an entry.
func instructions(text []byte) ([]instruction, error) {
	var list []instruction
	at := uint64(0)
	for i := 0; i < len(text); {
		op := text[i]
		rest := text[i+1:]
		switch {
		case op == nop:
			i++
		case op&0xc0 == advanceLoc:
			at += uint64(op & 0x3f)
			i++
		case op == advanceLoc1 && len(rest) >= 1:
			at += uint64(rest[0])
			i += 2
		case op == advanceLoc2 && len(rest) >= 2:
			at += uint64(binary.LittleEndian.Uint16(rest))
			i += 3
		case op == advanceLoc4 && len(rest) >= 4:
			at += uint64(binary.LittleEndian.Uint32(rest))
			i += 5
		case op == defOffsetSf || op == defCfaOffset:
			_, n := sleb(rest)
			list = append(list, instruction{at, text[i : i+1+n]})
			i += 1 + n
		default:
			return nil, fmt.Errorf("instruction %#x in the entry of %s is not known", op, function)
		}
	}
	return list, nil
}

// encoded returns the program with a rule that applies from call to after.
func encoded(program []instruction, call, after uint64, rule []byte) []byte {
	all := []instruction{}
	for _, x := range program {
		if x.at <= call {
			all = append(all, x)
		}
	}
	all = append(all, instruction{call, rule}, instruction{after, []byte{restoreState}})
	for _, x := range program {
		if x.at > call {
			all = append(all, instruction{max(x.at, after), x.text})
		}
	}
	var out []byte
	at := uint64(0)
	for _, x := range all {
		if x.at > at {
			out = binary.LittleEndian.AppendUint32(append(out, advanceLoc4), uint32(x.at-at))
			at = x.at
		}
		out = append(out, x.text...)
	}
	return out
}

// sleb decodes a signed LEB128 number of DWARF, and returns it with its length in bytes.
func sleb(text []byte) (v int64, n int) {
	for shift := 0; n < len(text); {
		b := text[n]
		n++
		v |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			break
		}
	}
	return v, n
}
