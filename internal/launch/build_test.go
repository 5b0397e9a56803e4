//go:build unix

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// goProgram writes a module with one program and returns its folder.
func goProgram(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's a program")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/prog\n\ngo 1.26\n", "main.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const helloText = `package main

import (
	"fmt"
	"os"
)

func main() { fmt.Println("hello", os.Args[1:]) }
`

func TestGoPackageIsBuiltFirst(t *testing.T) {
	dir := goProgram(t, helloText)
	halo(t, 0, "-n", "2", dir, "a", "b").quiet().printed("hello [a b]", "hello [a b]")
	halo(t, 0, "-n", "2", filepath.Join(dir, "main.go"), "c.go").quiet().printed("hello [c.go]", "hello [c.go]")
	halo(t, 0, "-n", "1", dir, "a", ":", "-n", "1", dir, "b").quiet().printed("hello [a]", "hello [b]")
	halo(t, 0, "./testdata/rank", "init", "finalize").quiet()
	halo(t, 0, "github.com/halo-mpi/halo/internal/launch/testdata/rank", "print:x").quiet().printed("x")
}

func TestBuildFailureShowsTheCompilersMessages(t *testing.T) {
	dir := goProgram(t, "package main\nfunc main() { undefined() }\n")
	halo(t, 126, "-n", "2", dir).said("main.go:2", "undefined").said("halo: building Go package", "failed")
	dir = goProgram(t, "package notmain\n")
	halo(t, 126, dir).said("not a main package").said("halo: building Go package")
	halo(t, 126, "example.com/no/such/package").said("halo: building Go package example.com/no/such/package failed")
}

func TestInterruptWhileBuilding(t *testing.T) {
	dir := goProgram(t, helloText)
	r := newRun(t, dir)
	r.cmd.Env = append(r.cmd.Env, "GOCACHE="+t.TempDir())
	r.start()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if entries, _ := os.ReadDir(r.tmp); len(entries) > 0 {
			break // the build has begun
		}
	}
	r.cmd.Process.Signal(syscall.SIGINT)
	r.wait(130)
	if strings.Contains(r.stdout.String(), "hello") {
		t.Error("the program ran all the same")
	}
}
