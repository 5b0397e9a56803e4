package pmix

import "fmt"

// status is the result of a request.
type status int32

// The results that this client acts upon or explains.
const (
	success        status = 0
	handshakeDue   status = -6 // the server wants credentials to be exchanged
	invalidCred    status = -12
	typeUnknown    status = -16
	noPermissions  status = -23
	timedOut       status = -24
	unreachable    status = -25
	badParam       status = -27
	notFound       status = -46
	notSupported   status = -47
	notImplemented status = -48
	partialSuccess status = -52
	lostConnection status = -61
	queryPartial   status = -104
	succeeded      status = -157 // the operation has been done at once
)

func (s status) String() string {
	names := map[status]string{success: "success", handshakeDue: "handshake wanted", invalidCred: "credentials refused",
		typeUnknown: "unknown type", noPermissions: "no permission", timedOut: "timed out", unreachable: "server unreachable",
		badParam: "bad parameter", notFound: "not found", notSupported: "not supported", notImplemented: "not implemented",
		partialSuccess: "partial success", lostConnection: "connection lost", queryPartial: "partial success"}
	if name := names[s]; name != "" {
		return fmt.Sprintf("status %d (%s)", int32(s), name)
	}
	return fmt.Sprintf("status %d", int32(s))
}
