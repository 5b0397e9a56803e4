package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

// probeWord asks halo info to read the memory of the process that started it.
const probeWord = "-read-parent"

// probeSize is how many random bytes are read to be sure, in bytes.
const probeSize = 16

// singleCopy says whether one process may read another's memory, so that a
// large message needs one copy. The child reads its parent, which is not its
// descendant: so are ranks related to each other.
func singleCopy() string {
	secret := make([]byte, probeSize)
	var pin runtime.Pinner // memory of the stack could move
	pin.Pin(&secret[0])
	defer pin.Unpin()
	rand.Read(secret)
	self, err := sys.SelfPath()
	if err != nil {
		return fmt.Sprintf("not known: %v", err)
	}
	address := strconv.FormatUint(uint64(uintptr(unsafe.Pointer(&secret[0]))), 16)
	out, err := exec.Command(self, "info", probeWord, strconv.Itoa(os.Getpid()), address).CombinedOutput()
	answer := strings.TrimSpace(string(out))
	switch {
	case err == nil && answer == hex.EncodeToString(secret):
		return "yes: a process may read another's memory (process_vm_readv)"
	case err == nil:
		return "no: process_vm_readv reads something else"
	}
	why := ""
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		why = fmt.Sprintf("; kernel.yama.ptrace_scope is %s", strings.TrimSpace(string(scope)))
	}
	return fmt.Sprintf("no: large messages are copied twice (%s%s)", answer, why)
}

// probeChild is the child's part.
func probeChild(args []string) int {
	pid, err := strconv.Atoi(args[0])
	var address uint64
	if err == nil {
		address, err = strconv.ParseUint(args[1], 16, 64)
	}
	b := make([]byte, probeSize)
	if err == nil {
		err = sys.ReadProcess(pid, [][]byte{b}, address)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(hex.EncodeToString(b))
	return 0
}
