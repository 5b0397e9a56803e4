package pmix

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot/engine"
)

// Place is what the environment says about a process and its server.
type Place struct {
	IP   address.IP // of the server, which runs on the same node
	Port int

	nspace     string
	rank       int
	serializer string // its version
	compact    bool   // is that of 41: see buffer
	security   string // the way in which a process proves who it is
	engine     string // name and version, for messages
}

// maxNspace is the longest name of a namespace in bytes: PMIX_MAX_NSLEN.
const maxNspace = 255

// serializers returns the versions of serializers, the most suitable first. For each that a server offers
// it sets a variable with its address; all have the same address. This client uses those of the first
// two, and tries the second one with servers that offer neither.
func serializers() []string { return []string{"41", "21", "4", "3", "2", "51", "61"} }

const uriName = "PMIX_SERVER_URI"

// Offered reports whether the environment names a PMIx server.
func Offered(env func(string) (string, bool)) bool {
	if v, _ := env("PMIX_NAMESPACE"); v == "" {
		return false
	}
	for _, version := range serializers() {
		if v, _ := env(uriName + version); v != "" {
			return true
		}
	}
	return false
}

// ReadPlace reads the environment.
func ReadPlace(env func(string) (string, bool)) (Place, error) {
	get := func(name string) string {
		v, _ := env(name)
		return v
	}
	p := Place{nspace: get("PMIX_NAMESPACE"), engine: engineName(get), security: "native"}
	fail := func(format string, args ...any) (Place, error) {
		return Place{}, fmt.Errorf("pmix: %s: %s", p.engine, fmt.Sprintf(format, args...))
	}
	if p.nspace == "" || len(p.nspace) > maxNspace || strings.Contains(p.nspace, "\x00") {
		return fail("PMIX_NAMESPACE is %.40q, not the name of a job", p.nspace)
	}
	rank, err := strconv.ParseUint(get("PMIX_RANK"), 10, 32)
	if err != nil || rank >= engine.MaxRanks {
		return fail("PMIX_RANK is %.40q, not a rank", get("PMIX_RANK"))
	}
	p.rank = int(rank)
	for _, version := range serializers() {
		uri := get(uriName + version)
		if uri == "" {
			continue
		}
		p.IP, p.Port, err = parseURI(uri)
		if err != nil {
			return fail("%s of rank %d is %.100q: %v", uriName+version, p.rank, uri, err)
		}
		p.serializer = "21"
		if version == "41" {
			p.serializer, p.compact = version, true
		}
		break
	}
	if p.IP == nil {
		return fail("no PMIX_SERVER_URI41 in the environment of rank %d", p.rank)
	}
	p.security, err = chooseSecurity(get("PMIX_SECURITY_MODE"))
	if err != nil {
		return fail("rank %d: %v", p.rank, err)
	}
	return p, nil
}

// engineName returns the name of the engine for messages.
func engineName(get func(string) string) string {
	name := "PMIx server"
	switch {
	case strings.HasPrefix(get("PMIX_NAMESPACE"), "slurm."):
		name = "Slurm"
	case get("OMPI_COMM_WORLD_SIZE") != "":
		name = "Open MPI's mpirun"
	case get("PRTE_LAUNCHED") != "":
		name = "PRRTE"
	}
	if v := get("PMIX_VERSION"); v != "" {
		return fmt.Sprintf("%s (PMIx %.20s)", name, engine.Printable(v))
	}
	return name + " (PMIx)"
}

// parseURI returns the address in an URI such as "nspace.0;tcp4://127.0.0.1:46591".
func parseURI(uri string) (address.IP, int, error) {
	_, at, ok := strings.Cut(uri, ";")
	if !ok {
		return nil, 0, fmt.Errorf("no semicolon")
	}
	scheme, at, ok := strings.Cut(at, "://")
	if !ok || scheme != "tcp4" && scheme != "tcp6" {
		return nil, 0, fmt.Errorf("its transport is %.20q, not tcp4 or tcp6", scheme)
	}
	at, _, _ = strings.Cut(at, ";")
	ip, port, err := address.Split(at)
	if err != nil {
		return nil, 0, fmt.Errorf("no address: %w", err)
	}
	return ip, port, nil
}

// chooseSecurity chooses from the ways that the server accepts.
func chooseSecurity(modes string) (string, error) {
	if modes == "" {
		return "native", nil
	}
	for _, mode := range []string{"native", "none"} {
		for _, m := range strings.Split(modes, ",") {
			if strings.TrimSpace(m) == mode {
				return mode, nil
			}
		}
	}
	return "", fmt.Errorf("the server accepts only credentials of the kind %.60q (PMIX_SECURITY_MODE), which Halo cannot make: "+
		"start the program with srun --mpi=pmi2, or let the server accept native ones with PMIX_MCA_psec=native", modes)
}
