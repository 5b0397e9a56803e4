package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// function is the symbol of the function that changes from the thread's stack to a goroutine's.
const function = "runtime.cgocallback"

// Names of sections.
const (
	frames        = ".debug_frame"  // the unwind tables of Go's functions
	units         = ".debug_info"   // the functions of each unit, a package of Go or a file of C
	abbreviations = ".debug_abbrev" // the forms of entries in units
)

// rewrite rewrites a library. For machines other than amd64 it does nothing.
func rewrite(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := rewritten(data)
	if err != nil || out == nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	// Running processes may have the library mapped. They keep the old file.
	fresh := name + ".unwind"
	if err := os.WriteFile(fresh, out, info.Mode()); err != nil {
		return err
	}
	return os.Rename(fresh, name)
}

// rewritten returns the library with the new sections, nil if nothing changes.
func rewritten(data []byte) ([]byte, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 {
		return nil, nil
	}
	var out []byte
	for _, section := range []struct {
		name    string
		content func(f *elf.File, old []byte) (content []byte, changed bool, err error)
	}{
		{frames, withCallerOf},
		{abbreviations, withoutInlined},
	} {
		s := f.Section(section.name)
		switch {
		case s == nil:
			return nil, fmt.Errorf("there is no section %s: was the library stripped?", section.name)
		case s.Flags&elf.SHF_COMPRESSED != 0:
			return nil, fmt.Errorf("section %s is compressed: link with -ldflags=-compressdwarf=false", section.name)
		}
		old, err := s.Data()
		if err != nil {
			return nil, err
		}
		content, changed, err := section.content(f, old)
		if err != nil {
			return nil, err
		}
		if changed {
			data = replaced(data, f, s, content)
			out = data
		}
	}
	return out, nil
}

// withCallerOf returns the unwind table with the caller of function.
func withCallerOf(f *elf.File, table []byte) ([]byte, bool, error) {
	start, size, err := place(f)
	if err != nil {
		return nil, false, err
	}
	code, err := f.Section(".text").Data()
	if err != nil {
		return nil, false, err
	}
	begin := start - f.Section(".text").Addr
	if begin+size > uint64(len(code)) {
		return nil, false, fmt.Errorf("%s is not in .text", function)
	}
	call, after, err := crossing(code[begin : begin+size])
	if err != nil {
		return nil, false, err
	}
	return withCaller(bytes.Clone(table), start, call, after)
}

// place returns the address and the size of the function.
func place(f *elf.File) (start, size uint64, err error) {
	symbols, err := f.Symbols()
	if err != nil {
		return 0, 0, err
	}
	for _, s := range symbols {
		if strings.TrimSuffix(s.Name, ".abi0") == function {
			return s.Value, s.Size, nil
		}
	}
	return 0, 0, fmt.Errorf("there is no symbol %s", function)
}

// crossing returns where in the code of the function the call instruction starts and ends that it
// executes on the goroutine's stack.
//
// Before the call the function stores three arguments at the end of that stack. The second one is
// the address of the arguments from C, on the thread's stack. The first of those is the frame
// address of the caller.
func crossing(code []byte) (call, after uint64, err error) {
	stores := []byte{
		0x48, 0x89, 0x1c, 0x24, // mov %rbx,(%rsp)
		0x48, 0x89, 0x4c, 0x24, 0x08, // mov %rcx,8(%rsp)
		0x48, 0x89, 0x54, 0x24, 0x10, // mov %rdx,16(%rsp)
	}
	at := bytes.Index(code, stores)
	if at < 0 {
		return 0, 0, errors.New("the call to Go is not as it is known: is this another version of Go?")
	}
	from := at + len(stores)
	next := bytes.Index(code[from:], []byte{0xff, 0xd0}) // call *%rax
	if next < 0 || next > 16 {
		return 0, 0, errors.New("there is no call where one is expected: is this another version of Go?")
	}
	return uint64(from + next), uint64(from + next + 2), nil
}

// replaced returns the file with a new content for section s, which it appends to the file unless it
// has the length of the old one.
func replaced(data []byte, f *elf.File, s *elf.Section, content []byte) []byte {
	out := bytes.Clone(data)
	if uint64(len(content)) == s.FileSize {
		copy(out[s.Offset:], content)
		return out
	}
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	offset := uint64(len(out))
	out = append(out, content...)
	headers := binary.LittleEndian.Uint64(data[0x28:]) // e_shoff
	each := uint64(binary.LittleEndian.Uint16(data[0x3a:]))
	h := out[headers+uint64(slices.Index(f.Sections, s))*each:]
	binary.LittleEndian.PutUint64(h[0x18:], offset)
	binary.LittleEndian.PutUint64(h[0x20:], uint64(len(content)))
	return out
}
