package examples

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// A tour is docs/tour.md as a reader follows it: files to write, which
// name themselves in their first line, and commands to type, with what they print.
type tour struct {
	files map[string]string
	steps []step
}

type step struct {
	command string
	output  []string // none is shown if it does not matter
}

func parseTour(t *testing.T, text string) (on tour) {
	t.Helper()
	on.files = map[string]string{}
	for _, block := range regexp.MustCompile("(?ms)^```(\\S*)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		kind, body := block[1], block[2]
		switch kind {
		case "go":
			first, _, _ := strings.Cut(body, "\n")
			name, ok := strings.CutPrefix(first, "// ")
			if !ok || on.files[name] != "" {
				t.Fatalf("a program of the tour does not begin with a file name of its own: %q", first)
			}
			on.files[name] = body
		case "console":
			for line := range strings.Lines(body) {
				line = strings.TrimSuffix(line, "\n")
				if command, ok := strings.CutPrefix(line, "$ "); ok {
					on.steps = append(on.steps, step{command: command})
				} else if n := len(on.steps); n > 0 {
					on.steps[n-1].output = append(on.steps[n-1].output, line)
				}
			}
		default:
			t.Fatalf("the tour has a block of kind %q, which nothing tests", kind)
		}
	}
	return on
}

// TestTour: everything in docs/tour.md works as it stands
// there, from the installation on, and the last section on two hosts.
func TestTour(t *testing.T) {
	text, err := os.ReadFile("../docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	const last = "\n## Two hosts\n"
	here, there, found := strings.Cut(string(text), last)
	if !found {
		t.Fatalf("the tour has no section %q", last)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is missing")
	}
	start := t.TempDir()
	env := append(os.Environ(),
		"GOPATH="+filepath.Join(start, "gopath"), "GOMODCACHE=", "GOBIN=", "GOENV=off", "GOWORK=off",
		// The module cache is removable. With -trimpath the build cache has this module and the standard library
		// from the second run on, although their folders differ. This module is compiled without optimisation,
		// which takes half the time, and linked without what only a debugger needs, which also takes half.
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false -modcacherw -trimpath -ldflags=-w '-gcflags=github.com/halo-mpi/halo/...=-N -l -dwarf=false'",
		"GOPROXY=file://"+publish(t)+",file://"+downloaded(t), "GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=",
		"HALO_CHECK=", // which says more of errors than the tour shows
	)
	dir := filepath.Join(start, "tour")

	shell := open(t, start, env, exec.Command)
	all := parseTour(t, string(text))
	made := false
	for _, s := range parseTour(t, here).steps {
		shell.follow(t, s)
		// The files can be written once the folders for them are made.
		if _, err := os.Stat(filepath.Join(dir, "where")); err == nil && !made {
			made = true
			for name, program := range all.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	shell.close(t)
	if t.Failed() {
		return
	}

	t.Run("hosts", func(t *testing.T) {
		h := hosttest.Start(t, 2)
		// There "ssh host1" reaches the other host as it is.
		bin := t.TempDir()
		script := "#!/bin/sh\nexec '" + strings.Join(h.SSH(), "' '") + "' \"$@\"\n"
		real, err := exec.LookPath(h.SSH()[0])
		if err != nil {
			t.Fatal(err)
		}
		script = strings.Replace(script, "'"+h.SSH()[0]+"'", "'"+real+"'", 1)
		if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		path := "PATH=" + bin + ":" + os.Getenv("PATH") + ":" + filepath.Join(start, "gopath", "bin")
		shell := open(t, start, append(env, path), func(name string, args ...string) *exec.Cmd {
			return h.CommandIn(0, dir, name, args...)
		})
		for _, s := range parseTour(t, there).steps {
			shell.follow(t, s)
		}
		shell.close(t)
	})
}

// follow types a command and compares what it prints. A command that is to fail is
// one for which the tour shows that the launcher complains.
func (sh *shell) follow(t *testing.T, s step) {
	t.Helper()
	fails := slices.ContainsFunc(s.output, func(line string) bool { return strings.HasPrefix(line, "halo: ") })
	deadline := time.Now().Add(testrun.Long)
	for {
		out, status := sh.do(t, s.command)
		matches := len(s.output) == 0 || sh.matches(s, out)
		if matches && (status != 0) == fails {
			break
		}
		// What goes on in the background takes its time to get there.
		if !sh.background || time.Now().After(deadline) {
			t.Fatalf("$ %s\nprinted, with status %d:\n%s\nthe tour shows:\n%s", s.command, status, out, strings.Join(s.output, "\n"))
		}
		time.Sleep(100 * time.Millisecond)
	}
	switch {
	case strings.HasSuffix(s.command, "&"):
		sh.background = true
	case strings.HasPrefix(s.command, "kill "):
		sh.do(t, "wait") // so that what it says in the end stands here
		sh.background = false
	}
}

// matches compares with the shown output line by line, in any order, as ranks
// print; "..." stands for any lines. Of halo ps, which shows the jobs of others
// on this machine, too, one paragraph is to match.
func (sh *shell) matches(s step, out string) bool {
	if strings.HasPrefix(s.command, "halo ps") {
		return slices.ContainsFunc(strings.Split(out, "\n\n"), func(job string) bool { return sameLines(s.output, job) })
	}
	return sameLines(s.output, out)
}

func sameLines(shown []string, out string) bool {
	left := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i := range left {
		left[i] = plain(left[i])
	}
	for _, line := range shown {
		if line == "..." {
			continue
		}
		at := slices.Index(left, plain(line))
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return len(left) == 0 || slices.Contains(shown, "...")
}

// plain is a line without what differs from run to run and from machine to machine.
func plain(line string) string {
	for _, c := range []struct{ from, to string }{
		{`^ *(\d+) +\d+ +(waiting|running) +\S+`, "$1 PID $2 CPU"}, // a row of halo ps
		{`\bpid \d+ on \S+`, "pid PID on HOST"},
		{`\bpid \d+`, "pid PID"},
		{`\bjob \d+-\w+`, "job ID"},
		{`\b(\d+m)?\d+(\.\d+)?m?s\b`, "TIME"},
	} {
		line = regexp.MustCompile(c.from).ReplaceAllString(line, c.to)
	}
	return strings.Join(strings.Fields(line), " ")
}

// publish makes a module proxy that has this module, as of now.
func publish(t *testing.T) string {
	t.Helper()
	const module, version = "github.com/halo-mpi/halo", "v0.1.0"
	proxy := t.TempDir()
	dir := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(f)
	root := os.DirFS("..")
	add := func(name string) error {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		to, err := archive.Create(module + "@" + version + "/" + name)
		if err != nil {
			return err
		}
		_, err = to.Write(data)
		return err
	}
	if err := add("go.mod"); err != nil {
		t.Fatal(err)
	}
	if err := add("go.sum"); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"cmd", "internal", "mpi"} {
		err := fs.WalkDir(root, part, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			return add(name)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"list":            version + "\n",
		version + ".mod":  string(mod),
		version + ".info": fmt.Sprintf(`{"Version":%q}`, version),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return proxy
}

// downloaded is where modules are that this one needs: its tests could not be
// built without, and the directory is laid out like a proxy.
func downloaded(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}
