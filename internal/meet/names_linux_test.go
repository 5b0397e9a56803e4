package meet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

// strangerVariable is the environment variable that makes this program a stranger: a process that listens at
// the socket that the variable names, or with '?' before the name, one that connects to it and reads the
// answer.
const strangerVariable = "HALO_TEST_STRANGER"

func TestMain(m *testing.M) {
	if what := os.Getenv(strangerVariable); what != "" {
		if err := stranger(what); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	leak.Main(m)
}

// stranger prints the answer of the socket and ends, or prints a line when it listens, and then waits for the
// end of its input.
func stranger(what string) error {
	if name, asks := strings.CutPrefix(what, "?"); asks {
		link, err := sys.DialNode(name)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(link.Stream())
		if err == nil || errors.Is(err, syscall.ECONNRESET) {
			fmt.Printf("%q\n", text)
			return nil
		}
		return err
	}
	l, err := sys.ListenNode(what)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("listens")
	_, err = io.ReadAll(os.Stdin)
	return err
}

// another starts a stranger that runs as another user, and returns its first line of output. end ends it.
func another(t *testing.T, what string) (line string, end func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root starts processes of other users")
	}
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), strangerVariable+"="+what, testrun.RaceOptions)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	for !strings.HasSuffix(line, "\n") {
		if _, err := out.Read(b[:]); err != nil {
			t.Errorf("a stranger says %q: %v", line, err)
			break
		}
		line += string(b[:])
	}
	return line, func() {
		in.Close()
		c.Wait()
	}
}

// S7, X-DYN-01: the name of a service is published once, and found by processes of the same user until it is
// withdrawn. A process of another user neither gets the name of the port, nor can it give one in place of the
// service.
func TestS7_XDYN01_ServicesOfOtherUsers(t *testing.T) {
	name := fmt.Sprint(t.Name(), os.Getpid())
	if _, err := lookup(name); classOf(err) != class.Name {
		t.Errorf("a name that nobody has published: %v", err)
	}
	s, err := publish(name, "a port")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish(name, "another port"); classOf(err) != class.Service {
		t.Errorf("a name that is published: %v", err)
	}
	if port, err := lookup(name); err != nil || port != "a port" {
		t.Errorf("looked up %q, %v", port, err)
	}
	line, end := another(t, "?"+socketName(name))
	end()
	if line != "\"\"\n" {
		t.Errorf("a process of another user gets %s", line)
	}
	s.withdraw()
	if _, err := lookup(name); classOf(err) != class.Name {
		t.Errorf("a name that has been withdrawn: %v", err)
	}
	line, end = another(t, socketName(name))
	defer end()
	if line != "listens\n" {
		t.Fatalf("a process of another user: %s", line)
	}
	if port, err := lookup(name); classOf(err) != class.Name || !strings.Contains(err.Error(), "of user 65534, has taken the place of") {
		t.Errorf("a process of another user gives %q, %v", port, err)
	}
}

// S5, X-DYN-01: an answer that is no name of a port, because it is empty or too long, is an error that names the
// process.
func TestS5_XDYN01_AnswersThatAreNoPorts(t *testing.T) {
	for i, answer := range []string{"", strings.Repeat("x", maxPortName+1), strings.Repeat("x", 1<<16)} {
		name := fmt.Sprint(t.Name(), os.Getpid(), i)
		s, err := publish(name, answer)
		if err != nil {
			t.Fatal(err)
		}
		if port, err := lookup(name); classOf(err) != class.Name || !strings.Contains(err.Error(), fmt.Sprintf("process %d, which has published", os.Getpid())) {
			t.Errorf("an answer of %d bytes is %q, %v", len(answer), port, err)
		}
		s.withdraw()
	}
}

func classOf(err error) class.Class {
	var e *class.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return class.Success
}
