// Package address has IP addresses as processes exchange them in text, and finds those of host names. It
// takes the place of packages net and netip in processes of a job: their tables are 100 KiB of memory of
// each rank in C. The fabric of sockets, ports, the job engines and the launcher use it.
//
// An IP is parsed, printed and found by name (Lookup); Ports is the range of ports at which processes may
// listen (HALO_PORTS).
//
// The trap: it knows no more than launchers write. Parse accepts neither zones nor IPv6 addresses with an
// embedded IPv4 address, and Lookup looks in /etc/hosts and then asks the DNS servers of /etc/resolv.conf,
// whatever else the system is configured for. So an import of package net in a package of the engine
// is a mistake, even if it saves some lines.
package address
