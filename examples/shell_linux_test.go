package examples

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
)

// A shell takes commands one after the other, as in a terminal: a directory that
// one has changed to is that of the next, and jobs stay in the background.
type shell struct {
	cmd        *exec.Cmd
	commands   *os.File // bash reads them here, so that programs have an empty input
	output     *bufio.Reader
	background bool // a job may be running
}

// open starts a shell by what makes a command of a name and arguments.
func open(t *testing.T, dir string, env []string, command func(string, ...string) *exec.Cmd) *shell {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	out, errs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	sh := &shell{cmd: command("bash", "/dev/fd/3"), commands: write, output: bufio.NewReader(out)}
	sh.cmd.Dir, sh.cmd.Env = dir, env
	sh.cmd.Stdout, sh.cmd.Stderr = errs, errs
	sh.cmd.ExtraFiles = []*os.File{read}
	sh.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sh.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if sh.cmd.ProcessState == nil { // the test has failed: end the shell and its jobs
			syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGTERM)
			sh.cmd.Wait()
		}
		write.Close()
		out.Close()
	})
	return sh
}

// do runs a command and returns what it has printed, and its status.
func (sh *shell) do(t *testing.T, command string) (out string, status int) {
	t.Helper()
	const mark = "-- the command has ended with status "
	hung, stop := testrun.Context(t.Context())
	defer stop()
	context.AfterFunc(hung, func() {
		if context.Cause(hung) == testrun.ErrHangs {
			syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGTERM)
		}
	})
	if _, err := fmt.Fprintf(sh.commands, "%s\nprintf '\\n%s%%d\\n' $?\n", command, mark); err != nil {
		t.Fatalf("$ %s: %v", command, err)
	}
	var said strings.Builder
	for {
		line, err := sh.output.ReadString('\n')
		if err != nil {
			t.Fatalf("$ %s: the shell has ended: %v\n%s%s", command, err, said.String(), line)
		}
		if n, ok := strings.CutPrefix(line, mark); ok {
			if _, err := fmt.Sscan(n, &status); err != nil {
				t.Fatal(err)
			}
			return strings.TrimSuffix(said.String(), "\n"), status
		}
		said.WriteString(line)
	}
}

// close ends the shell; it is no error that a job was left.
func (sh *shell) close(t *testing.T) {
	t.Helper()
	sh.commands.Close()
	if err := sh.cmd.Wait(); err != nil && !t.Failed() {
		t.Errorf("the shell: %v", err)
	}
}
