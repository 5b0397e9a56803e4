//go:build unix

package reach

import (
	"fmt"
	"strings"
)

// Hint guesses from the exit status of ssh and what it has said why an agent, which is the program path, was not started
// on a host; "" if it has no guess.
func Hint(host, path string, code int, said string) string {
	said = strings.ToLower(said)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case code == 126:
		return fmt.Sprintf("%s cannot be executed there", path)
	case has("could not resolve", "name or service not known"):
		return "no host of that name is known: see -host, -hostfile, /etc/hosts"
	case has("permission denied", "too many authentication failures"):
		return "it refused the key: ssh " + host + " true must work without a password"
	case has("host key verification failed"):
		return "its key is not the known one, or not known yet: ssh " + host + " once by hand"
	case has("connection refused"):
		return "no ssh daemon listens there"
	case has("timed out", "no route to host", "network is unreachable"):
		return "it is down, or a firewall is between"
	case code == 127 || has("no such file or directory", "not found"):
		return fmt.Sprintf("is halo there as %s? -halo names another path", path)
	}
	return ""
}

// NotYet reports whether ssh has failed for a reason that may pass: the host has no address yet, or
// does not accept connections yet.
func NotYet(said string) bool {
	said = strings.ToLower(said)
	for _, words := range []string{"could not resolve", "name or service not known", "temporary failure in name resolution", "connection refused",
		"timed out", "no route to host", "network is unreachable", "connection reset", "connection closed", "kex_exchange_identification"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
