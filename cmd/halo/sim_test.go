package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func noEnv(string) string { return "" }

// halo sim prints a row for each power of two up to the number of ranks, and one for that number: a barrier of 6
// ranks takes the latency and the overheads of three messages.
func TestSimulation(t *testing.T) {
	goal := filepath.Join(t.TempDir(), "barrier.goal")
	s, err := parseSimulation([]string{"-n", "6", "-latency", "1us", "-overhead", "100ns", "-per-byte", "0", "-goal", goal, "barrier"}, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.run(&out, noEnv); err != nil {
		t.Fatal(err)
	}
	want := `Barrier of 8 bytes
     ranks            algorithm             us   messages
         2        dissemination          1.200          2
         4        dissemination          2.400          8
         6        dissemination          3.600         18
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if text, err := os.ReadFile(goal); err != nil || !strings.HasPrefix(string(text), "num_ranks 6\n") || strings.Count(string(text), "send 0b to") != 18 {
		t.Errorf("%v\n%s", err, text)
	}
	s.goal = filepath.Join(goal, "below a file")
	if err := s.run(&out, noEnv); err == nil {
		t.Error("a file that cannot be written gives no error")
	}
}

// A message between two ranks on one host takes the latency of the node.
func TestSimulationOfHosts(t *testing.T) {
	s, err := parseSimulation([]string{"-n", "4", "-per-host", "2", "-latency", "9us", "-node-latency", "1us", "-node-overhead", "0", "-node-per-byte", "0", "-overhead", "0", "-per-byte", "0", "-algorithm", "doubling", "allreduce"}, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.run(&out, noEnv); err != nil || !strings.Contains(out.String(), " 1.000          2\n") || !strings.Contains(out.String(), " 10.000          8\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestWrongSimulations(t *testing.T) {
	for args, want := range map[string]string{
		"":                           "want one collective",
		"barrier -n 3":               "options stand before it",
		"dance":                      `no collective "dance"`,
		"-n 1 barrier":               "-n wants 2 to",
		"-n 2000000 barrier":         "-n wants 2 to",
		"-bytes -1 bcast":            "-bytes wants 0 to",
		"-root 9 -n 9 bcast":         "-root wants a rank below 9, not 9",
		"-per-host 0 barrier":        "-per-host wants at least 1",
		"-latency -1us barrier":      "must not be negative",
		"-per-byte NaN barrier":      "must not be negative",
		"-algorithm ring barrier":    `the algorithms of Barrier are dissemination, leaders, not "ring"`,
		"-algorithm leaders barrier": "depend on hosts",
		"-bytes 10000000 -n 8 bcast": "name another one by -algorithm",
		"alltoallv":                  "name another one",
		"-what barrier":              "not defined",
	} {
		if _, err := parseSimulation(strings.Fields(args), noEnv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("halo sim %s: %v, want %q", args, err, want)
		}
	}
}
