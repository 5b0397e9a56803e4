//go:build linux

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// make uninstall leaves nothing in a prefix in which nothing else is (docs/operating.md).
func TestUninstall(t *testing.T) {
	need(t)
	notSanitizing(t)
	prefix := filepath.Join(t.TempDir(), "copy")
	if r := command(t, nil, "cp", "-a", installed, prefix); r.status != 0 {
		t.Fatal(r.err)
	}
	if r := command(t, []string{"MAKEFLAGS="}, "make", "-C", "../..", "uninstall", "PREFIX="+prefix); r.status != 0 {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.err)
	}
	left, err := os.ReadDir(prefix)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// The module file finds the installation from its own place, also by a link to it, as for several versions side by
// side.
func TestModuleFile(t *testing.T) {
	need(t, "tclsh")
	notSanitizing(t)
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "1.0")
	file := filepath.Join(installed, "share/modulefiles/halo")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "module.tcl")
	const commands = "foreach name {module-whatis conflict prepend-path setenv} { proc $name args \"puts \\\"$name \\$args\\\"\" }\n" +
		"set ModulesCurrentModulefile [lindex $argv 0]\nsource $ModulesCurrentModulefile\n"
	if err := os.WriteFile(program, []byte(commands), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := filepath.EvalSymlinks(installed)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		r := command(t, nil, "tclsh", program, name)
		for _, line := range []string{"prepend-path PATH " + place + "/bin", "prepend-path MANPATH " + place + "/share/man", "setenv MPI_HOME " + place} {
			if r.status != 0 || !strings.Contains(r.out, line+"\n") {
				t.Errorf("%s: no %q: status %d\n%s%s", name, line, r.status, r.out, r.err)
			}
		}
	}
}
