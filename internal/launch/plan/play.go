package plan

import (
	"errors"
	"fmt"
	"strconv"
)

// maxPlayHosts bounds the hosts that -play-hosts pretends.
const maxPlayHosts = 64

// playHosts pretends hosts, each with an agent of its own: a shell on this host takes the part of ssh, and the ranks of
// different hosts reach each other by the loopback interface.
func (p *parser) playHosts(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPlayHosts {
		return fmt.Errorf("%q is not a number of hosts from 1 to %d", text, maxPlayHosts)
	}
	p.spec.Play = n
	return nil
}

// play makes the pretended hosts those of the job.
func (p *parser) play() error {
	s := p.spec
	if s.Play == 0 {
		return nil
	}
	named := s.Hosts != nil
	for _, b := range s.Blocks {
		named = named || b.Hosts != nil
	}
	if named || s.SSH != nil || s.Agents != "" || s.Iface != "" {
		return errors.New("-play-hosts goes with none of -host, -hostfile, -ssh, -agents and -iface")
	}
	for i := range s.Play {
		s.Hosts = append(s.Hosts, HostSlots{Host: fmt.Sprint("play", i)})
	}
	s.Agents, s.SSH, s.Iface = "ssh", []string{"sh", "-c", `exec sh -c "$1"`}, "127.0.0.0/8" // the host is $0
	return nil
}
