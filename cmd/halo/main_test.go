package main

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets this program stand in for halo when it starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "info" {
		os.Exit(halo(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// output calls halo with args and returns its status and what it wrote.
func output(t *testing.T, args ...string) (int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		r.Close()
		text <- string(b)
	}()
	status := halo(args)
	os.Stdout, os.Stderr = stdout, stderr
	w.Close()
	return status, <-text
}

func TestHelpNamesEveryCommand(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-help"}, {"--help"}} {
		status, text := output(t, args...)
		if status != 0 {
			t.Errorf("%q: status %d", args, status)
		}
		for _, c := range commands() {
			if !strings.Contains(text, c.name) || !strings.Contains(text, c.help) {
				t.Errorf("%q does not tell of %s: %s", args, c.name, text)
			}
		}
	}
	if status, text := output(t); status != 2 || !strings.Contains(text, "Usage") {
		t.Errorf("without arguments: status %d, %s", status, text)
	}
	if status, text := output(t, "help", "run"); status != 0 || !strings.Contains(text, "-tag-output") {
		t.Errorf("help run: status %d, %s", status, text)
	}
}

func TestUnknownCommandSaysWhatToDo(t *testing.T) {
	status, text := output(t, "./prog", "x")
	if status != 2 || !strings.Contains(text, "halo run ./prog x") {
		t.Errorf("status %d, %s", status, text)
	}
	if status, text := output(t, "run", "-frobnicate"); status != 2 || !strings.Contains(text, "unknown option -frobnicate") {
		t.Errorf("status %d, %s", status, text)
	}
	if status, text := output(t, "info", "x"); status != 2 || !strings.Contains(text, "no arguments") {
		t.Errorf("status %d, %s", status, text)
	}
}

func TestVersionAndFacts(t *testing.T) {
	status, text := output(t, "version")
	if status != 0 || !strings.HasPrefix(text, "halo ") {
		t.Errorf("status %d, %s", status, text)
	}
	status, text = output(t, "info")
	if status != 0 {
		t.Errorf("info: status %d", status)
	}
	for _, want := range []string{runtime.Version(), runtime.GOARCH, "launcher protocol", "tcp", "single copy"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if runtime.GOOS == "linux" && strings.Contains(text, "something else") {
		t.Errorf("the probe of process_vm_readv is wrong: %s", text)
	}
}
