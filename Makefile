# make test      everything a change must pass, in order of how soon it fails
# make quick     what a developer runs between two commits: 3 minutes
# make lint      the part of it that runs no program: format, analyzers, house rules
# make fuzz      every fuzz target for FUZZTIME each
# make faults    known bugs, one at a time: the tests find each; takes some minutes
# make soak      the tests of promises, again and again, SOAKTIME seconds for each of SOAK
# make stress    structures without locks in windows, STRESSTIME seconds over each of STRESSFABRICS
# make sanitize  the programs in C under the sanitizers of the compiler, and valgrind, each
#                for SANITIZETIME at most
# make bench     Halo beside MPICH and Open MPI, interleaved, as a table of ratios
# make install   halo, mpiexec, mpicc, mpifort, the libraries, their manual, completions and a
#                module file below PREFIX
# make uninstall removes what make install has put there

GO        ?= go
PREFIX    ?= /usr/local
BUILDFLAGS ?= -trimpath
# make has a name of its own for the Fortran compiler, which nobody has.
ifeq ($(origin FC),default)
FC = gfortran
endif
FUZZTIME  ?= 30s
SOAKTIME  ?= 600
FAULTS    ?=
FAULTLIMIT ?= 10m
SOAK      ?= ./internal/p2p ./internal/coll ./internal/fabric/tcp ./internal/boot ./internal/launch/...
STRESSTIME ?= 600
STRESSFABRICS ?= inproc shm tcp
SANITIZETIME ?= 60m
NP        ?= 4
PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64 windows/amd64
STRESS     = $(addprefix examples/,hashtable mcslock mpmcqueue worksteal globalarray taskqueue)
EXAMPLES   = $(patsubst %/main.go,%,$(wildcard examples/*/main.go))

# Tests must not depend on whether git trusts this checkout. What is installed records its
# commit, for halo version, where git tells it.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

# In the parts of make test the compiler collects no garbage until it has taken 1500 MiB, which spares a
# third of its time. What it makes is the same. Below what the tests of mpi take, the limit would have it
# collect without end: with 600 MiB they compile in 55 s, with 1500 MiB in 20 s.
#
# The code of the library in C can be at any address. Other programs of these parts are of the same
# kind, so that they and the library use the same compiled packages: to compile all of them takes half
# a minute. Programs with the race detector are not, since on some kernels it wants fixed addresses.
PARTS = analyze platforms rules unit race short
$(PARTS): export GOFLAGS += '-toolexec=env GOGC=off GOMEMLIMIT=1500MiB'
ifeq ($(shell uname -s),Linux)
$(PARTS): export GOFLAGS += -buildmode=pie
$(PARTS): export GOEXPERIMENT = nodwarf5
endif

STAMP      = $(if $(shell git rev-parse --verify HEAD 2>/dev/null),-buildvcs=true)

.PHONY: test quick short need lint gofmt analyze platforms rules unit race examples fuzz faults soak stress sanitize bench install uninstall stage

test: need
	@MAKE="$(MAKE)" tools/parts gofmt analyze platforms rules unit race
	@echo "make test: everything passed"

quick:
	@MAKE="$(MAKE)" tools/parts gofmt rules short

# The race detector wants a C compiler. Tests with several hosts want root and
# the tools that make and enter them, those of the C library build systems and
# compilers, without which they skip. No daemon is started by installing one.
need:
	@command -v $(GO) >/dev/null || { echo "make: Go 1.26 or newer is missing: https://go.dev/dl"; exit 1; }
	@compiles() { echo '#include <stdlib.h>' | $${CC:-gcc} -x c -fsyntax-only - 2>/dev/null; }; \
	missing() { \
		compiles || echo gcc libc6-dev; \
		for t in ip:iproute2 nsenter:util-linux unshare:util-linux hostname:hostname mount:mount find:findutils \
			ssh:openssh-client ssh-keygen:openssh-client /usr/sbin/sshd:openssh-server man:man-db groff:groff-base \
			mpicc.mpich:libmpich-dev mpiexec.hydra:mpich mpirun.openmpi:openmpi-bin \
			srun:slurm-client /usr/sbin/slurmctld:slurmctld /usr/sbin/slurmd:slurmd \
			cmake:cmake tclsh:tcl autoconf:autoconf meson:meson ninja:ninja-build pkg-config:pkgconf g++:g++ gfortran:gfortran valgrind:valgrind gcore:gdb gdb:gdb musl-gcc:musl-tools; do \
			command -v $${t%:*} >/dev/null || echo $${t#*:}; \
		done; \
		[ -e "$$(gcc -print-file-name=libpmix.so)" ] || echo libpmix-dev; \
	}; \
	install=$$(missing | sort -u); \
	if [ "$$install" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		quiet=/usr/sbin/policy-rc.d; \
		if [ ! -e $$quiet ]; then \
			trap 'rm -f '$$quiet EXIT; \
			printf '#!/bin/sh\nexit 101\n' >$$quiet && chmod +x $$quiet; \
		fi; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$install; \
	fi; \
	compiles || { echo "make: a C compiler with the C library's headers is missing (go test -race links with it): install gcc and libc6-dev"; exit 1; }; \
	[ "$$(id -u)" = 0 ] || echo "make: not root: tests with several hosts will be skipped"; \
	install=$$(missing | sort -u | tr '\n' ' '); \
	[ -z "$$install" ] || echo "make: tests will be skipped; they want these packages: $$install"; \
	[ -c /dev/net/tun ] || echo "make: tests with bad wires between hosts will be skipped; they want /dev/net/tun"

lint: gofmt analyze rules

gofmt:
	@bad=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && [ -z "$$bad" ] || { echo "not gofmt clean:"; echo "$$bad"; exit 1; }

# The analyzers of go vet and staticcheck look at each platform's packages: tools/analyze says how. The
# tests of the parts after this one compile without vet.
analyze:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(GO) build -C tools -o "$$dir/" ./analyze && \
		"$$dir/analyze" $(PLATFORMS) ./vet ./tools
	cd tools && $(GO) test -vet=off $(LIMIT) ./...

# The analyzers type-check all packages for each platform, and look for functions that no assembly has there. What is
# left is to assemble the assembly of other processors, which compiles what these packages import.
OTHERS = $(filter-out $(shell $(GO) env GOHOSTOS)/$(shell $(GO) env GOHOSTARCH),$(PLATFORMS))
platforms:
	@for arch in $$(for p in $(OTHERS); do echo $${p#*/}; done | sort -u | grep -vx "$$($(GO) env GOHOSTARCH)"); do \
		echo "assemble for $$arch"; \
		GOOS=linux GOARCH=$$arch $(GO) build '-gcflags=all=-N -l -dwarf=false' $$(find internal -name "*_$$arch.s" -not -path '*/testdata/*' -exec dirname {} + | sort -u | sed 's|^|./|') || exit 1; \
	done

rules:
	$(GO) test $(LIMIT) ./internal/lint

# first are the packages whose tests take longest: begun last, one of them would leave a core idle.
# Many tests wait for processes, hosts and deadlines: more packages run side by side than there are cores.
first = { $(GO) list $(1); $(GO) list ./...; } | awk '!seen[$$0]++'
BESIDE = -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
# The linker spares what a debugger needs: a third of its time. Hangs are found by the waits of the tests
# (internal/testrun). The limit is for those that no wait finds: a slow, cold machine takes half of it.
LIMIT = -timeout 60m
TESTFLAGS = -vet=off -ldflags=-w $(LIMIT) $(BESIDE)

# Each test runs over each fabric once (internal/testrun): over shm in a plain build, over inproc
# and tcp in one with the race detector. What a build with it cannot run covers all fabrics here.
#
# DETECTED are packages of which a plain build shows no more than one with the detector: their tests are
# not about shared memory, allocations or time. Over shared memory ./examples runs the example programs.
DETECTED = /deploy/kubernetes$$|/examples/[a-z0-9]+$$|/internal/(boot|boot/(engine|joined|pmi1|pmi2|pmix|rendezvous|segment)|enginetest|leak|node/inproc|rma/attach|rma/check)$$
unit:
	HALO_TEST_ONCE=1 $(GO) test $(TESTFLAGS) $$($(call first,./conformance/run ./mpi ./examples ./internal/coll ./internal/rma ./internal/shmfmt ./mpi/histories) | grep -vE '$(DETECTED)|/internal/lint$$')
	cd vet && $(GO) test -count=1 -vet=off $(LIMIT) ./...

# UNDETECTED are packages in which the detector has nothing to watch: their tests start programs
# that are built without it, or have one goroutine and no unsafe.Pointer, whose conversions a build with
# it checks. A process with it would sleep a second at its end, for races of goroutines that are left:
# none is (internal/leak).
#
# The shadow memory of the detector is in huge pages. In small ones each page is first mapped by a read, and
# the first write to it interrupts all other cores.
UNDETECTED = /abi$$|/abi/(generate|lib|unwind)$$|/bench/(compare|loadedcore)$$|/cmd/halo$$|/conformance/run$$|/examples$$|/gen$$|/internal/(call|cname|dtype/dtypetest|frame|leftover|lines|lint|match|peers|planted/find|proc/waitsim|rma/memhandle|rma/syncobject|topology|wire)$$
race:
	GORACE='atexit_sleep_ms=0 no_huge_pages_for_shadow=0' $(GO) test -race -buildmode=exe $(TESTFLAGS) $$($(call first,./mpi ./internal/launch ./internal/coll ./internal/fabric/tcp ./internal/rma ./internal/p2p ./internal/shmfmt ./mpi/histories) | grep -vE '$(UNDETECTED)')

short:
	$(GO) vet ./...
	HALO_TEST_FABRICS=shm $(GO) test $(TESTFLAGS) -short $$($(call first,./internal/launch ./internal/fabric/tcp ./mpi ./internal/coll) | grep -vE '/conformance/run$$|/examples$$|/internal/lint$$')

# The tests of ./examples run the programs so, too.
examples:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(GO) build -ldflags=-w -o "$$dir/" ./cmd/halo $(addprefix ./,$(EXAMPLES)) || exit 1; \
	for e in $(notdir $(EXAMPLES)); do \
		echo "halo run -n $(NP) ./examples/$$e"; \
		(cd "$$dir" && ./halo run -n $(NP) ./$$e) || exit 1; \
	done

# go test -list prints the targets of a package and then the line of the package.
fuzz:
	@list=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$list" | grep -Ev '^(ok|Fuzz|[?]) *'; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ {t[++n]=$$1} /^ok/ {for (i=1; i<=n; i++) print $$2, t[i]; n=0}' | { \
		failed=0; \
		while read -r pkg target; do \
			echo "fuzz $$pkg $$target for $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$pkg" </dev/null || failed=1; \
		done; \
		exit $$failed; }

# FAULTS is a regular expression of those to be planted; docs/testing.md lists them.
faults:
	$(GO) run ./internal/planted/find -faults '$(FAULTS)' -limit $(FAULTLIMIT)

# Hostile peers, kills and cuts: tests that are named after promises S1-S7 and F1-F6
# of the design, or after what they do. Most draw the moment at random. Then many hosts, real and simulated;
# what the controller of Kubernetes' MPI operator makes of our manifest, which needs a build of minutes; and random
# programs of one-sided communication and of files, SOAKTIME seconds each for each fabric.
soak:
	@out=$$(mktemp) && trap 'rm -f "$$out"' EXIT || exit 1; \
	for p in $(SOAK); do \
		end=$$(($$(date +%s) + $(SOAKTIME))); n=0; \
		while [ $$(date +%s) -lt $$end ]; do \
			$(GO) test -count=1 -run '[SF][1-8]|Hostile|Kill|Death|Left|Conformance' "$$p" >"$$out" 2>&1 || { cat "$$out"; exit 1; }; \
			n=$$((n + 1)); \
		done; \
		echo "soak $$p: $$n times without a finding"; \
	done; \
	HALO_TEST_KILLS_SECONDS=$(SOAKTIME) $(GO) test -count=1 -timeout 0 -run 'Kills' ./mpi >"$$out" 2>&1 || { cat "$$out"; exit 1; }; \
	HALO_TEST_HOSTS=64 HALO_TEST_SIMULATED_HOSTS=1000 $(GO) test -count=1 -v -run 'TestManyHosts|HostsCostTheLauncher' ./internal/launch >"$$out" 2>&1 || { cat "$$out"; exit 1; }; \
	grep -o '[0-9]* \(ranks on .* took\|hosts of\) .*' "$$out"; \
	(cd deploy/kubernetes/operator && $(GO) test -count=1 -vet=off .) >"$$out" 2>&1 || { cat "$$out"; exit 1; }; \
	HALO_HISTORY_SECONDS=$(SOAKTIME) $(GO) test -count=1 -timeout 0 -run 'Test(Window|File)Histories$$' -v ./mpi/histories >"$$out" 2>&1 || { cat "$$out"; exit 1; }; \
	grep -o '[0-9]* programs over .*' "$$out"

# Each program checks itself. In one process, where the race detector sees everything, and
# then in processes, on 2 to 8 ranks; every run has its share of the time.
stress:
	@each=$$(awk 'BEGIN {print $(STRESSTIME)/$(words $(STRESS))}') && \
	$(if $(filter inproc,$(STRESSFABRICS)),HALO_TEST_FABRICS=inproc $(GO) test -race -count=1 -p 1 -timeout 0 -run '^TestStress$$' $(addprefix ./,$(STRESS)) -stress $$each || exit 1;) \
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(GO) build -o "$$dir/" ./cmd/halo $(addprefix ./,$(STRESS)) || exit 1; \
	for fabric in $(filter-out inproc,$(STRESSFABRICS)); do \
		for e in $(notdir $(STRESS)); do \
			for n in 2 3 5 8; do \
				more="-seconds $$(awk "BEGIN {print $$each/4}")"; \
				[ $$e != hashtable ] || more="$$more -keys 2000 -common 1000"; \
				echo "halo run -n $$n -fabric $$fabric $$e $$more"; \
				(cd "$$dir" && ./halo run -n $$n -fabric $$fabric ./$$e $$more) || exit 1; \
			done; \
		done; \
	done

# What each can see is in docs/testing.md. It says at the end which programs it has seen, and
# how long each took; within SANITIZETIME it runs no more than certainly end.
SANITIZED = $(GO) test -v -count=1 -timeout $(SANITIZETIME)
sanitize:
	@command -v valgrind >/dev/null || { echo "make: valgrind is missing"; exit 1; }
	HALO_SANITIZE=address $(SANITIZED) -run '^(TestPrograms|TestProcess|TestArgumentsThatMeanNothing)$$' ./conformance/run
	HALO_SANITIZE=undefined $(SANITIZED) -run '^(TestPrograms|TestProcess|TestArgumentsThatMeanNothing)$$' ./conformance/run
	HALO_SANITIZE=valgrind $(SANITIZED) -parallel 2 -run '^TestPrograms$$' ./conformance/run

bench:
	$(GO) run ./bench/compare

# The C library is for Linux. Its programs find it by their rpath, and mpicc finds both by
# its own place.
#
# Debuggers and valgrind read what is written about the library's code as DWARF 4, uncompressed;
# abi/unwind then completes it.
DWARF = GOEXPERIMENT=nodwarf5 CGO_ENABLED=1
# The stack of a thread in Go stays as large as GrowStack has made it, for handlers of signals.
STACKS = -X runtime.godebugDefault=gcshrinkstackoff=1
OBJCOPY = objcopy
# A shell's pattern of the characters that a prefix cannot have: pkg-config, make and the shell
# take words apart at them, -Wl at a comma, -rpath at a colon.
UNFIT = [][[:space:]\"\'\`\$$\\,:\;\&\|\<\>\(\){}*?\#!]
install:
	@case $$DESTDIR$$PREFIX in *$(UNFIT)*) \
		printf '%s\n' "make install: PREFIX=$$PREFIX$${DESTDIR:+ DESTDIR=$$DESTDIR} has a character that options of compilers and pkg-config cannot carry (space, comma, colon, quote and the like): choose another folder" >&2; \
		exit 1 ;; \
	esac
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		$(MAKE) --no-print-directory stage STAGE="$$stage" && \
		GOOS= GOARCH= $(GO) run ./abi/place "$$stage" "$(DESTDIR)$(PREFIX)"

# What make install has put below the prefix, and nothing else.
uninstall:
	GOOS= GOARCH= $(GO) run ./abi/place -remove "$(DESTDIR)$(PREFIX)"

# All files of an installation, below STAGE, from where abi/place moves them below the prefix.
stage: SO = $(STAGE)/lib/libmpi_abi
stage: F2C = $(STAGE)/lib/libmpi_f2c
stage:
	mkdir -p $(STAGE)/bin
	$(GO) build $(BUILDFLAGS) $(STAMP) -o $(STAGE)/bin/halo ./cmd/halo
	ln -sf halo $(STAGE)/bin/mpiexec
	ln -sf halo $(STAGE)/bin/mpirun
	mkdir -p $(STAGE)/share/modulefiles $(STAGE)/share/bash-completion/completions $(STAGE)/share/zsh/site-functions $(STAGE)/share/fish/vendor_completions.d
	install -m 644 abi/wrap/modulefile $(STAGE)/share/modulefiles/halo
	@$(STAGE)/bin/halo completion bash >$(STAGE)/share/bash-completion/completions/halo && \
		$(STAGE)/bin/halo completion zsh >$(STAGE)/share/zsh/site-functions/_halo && \
		$(STAGE)/bin/halo completion fish >$(STAGE)/share/fish/vendor_completions.d/halo.fish && \
		for name in mpiexec mpirun; do ln -sf halo $(STAGE)/share/bash-completion/completions/$$name; done || { \
			echo "make install: completions are left out: halo is for another machine"; \
			rm -rf $(STAGE)/share/bash-completion $(STAGE)/share/zsh $(STAGE)/share/fish; \
		}
ifeq ($(shell uname -s),Linux)
	mkdir -p $(STAGE)/include $(STAGE)/lib/pkgconfig
	sed 's|@CC@|$(CC)|; s|@CXX@|$(CXX)|; s|@FC@|$(FC)|' abi/wrap/mpicc >$(STAGE)/bin/mpicc
	chmod 755 $(STAGE)/bin/mpicc
	for name in mpicxx mpic++ mpiCC; do ln -sf mpicc $(STAGE)/bin/$$name; done
	for name in mpif77 mpif90; do ln -sf mpifort $(STAGE)/bin/$$name; done
	install -m 644 abi/include/mpi.h abi/include/mpi_f2c.h $(STAGE)/include/
	install -m 644 abi/compat/mpi_compat.h $(STAGE)/include/mpi_compat.h
	install -m 644 abi/wrap/halo.pc $(STAGE)/lib/pkgconfig/halo.pc
	for name in mpi mpi-c mpi-cxx; do ln -sf halo.pc $(STAGE)/lib/pkgconfig/$$name.pc; done
	mkdir -p $(STAGE)/lib/cmake/MPI
	install -m 644 abi/wrap/MPIConfig.cmake abi/wrap/MPIConfigVersion.cmake $(STAGE)/lib/cmake/MPI/
	ln -sfn ../.. $(STAGE)/lib/pkgconfig/halo.prefix
	$(DWARF) $(GO) build $(BUILDFLAGS) $(STAMP) -buildmode=c-shared -ldflags '$(STACKS) -compressdwarf=false -extldflags -Wl,-soname,libmpi_abi.so.1' -o $(SO).so.1 ./abi/lib
	GOOS= GOARCH= $(GO) run ./abi/unwind $(SO).so.1
	chmod 755 $(SO).so.1 # ldd and rpm want libraries that can be executed
	ln -sf libmpi_abi.so.1 $(SO).so.0
	ln -sf libmpi_abi.so.1 $(SO).so
	$(DWARF) $(GO) build $(BUILDFLAGS) -buildmode=c-archive -ldflags '$(STACKS)' -o $(SO).a ./abi/lib
	$(OBJCOPY) --redefine-sym pthread_create=halo_pthread_create --redefine-sym __real_pthread_create=pthread_create \
		--redefine-sym __wrap_pthread_create=halo_wrap_pthread_create $(SO).a
	rm -f $(SO).h $(SO).so.h
	$(CC) -O2 -fPIC -Wall -Iabi/include -Iabi/compat -c abi/compat/compat.c -o $(STAGE)/lib/compat.o
	ar rcs $(STAGE)/lib/libmpi_compat.a $(STAGE)/lib/compat.o
	rm $(STAGE)/lib/compat.o
	$(CC) -O2 -fPIC -Wall -Iabi/include -c abi/f2c/f2c.c -o $(STAGE)/lib/f2c.o
	$(CC) -shared -Wl,-soname,libmpi_f2c.so.0 '-Wl,-rpath,$$ORIGIN' -o $(F2C).so.0 $(STAGE)/lib/f2c.o $(SO).so.1
	ln -sf libmpi_f2c.so.0 $(F2C).so
	ar rcs $(F2C).a $(STAGE)/lib/f2c.o
	rm $(STAGE)/lib/f2c.o
	CC='$(CC)' FC='$(FC)' GO='$(GO)' abi/fortran/install $(STAGE)
	GOOS= GOARCH= $(GO) run ./abi/generate -supp $(STAGE)/share/halo/halo.supp
	GOOS= GOARCH= $(GO) run ./abi/generate -man $(STAGE)/share/man -bin $(STAGE)/bin
endif
