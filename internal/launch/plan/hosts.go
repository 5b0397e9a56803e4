package plan

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// HostSlots says that ranks may be placed on a host.
type HostSlots struct {
	Host  string
	Slots int // ranks it takes; 0: an equal share of the ranks left by hosts with a number
}

// maxHosts bounds the number of hosts in a job.
const maxHosts = 4096

// ParseHosts reads the argument of -host: NAME or NAME:SLOTS, separated by commas.
func ParseHosts(text string) (list []HostSlots, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		h, err := parseHost(entry)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return MergeHosts(list), nil
}

// parseHost reads NAME or NAME:SLOTS. An IPv6 address stands in brackets.
func parseHost(entry string) (h HostSlots, err error) {
	name, slots, numbered := entry, "", false
	if rest, ok := strings.CutPrefix(entry, "["); ok {
		name, rest, ok = strings.Cut(rest, "]")
		if !ok {
			return h, fmt.Errorf("host %q has no closing ]", entry)
		}
		slots, numbered = strings.CutPrefix(rest, ":")
		if !numbered && rest != "" {
			return h, fmt.Errorf("host %q: want [ADDRESS] or [ADDRESS]:SLOTS", entry)
		}
	} else {
		name, slots, numbered = strings.Cut(entry, ":")
		if strings.Contains(slots, ":") {
			return h, fmt.Errorf("host %q: an IPv6 address stands in brackets, as in [fd00::1]:4", entry)
		}
	}
	if err := checkHostName(name); err != nil {
		return h, err
	}
	h.Host = name
	if numbered {
		h.Slots, err = parseSlots(slots)
		if err != nil {
			return h, fmt.Errorf("host %q: %w", entry, err)
		}
	}
	return h, nil
}

func parseSlots(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > boot.MaxRanks {
		return 0, fmt.Errorf("the number of slots is %q, want 1 to %d", text, boot.MaxRanks)
	}
	return n, nil
}

// checkHostName accepts destinations of ssh (a name or an address, with or without
// user@) and nothing that ssh would take for an option.
func checkHostName(name string) error {
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-_:@%", c))
	}
	switch {
	case name == "":
		return fmt.Errorf("a host has no name")
	case len(name) > boot.MaxName:
		return fmt.Errorf("the name of host %.20q... has %d characters, the limit is %d", name, len(name), boot.MaxName)
	case name[0] == '-' || name[0] == '@' || strings.Contains(name, "@-") || strings.HasSuffix(name, "@") || strings.IndexFunc(name, bad) >= 0:
		return fmt.Errorf("%q is not the name of a host", name)
	}
	return nil
}

// ParseHostFile reads a host file: one host a line, as "NAME", "NAME slots=N"
// or "NAME:N"; '#' begins a comment.
func ParseHostFile(file string) ([]HostSlots, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []HostSlots
	for i, line := range strings.Split(string(text), "\n") {
		h, err := parseHostLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		if h.Host != "" {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no host; want one a line, as NAME, NAME slots=N or NAME:N", file)
	}
	list = MergeHosts(list)
	if len(list) > maxHosts {
		return nil, fmt.Errorf("%s: %d hosts, the limit is %d", file, len(list), maxHosts)
	}
	return list, nil
}

// parseHostLine returns no host for a line that is empty or only a comment.
func parseHostLine(line string) (HostSlots, error) {
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(strings.ReplaceAll(line, "=", " = "))
	if len(words) == 0 {
		return HostSlots{}, nil
	}
	h, err := parseHost(words[0])
	if err != nil {
		return HostSlots{}, err
	}
	switch rest := words[1:]; {
	case len(rest) == 0:
	case len(rest) == 3 && rest[0] == "slots" && rest[1] == "=" && h.Slots == 0:
		h.Slots, err = parseSlots(rest[2])
		if err != nil {
			return HostSlots{}, err
		}
	default:
		return HostSlots{}, fmt.Errorf("%q: want NAME, NAME slots=N or NAME:N", strings.TrimSpace(line))
	}
	return h, nil
}

// MergeHosts makes one entry for each host: numbers of slots are added, and if a host
// occurs several times, each entry without a number counts as one slot.
func MergeHosts(list []HostSlots) []HostSlots {
	var merged []HostSlots
	for _, h := range list {
		at := slices.IndexFunc(merged, func(m HostSlots) bool { return m.Host == h.Host })
		if at < 0 {
			merged = append(merged, h)
			continue
		}
		m := &merged[at]
		m.Slots = max(1, m.Slots) + max(1, h.Slots)
	}
	return merged
}
