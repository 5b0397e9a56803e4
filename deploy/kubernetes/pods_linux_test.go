package kubernetes

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// X-LCH-01: the pods of the Indexed Job, played by hosts that are started one after the other, are one
// world. As with publishNotReadyAddresses, their names are known when they start, except the name of rank 0,
// which is known last.
func TestPodsOfTheIndexedJobAreOneWorld(t *testing.T) {
	testrun.Covered(t)
	objects, wrong := check(t, read(t, "indexed-job.yaml"))
	if wrong != nil {
		t.Fatal(wrong)
	}
	job := objects["Job"]
	n := at(job, "spec", "completions").(int)
	pod := at(job, "spec", "template", "spec")
	name, service := at(job, "metadata", "name"), at(pod, "subdomain")

	h := hosttest.Start(t, n)
	dir := t.TempDir()
	program, hosts := filepath.Join(dir, "ring"), filepath.Join(dir, "hosts")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "github.com/halo-mpi/halo/examples/ring").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names := "127.0.0.1 localhost\n"
	for i := 1; i < n; i++ {
		names += fmt.Sprintf("%s %v-%d.%v\n", h.Addr(i), name, i, service)
	}
	secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for file, text := range map[string]string{hosts: names, filepath.Join(dir, "secret"): secret} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The mounts of the pod, and its program.
	command := at(pod, "containers", 0, "command", 2).(string)
	for from, to := range map[string]string{"/usr/local/bin/heat": program + " -laps 3", "/etc/halo": dir} {
		if !strings.Contains(command, from) {
			t.Fatalf("%s is not in %s", from, command)
		}
		command = strings.ReplaceAll(command, from, to)
	}
	var outputs [64]bytes.Buffer
	var all sync.WaitGroup
	for i := n - 1; i >= 0; i-- {
		if i == 0 { // the other pods wait for the name of rank 0
			time.Sleep(300 * time.Millisecond)
			file, err := os.OpenFile(hosts, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(file, "%s %v-0.%v\n", h.Addr(0), name, service)
			file.Close()
		}
		setUp := fmt.Sprintf("mount --bind %s /etc/hosts && mkdir -p /run/halo && %s", hosts, command)
		c := h.CommandIn(i, "/", "sh", "-c", setUp)
		c.Env = append(os.Environ(), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), testrun.RaceOptions)
		for k := 0; at(pod, "containers", 0, "env", k) != nil; k++ {
			e := at(pod, "containers", 0, "env", k)
			c.Env = append(c.Env, fmt.Sprintf("%v=%v", at(e, "name"), at(e, "value")))
		}
		c.Stdout, c.Stderr = &outputs[i], &outputs[i]
		all.Go(func() {
			if err := c.Run(); err != nil {
				t.Errorf("pod %d: %v: %s", i, err, outputs[i].String())
			}
		})
	}
	all.Wait()
	if want := fmt.Sprintf("3 laps round %d ranks", n); !strings.Contains(outputs[0].String(), want) {
		t.Errorf("rank 0 says %q, want %s", outputs[0].String(), want)
	}
}
