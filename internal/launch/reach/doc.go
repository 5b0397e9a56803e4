// Package reach is how the launcher gets agents onto other hosts, and how hosts find each other there: the command that
// starts an agent (ssh, or that of a batch system), invitations by which agents of one step call the launcher, addresses
// that other hosts reach, tries of connections before ranks start, and the copying of programs.
//
// It holds what one connection or one file takes; the job decides when which host is tried, and what a failure means.
//
// What a host says before its agent has proved that it knows the invitation, and all output of ssh, is text of a stranger.
package reach
