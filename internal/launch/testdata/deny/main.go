//go:build linux

// Deny executes a command with a seccomp filter that denies system calls, whose names are its first
// argument, separated by commas, as the filters of some containers do.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// instruction is an instruction of a classic BPF program.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// numbers are the numbers of system calls by their names and the architecture.
var numbers = map[string]map[string]uint32{
	"memfd_create":      {"amd64": 319, "arm64": 279},
	"process_vm_readv":  {"amd64": 310, "arm64": 270},
	"process_vm_writev": {"amd64": 311, "arm64": 271},
}

func main() {
	const (
		load, equal, give = 0x20, 0x15, 0x06 // BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
		allow, refuse     = 0x7fff0000, 0x00050000 | uint32(syscall.EPERM)
		noNewPrivileges   = 38 // PR_SET_NO_NEW_PRIVS
		setSeccomp        = 22 // PR_SET_SECCOMP
		filterMode        = 2
	)
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "deny: want names of system calls and a command")
		os.Exit(99)
	}
	code := []instruction{{load, 0, 0, 0}}
	for name := range strings.SplitSeq(os.Args[1], ",") {
		number := numbers[name][runtime.GOARCH]
		if number == 0 {
			fmt.Fprintf(os.Stderr, "deny: the number of %q on %s is not known\n", name, runtime.GOARCH)
			os.Exit(99)
		}
		code = append(code, instruction{equal, 0, 1, number}, instruction{give, 0, 0, refuse})
	}
	code = append(code, instruction{give, 0, 0, allow})
	program := struct {
		n    uint16
		code *instruction
	}{uint16(len(code)), &code[0]}
	runtime.LockOSThread() // the filter applies to this thread, and survives its exec
	for _, args := range [][2]uintptr{{noNewPrivileges, 1}, {setSeccomp, filterMode}} {
		at := uintptr(0)
		if args[0] == setSeccomp {
			at = uintptr(unsafe.Pointer(&program))
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, args[0], args[1], at, 0, 0, 0); e != 0 {
			fmt.Fprintln(os.Stderr, "deny:", e)
			os.Exit(99)
		}
	}
	fmt.Fprintln(os.Stderr, "deny:", syscall.Exec(os.Args[2], os.Args[2:], os.Environ()))
	os.Exit(99)
}
