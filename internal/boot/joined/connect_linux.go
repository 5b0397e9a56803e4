package joined

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/boot/pmi2"
	"github.com/halo-mpi/halo/internal/boot/pmix"
	"github.com/halo-mpi/halo/internal/boot/rendezvous"
	"github.com/halo-mpi/halo/internal/sys"
)

// envTimeout is the environment variable that says how long ranks that find each other by environment
// variables wait for each other.
const envTimeout = "HALO_JOIN_TIMEOUT"

// envFabric is the environment variable that chooses what carries messages on a node: shm or tcp.
const envFabric = "HALO_FABRIC"

// connect joins the job of an engine.
func connect(way string, inC, world bool) (_ boot.Boot, err error) {
	env := environment(os.LookupEnv)
	set := settings{inC: inC, world: world, fabric: env.get(envFabric), iface: env.get(envInterface), engineHost: engineHost(env), cores: cores(env)}
	switch set.fabric {
	case "", "shm", "tcp":
	default:
		return nil, fmt.Errorf("%s=%s: want shm or tcp", envFabric, set.fabric)
	}
	switch {
	case way == wayEnv, way == wayPMIx:
	case env.has("SLURM_STEP_ID"):
		set.engine = "Slurm"
	case env.has("MPI_LOCALNRANKS"), env.has("HYDI_CONTROL_FD"):
		set.engine = "Hydra"
	}
	if env.has(envLocal) {
		n, ok := env.number(envLocal)
		if !ok || n < 1 {
			return nil, fmt.Errorf("%s=%s: want the number of ranks on each node", envLocal, env.get(envLocal))
		}
		set.local = n
	}
	if way == wayEnv {
		set.joinLimit, err = joinLimit(env)
		if err != nil {
			return nil, err
		}
	}
	client, err := clientOf(way, env)
	if err != nil {
		return nil, err
	}
	p, err := open(client, set)
	if err != nil {
		client.Finalize()
		return nil, err
	}
	return p, nil
}

// clientOf connects to the server of an engine.
func clientOf(way string, env environment) (engine.Client, error) {
	switch way {
	case wayPMI1:
		return pmi1Client(env)
	case wayPMI2:
		return pmi2Client(env)
	case wayPMIx:
		return pmixClient(env)
	case wayEnv:
		c, err := rendezvousConfig(env)
		if err != nil {
			return nil, err
		}
		return rendezvous.Open(c)
	}
	return nil, fmt.Errorf("this program has no client for %s: start it with halo run -n N PROGRAM", way)
}

// pmi1Client connects to a PMI-1 server by the descriptor that this process has inherited, or by TCP.
func pmi1Client(env environment) (engine.Client, error) {
	if !env.has("PMI_FD") {
		return pmi1Port(env)
	}
	rank, hasRank := env.number("PMI_RANK")
	size, hasSize := env.number("PMI_SIZE")
	if !hasRank || !hasSize {
		return nil, fmt.Errorf("PMI_FD=%q PMI_RANK=%q PMI_SIZE=%q do not describe a process of a job", env.get("PMI_FD"), env.get("PMI_RANK"), env.get("PMI_SIZE"))
	}
	conn, err := inherited(env)
	if err != nil {
		return nil, err
	}
	return pmi1.Open(conn, rank, size)
}

// pmi2Client connects to a PMI-2 server by the descriptor that this process has inherited.
func pmi2Client(env environment) (engine.Client, error) {
	conn, err := inherited(env)
	if err != nil {
		return nil, err
	}
	return pmi2.Open(conn, env)
}

// inherited returns the connection to which PMI_FD refers.
func inherited(env environment) (io.ReadWriteCloser, error) {
	fd, ok := env.number("PMI_FD")
	if !ok || fd < 3 {
		return nil, fmt.Errorf("PMI_FD=%q is not the number of a connection", env.get("PMI_FD"))
	}
	link, err := sys.NewLink(fd)
	if err != nil {
		return nil, fmt.Errorf("PMI_FD names the connection with the launcher: %w: something between the launcher and this program closed it: "+
			"let wrappers keep descriptor %d open", err, fd)
	}
	return link.Stream(), nil
}

// pmixClient connects to a PMIx server, which runs on the same node.
func pmixClient(env environment) (engine.Client, error) {
	place, err := pmix.ReadPlace(env)
	if err != nil {
		return nil, err
	}
	conn, err := dialEngine(place.IP, strconv.Itoa(place.Port))
	if err != nil {
		return nil, fmt.Errorf("the PMIx server at %s, which must run on the same node: %w", address.Join(place.IP.String(), place.Port), err)
	}
	return pmix.Open(conn, place)
}

// portTimeout bounds the time to connect to a server.
const portTimeout = 10 * time.Second

func pmi1Port(env environment) (engine.Client, error) {
	at, id := env.get("PMI_PORT"), env.get("PMI_ID")
	host, port, ok := strings.Cut(at, ":")
	if !ok || id == "" {
		return nil, fmt.Errorf("PMI_PORT=%q PMI_ID=%q do not name a server", at, id)
	}
	ip, err := address.Lookup(host)
	if err != nil {
		return nil, fmt.Errorf("PMI_PORT=%s: %w", at, err)
	}
	conn, err := dialEngine(ip, port)
	if err != nil {
		return nil, fmt.Errorf("PMI_PORT=%s: %w", at, err)
	}
	return pmi1.OpenPort(conn, id)
}

// dialEngine connects to the server of an engine.
func dialEngine(ip address.IP, port string) (*os.File, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", port, err)
	}
	end := sys.TCPEndpoint(ip, int(n))
	conn, err := end.Socket()
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(portTimeout))
	if err := end.Connect(conn); err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return conn, nil
}

const (
	// joinTimeout is the default of envTimeout.
	joinTimeout = time.Minute
	// secretMin and secretMax bound the length of a secret in bytes.
	secretMin, secretMax = 16, 4096
)

// rendezvousConfig reads the place of a process from environment variables.
func rendezvousConfig(env environment) (c rendezvous.Config, err error) {
	rank := envRank
	if !env.has(rank) {
		rank = envIndex
	}
	var hasRank, hasSize bool
	c.Rank, hasRank = env.number(rank)
	c.Size, hasSize = env.number(envSize)
	if !hasRank || !hasSize {
		return c, fmt.Errorf("%s=%s needs the rank, in %s or %s, and the number of processes, in %s: they are %q, %q and %q", envAddr, env.get(envAddr),
			envRank, envIndex, envSize, env.get(envRank), env.get(envIndex), env.get(envSize))
	}
	c.Addr = env.get(envAddr)
	c.Local, _ = env.number(envLocal)
	c.Timeout, err = joinLimit(env)
	if err != nil {
		return c, err
	}
	if path := env.get(envSecret); path != "" {
		c.Secret, err = readSecret(path)
		if err != nil {
			return c, fmt.Errorf("%s=%s: %w", envSecret, path, err)
		}
	}
	return c, nil
}

// joinLimit returns the time in envTimeout, or joinTimeout.
func joinLimit(env environment) (time.Duration, error) {
	if !env.has(envTimeout) {
		return joinTimeout, nil
	}
	d, err := time.ParseDuration(env.get(envTimeout))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%s: want a time such as 90s", envTimeout, env.get(envTimeout))
	}
	return d, nil
}

// readSecret reads a secret from a file that no other user may read.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Kubernetes has root own the files of a Secret, and lets a process that is not root read them by their
	// group.
	mode, open := info.Mode().Perm(), os.FileMode(0o077)
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == 0 && os.Getuid() != 0 {
		open = 0o037
	}
	if mode&open != 0 {
		return nil, fmt.Errorf("its mode is %04o, so that others can read it: want 0600", mode)
	}
	b, err := io.ReadAll(io.LimitReader(f, secretMax+1))
	if err != nil {
		return nil, err
	}
	if len(b) < secretMin || len(b) > secretMax {
		return nil, fmt.Errorf("it has %d bytes, want %d to %d", len(b), secretMin, secretMax)
	}
	return b, nil
}

// engineHost returns the address of a host that the engine names, or "". The nodes reach each other by
// the network of that host.
func engineHost(env environment) string {
	if host, _, ok := strings.Cut(env.get("PMI_PORT"), ":"); ok {
		return host
	}
	if addr := env.get(envAddr); addr != "" {
		if ip, err := address.Lookup(strings.Trim(addr[:max(0, strings.LastIndexByte(addr, ':'))], "[]")); err == nil {
			return ip.String()
		}
	}
	return env.get("SLURM_LAUNCH_NODE_IPADDR")
}

// cores returns how many cores the processes of this node may use in all. Slurm says it. Otherwise it is
// what this process or its parent may use, whichever is more: the engine may bind this process to some
// cores of the node, and does not bind its daemon, which is the parent.
func cores(env environment) int {
	if n, ok := env.number("SLURM_CPUS_ON_NODE"); ok && n > 0 {
		return n
	}
	return max(1, sys.CPUsOf(os.Getpid()), sys.CPUsOf(os.Getppid()))
}
