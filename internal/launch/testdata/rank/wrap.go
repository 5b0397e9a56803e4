package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// wrap starts this program with the steps that follow, as a wrapper does, and ends with its status.
func (p *process) wrap(how string, steps []string) {
	cmd := exec.Command(os.Args[0], steps...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	closeAll := func() {
		for fd := 3; fd < 20; fd++ {
			syscall.CloseOnExec(fd)
		}
	}
	var mine *os.File // what a wrapper has put in place of the link ends here
	switch how {
	case "keep":
	case "close":
		closeAll()
	case "exec": // the process of the rank itself
		closeAll()
		p.check(syscall.Exec(os.Args[0], append([]string{os.Args[0]}, steps...), os.Environ()))
	case "session":
		closeAll()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "env": // env -i with the variables of the job
		closeAll()
		cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return !strings.HasPrefix(kv, "HALO_") })
	case "nobody": // sudo -u nobody, which keeps the environment
		closeAll()
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	case "socket":
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		p.check(err)
		mine = os.NewFile(uintptr(fds[0]), "mine")
		for range 8 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fds[1]), "theirs"))
		}
	case "pipe":
		r, w, err := os.Pipe()
		p.check(err)
		mine = r
		for range 8 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, w)
		}
	default:
		p.check(fmt.Errorf("unknown wrapper %q", how))
	}
	p.check(cmd.Start())
	foreign := make(chan bool, 1)
	if mine != nil {
		for _, f := range cmd.ExtraFiles[:1] {
			f.Close()
		}
		go func() {
			n, _ := mine.Read(make([]byte, 1))
			foreign <- n > 0
		}()
	}
	err := cmd.Wait()
	if mine != nil && <-foreign {
		fmt.Println("foreign bytes")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	p.check(err)
	os.Exit(0)
}
