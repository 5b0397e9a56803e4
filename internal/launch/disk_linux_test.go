package launch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Promise F5: on a disk that fills up, the output is complete up to the last byte that fits. Then
// the job ends with an error, because further output would be lost.
func TestF5_DiskThatFillsUp(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("cannot mount a small tmpfs here:", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	file, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := newRun(t, "-n", "2", "rank", "lines:5000,100")
	r.cmd.Stdout = file
	r.start().wait(125).said("cannot be written, and is lost", "no space left")
	text, err := os.ReadFile(file.Name())
	if err != nil || len(text) != 64<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	c := &checker{t: t, ranks: 2, longest: 100, next: make([]int, 2)}
	c.Write(text)
}
