package engine

import "fmt"

const (
	// MaxKey is the length of the longest key and name in bytes: PMI-1 and PMI-2 have room for 63.
	MaxKey = 60
	// MaxValue is the length of the longest value in bytes. Hydra cuts a value after 1024 bytes and
	// reports success; the node daemon of Slurm dies of longer ones.
	MaxValue = 1000
	// MaxRanks is the size of the largest job: far more than one launcher can start, and
	// the bound for sizes that a decoder accepts.
	MaxRanks = 1 << 16
)

// CheckKey returns an error for a key that an engine may not store as it is. A key consists of letters,
// digits and _.:,- and does not begin with "PMI_": such keys belong to the engines.
func CheckKey(key string) error {
	switch {
	case key == "" || len(key) > MaxKey:
		return fmt.Errorf("engine: key of %d bytes, the limit is %d", len(key), MaxKey)
	case len(key) >= 4 && key[:4] == "PMI_":
		return fmt.Errorf("engine: key %q belongs to the engine", key)
	}
	return checkAlphabet("key", key)
}

// CheckValue returns an error for a value that an engine may not store as it is. It permits the
// characters of a key: PMI-1 ends a value at a space, and PMI-2 at a semicolon, which the node daemon of
// Slurm does not survive.
func CheckValue(value string) error {
	if value == "" || len(value) > MaxValue {
		return fmt.Errorf("engine: value of %d bytes, the limit is %d", len(value), MaxValue)
	}
	return checkAlphabet("value", value)
}

func checkAlphabet(what, text string) error {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '.', c == ':', c == ',', c == '-':
		default:
			return fmt.Errorf("engine: %s with the character %q at %d, allowed are letters, digits and _.:,-", what, c, i)
		}
	}
	return nil
}

// Printable returns the first MaxKey bytes of text, with each byte outside of the alphabet of keys replaced
// by '-'. It makes the name of a job from the name that an engine has for it.
func Printable(text string) string {
	b := []byte(text[:min(len(text), MaxKey)])
	for i := range b {
		if checkAlphabet("", string(b[i:i+1])) != nil {
			b[i] = '-'
		}
	}
	return string(b)
}
