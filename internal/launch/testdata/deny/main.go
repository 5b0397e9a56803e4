//go:build linux

// Deny executes a command with a seccomp filter that denies memfd_create, as the default filters of
// some containers do.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// instruction is an instruction of a classic BPF program.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

func main() {
	const (
		load, equal, give = 0x20, 0x15, 0x06 // BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
		allow, refuse     = 0x7fff0000, 0x00050000 | uint32(syscall.EPERM)
		noNewPrivileges   = 38 // PR_SET_NO_NEW_PRIVS
		setSeccomp        = 22 // PR_SET_SECCOMP
		filterMode        = 2
	)
	number := map[string]uint32{"amd64": 319, "arm64": 279}[runtime.GOARCH]
	if number == 0 || len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "deny: want a command, on a known architecture")
		os.Exit(99)
	}
	code := []instruction{{load, 0, 0, 0}, {equal, 0, 1, number}, {give, 0, 0, refuse}, {give, 0, 0, allow}}
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
	fmt.Fprintln(os.Stderr, "deny:", syscall.Exec(os.Args[1], os.Args[1:], os.Environ()))
	os.Exit(99)
}
