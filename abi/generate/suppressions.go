package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// suppressionsNotice heads the file of suppressions.
const suppressionsNotice = `# What valgrind is to leave out of its reports on programs that use Halo:
#
#     valgrind --suppressions=PREFIX/share/halo/halo.supp ./program
#
# Go changes between stacks that valgrind takes for one, and so takes memory of Go for memory
# below a stack. All that is left out happens in functions of Go, by the names of their packages.
# The library's functions in C access the buffers of a call before Go does: what is wrong with
# those is reported there, with the line that calls.
`

// inlined is valgrind's name for inlined functions, where it does not understand Go's tables.
const inlined = "UnknownInlinedFun"

// goFunctions are patterns of the names of Go functions in the library: first those of the module
// and valgrind's name for inlined functions, then the packages of the standard library, then
// assembly functions without package.
var goFunctions = func() []string {
	list := []string{inlined, "github.com/halo-mpi/halo/*", "golang.org/*", "go:*", "type:*", "_cgoexp_*", "main.halo*", "main.fast*", "main.malloc", "main.free", "main.invoke", "main.thread", "main.becomeMain", "main.isMain"}
	for _, p := range []string{
		"bufio", "bytes", "cmp", "container", "context", "crypto", "embed", "encoding", "errors", "flag", "fmt", "hash", "internal", "io", "iter",
		"maps", "math", "net", "os", "path", "reflect", "runtime", "slices", "sort", "strconv", "strings", "sync", "syscall", "time", "unicode",
		"unique", "vendor", "weak",
	} {
		list = append(list, p+".*", p+"/*")
	}
	return append(list, "aeshashbody", "callRet", "cmpbody", "countbody", "countbytebody", "gogo", "gosave_systemstack_switch", "indexbody", "indexbytebody", "memeqbody", "setg_gcc")
}()

// systemCalls returns valgrind's names of the memory arguments of the system calls that Go makes.
// Valgrind allows no patterns for these names.
func systemCalls() []string {
	list := []string{
		"read(buf)", "write(buf)", "pread64(buf)", "pwrite64(buf)", "readv(vector)", "writev(vector)",
		"open(filename)", "openat(filename)", "newfstatat(file_name)", "newfstatat(buf)", "fstat(buf)", "stat(file_name)", "readlinkat(path)", "readlinkat(buf)",
		"getdents64(dirp)", "pipe2(filedes)", "getrandom(buf)", "uname(buf)", "memfd_create(uname)", "statfs(path)", "statfs(buf)",
		"socketcall.sendto(msg)", "socketcall.sendto(to)", "socketcall.recvfrom(buf)", "socketcall.recvfrom(from)",
		"socketcall.recvfrom(fromlen_in)", "socketcall.recvfrom(fromlen_out)", "socketcall.socketpair(sv)",
		"socketcall.bind(my_addr)", "socketcall.bind(my_addr.sa_family)", "socketcall.bind(my_addr.sin_addr)", "socketcall.bind(my_addr.sin_port)",
		"socketcall.connect(serv_addr)", "socketcall.connect(serv_addr.sa_family)", "socketcall.connect(serv_addr.sin_addr)", "socketcall.connect(serv_addr.sin_port)",
		"socketcall.getsockname(name)", "socketcall.getsockname(namelen_in)", "socketcall.getsockname(namelen_out)",
		"socketcall.getpeername(name)", "socketcall.getpeername(namelen_in)", "socketcall.getpeername(namelen_out)",
		"socketcall.accept4(addr)", "socketcall.accept4(addrlen_in)", "socketcall.accept4(addrlen_out)", "socketcall.setsockopt(optval)",
		"socketcall.getsockopt(optval)", "socketcall.getsockopt(optlen)", "socketcall.getsockopt(optlen_out)",
		"sendmsg(msg)", "sendmsg(msg.msg_name)", "sendmsg(msg.msg_iov)", "sendmsg(msg.msg_control)",
		"recvmsg(msg)", "recvmsg(msg.msg_name)", "recvmsg(msg.msg_iov)", "recvmsg(msg.msg_control)",
		"epoll_ctl(event)", "epoll_wait(events)", "epoll_pwait(events)", "epoll_pwait(sigmask)", "futex(futex)", "futex(timeout)",
		"nanosleep(req)", "nanosleep(rem)", "clock_gettime(tp)", "rt_sigprocmask(set)", "rt_sigprocmask(oldset)", "rt_sigaction(act)",
		"rt_sigaction(oldact)", "sigaltstack(ss)", "sigaltstack(oss)", "sched_getaffinity(mask)", "sched_setaffinity(mask)", "prlimit64(rlim)",
		"ioctl(FIONREAD)", "ioctl(TIOCOUTQ)", "timer_create(evp)", "timer_create(timerid)", "timer_settime(value)", "prctl(set-name)",
	}
	for _, call := range []string{"process_vm_readv", "process_vm_writev"} {
		list = append(list, call+"(lvec)", call+"(rvec)")
	}
	for i := range 64 { // the library gathers at most 64 slices in a system call
		list = append(list, fmt.Sprintf("sendmsg(msg.msg_iov[%d])", i), fmt.Sprintf("recvmsg(msg.msg_iov[%d])", i), fmt.Sprintf("readv(vector[%d])", i), fmt.Sprintf("writev(vector[%d])", i))
		list = append(list, fmt.Sprintf("process_vm_readv(lvec[%d])", i), fmt.Sprintf("process_vm_writev(lvec[%d])", i))
	}
	return append(list, "readv(vector[...])", "writev(vector[...])", "process_vm_readv(lvec[...])", "process_vm_writev(lvec[...])")
}

// suppressions returns the file of suppressions for valgrind.
func suppressions() []byte {
	b := bytes.NewBufferString(suppressionsNotice)
	kinds := []string{"Cond"}
	for _, size := range []int{1, 2, 4, 8, 16, 32} {
		kinds = append(kinds, fmt.Sprintf("Addr%d", size), fmt.Sprintf("Value%d", size))
	}
	for _, kind := range kinds {
		for _, name := range goFunctions {
			// Valgrind gives this name also to the probe of a buffer's bytes in C, which is inlined in the call.
			if kind == "Addr1" && name == inlined {
				continue
			}
			fmt.Fprintf(b, "{\n   halo-go\n   Memcheck:%s\n   fun:%s\n}\n", kind, name)
		}
	}
	for _, param := range systemCalls() {
		for _, name := range []string{"internal/*", "runtime.*", "syscall.*", "golang.org/*"} {
			fmt.Fprintf(b, "{\n   halo-go\n   Memcheck:Param\n   %s\n   fun:%s\n}\n", param, name)
		}
	}
	// Valgrind may report a Go function between these two that was not called, because it
	// misinterprets which functions are inlined.
	b.WriteString("# Threads of Go have not ended when the process ends.\n")
	b.WriteString("{\n   halo-threads\n   Memcheck:Leak\n   match-leak-kinds: possible,reachable\n   ...\n   fun:pthread_create*\n   ...\n   fun:_cgo_try_pthread_create\n}\n")
	return b.Bytes()
}

// writeSuppressions writes the suppressions to a file, and creates its folder.
func writeSuppressions(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, suppressions(), 0o644)
}
