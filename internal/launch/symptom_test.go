//go:build unix

package launch

import "testing"

// A symptom is found however the text of the runtime is split into reads.
func TestSymptomsInPieces(t *testing.T) {
	for text, want := range map[string]symptom{
		"a line\nruntime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT":             noThread,
		"runtime: failed to create new OS thread (have 5 already; errno=11)\n":                              noThread,
		"fatal error: failed to reserve page summary memory\n\nruntime stack:\nruntime.throw":               noAddresses,
		"fatal error: runtime: cannot allocate memory\n":                                                    noAddresses,
		"runtime: out of memory: cannot allocate 4194304-byte block (0 in use)\nfatal error: out of memory": noAddresses,
		"pthread_create failed in the program, whose runtime: was short":                                    noSymptom,
	} {
		look := func(pieces ...string) {
			var s stream
			for _, p := range pieces {
				s.look([]byte(p))
			}
			if s.symptom != want {
				t.Errorf("%.60q: symptom %d, want %d", pieces, s.symptom, want)
			}
		}
		look(text)
		var bytes []string
		for i := range text {
			bytes = append(bytes, text[i:i+1])
			look(text[:i], text[i:])
			for j := range text[i:] {
				look(text[:i], text[i:i+j], text[i+j:])
			}
		}
		look(bytes...)
	}
}
