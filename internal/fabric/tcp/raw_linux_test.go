package tcp

// raw makes the data path on raw descriptors.
func raw(c Config) (made, string, error) {
	f, addr, err := Listen(c)
	if err != nil {
		return nil, "", err
	}
	return f, addr, nil
}

func makers() map[string]maker { return map[string]maker{"raw": raw, "streams": goroutines} }
