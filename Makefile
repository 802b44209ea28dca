# Everything a developer does here. `make` alone prints the list.
# Tool versions are pinned in this file and nowhere else.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test postgres strace lark grammars bench fuzz torture marathon claims teeth lint cover build

STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
PEERS       := cmd/peers
# llama.cpp, as the packages @node-llama-cpp/linux-* of npm hold it.
LLAMA       := 3.22.1
FUZZTIME    ?= 30s
FUZZ        ?= .
ROUNDS      ?= 7
MINUTES     ?= 30
SEED        ?= $(shell date +%Y%m%d)
ONLY        ?= .

# What is true of any input is tried with the same inputs each time, so that a
# change is judged by what it changed; marathon and RAPID_SEED=0 try others.
RAPID_SEED  ?= 1

# The race detector needs cgo and a C compiler; a bare machine may have
# neither. The program itself never uses cgo. SQLite and the YAML reader are
# translated from C, are used by one goroutine at a time, and take six times as
# long when they are watched: they are compiled without; all else is watched.
RACE := $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC)" >/dev/null 2>&1 && echo -race -gcflags=modernc.org/...=-race=false -gcflags=gopkg.in/yaml.v3=-race=false)

# A program that is watched waits a second before it ends, and tests start hundreds.
export GORACE := atexit_sleep_ms=10

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/verbatim, one file, no cgo
	@CGO_ENABLED=0 go build -o bin/verbatim ./cmd/verbatim

demo: ## show what it is, in under a minute once it is built, offline
	@bash examples/client/demo.sh

test: postgres strace lark ## run every test, with the race detector where a C compiler exists
	@$(if $(RACE),,echo "test: no C compiler or CGO_ENABLED=0, so the race detector stays off" >&2)
	VERBATIM_REQUIRE_POSTGRES=1 VERBATIM_REQUIRE_STRACE=1 VERBATIM_REQUIRE_LARK=1 RAPID_SEED=$(RAPID_SEED) go test $(RACE) -timeout 20m ./...
	cd $(PEERS) && go test -timeout 10m ./...

postgres: ## find the PostgreSQL server that tests run on, or install it with apt-get
	@if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || compgen -G '/usr/pgsql-*/bin/initdb' >/dev/null || command -v initdb >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "postgres: install the PostgreSQL server (initdb, postgres), on which the tests run" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "postgres: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends postgresql </dev/null

strace: ## find strace, with which crashes are tested, or install it with apt-get
	@if command -v strace >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "strace: install strace, with which crashes are tested" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "strace: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends strace </dev/null

lark: ## find Lark for Python, by which grammars are judged, or install it with apt-get
	@for python in python3 /usr/bin/python3; do if $$python -c 'import lark' 2>/dev/null; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null; then echo "lark: install Lark for python3, by which grammars are judged" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo="sudo -n"; fi; \
	echo "lark: not installed; installing it with apt-get" >&2; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-lark </dev/null

grammars: lark ## have llama.cpp, fetched with npm into a temporary folder, and Lark judge our grammars
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then echo "grammars: install node 20 or newer and npm, with which llama.cpp's reader of grammars is fetched" >&2; exit 1; fi; \
	arch=$$(node -p process.arch); dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	npm install --prefix "$$dir" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "@node-llama-cpp/linux-$$arch@$(LLAMA)" >&2; \
	VERBATIM_LLAMA="$$dir/node_modules/@node-llama-cpp/linux-$$arch/bins/linux-$$arch/llama-addon.node" VERBATIM_REQUIRE_GBNF=1 VERBATIM_REQUIRE_LARK=1 \
		go test ./verbs/grammar -run 'TestLarkReadsItAsWeDo$$|TestLlamaReadsItAsWeDo$$' -samples 4000 -count=1 -timeout 1h -v

torture: postgres strace ## crash, cut and race for about MINUTES (30); ONLY=Name, SEED=n; one table
	@go test -c -o bin/torture ./runtime/torture
	@cd runtime/torture && VERBATIM_REQUIRE_POSTGRES=1 VERBATIM_REQUIRE_STRACE=1 ../../bin/torture -test.timeout 6h -test.run '$(ONLY)' -torture $(MINUTES) -seed $(SEED)

marathon: postgres ## the tests that count, at the counts that are promised; hours (SEED=n)
	VERBATIM_REQUIRE_POSTGRES=1 RAPID_SEED=$(SEED) RAPID_CHECKS=5000 go test ./dsl ./verbs ./stores/... ./runtime/words ./runtime/phrase -timeout 2h
	go test ./dsl -run 'TestLawsHoldOfBrokenTexts$$' -executions 10000000 -timeout 6h -v
	go test ./runtime -run 'TestSearchFindsNoWayAround$$' -search 1000000 -search-seed $(SEED) -timeout 12h -v
	VERBATIM_REQUIRE_POSTGRES=1 go test ./stores/postgres -run 'TestManyWritersKeepOneChain$$' -entries 100000 -timeout 2h -v
	VERBATIM_REQUIRE_POSTGRES=1 go test ./runtime/work -run 'TestWorkersAreKilled$$' -jobs 10000 -timeout 2h -v
	go test ./cmd/verbatim -run 'TestTextsAreTextsInEveryOutput$$' -payloads -timeout 2h -v
	go test ./cmd/verbatim -run 'TestAModelThatObeysStrangers$$' -every-pair 1 -timeout 1h -v
	go test ./verbs/grammar -run 'TestWhatAGrammarAllowsIsAccepted$$|TestJSONSaysTheSameCalls$$|TestWhatTheSchemaAcceptsIsAccepted$$' -samples 100000 -timeout 6h -v

bench: ## measure against the peers, then the packages' own benchmarks (ROUNDS=7)
	cd $(PEERS) && go run . -rounds $(ROUNDS)
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## run every fuzz target for FUZZTIME each (FUZZTIME=30s, FUZZ=name)
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | grep -e '$(FUZZ)' || true); do \
			echo "fuzz: $$pkg $$target for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg"; \
		done; \
	done

claims: ## print what is claimed, and the tests that name it
	@go test -count=1 -v -run TestEveryClaimIsNamedByATest ./cmd/verbatim -claims | grep -v '^=== \|^--- \|^ok\|^PASS'

teeth: ## seed known faults, one at a time, and see that a test catches each
	go run ./cmd/teeth

lint: ## gofmt, vet, staticcheck, modules verified and tidy, in both modules
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "lint: these files need gofmt -w:" $$bad >&2; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...
	go mod verify
	go mod tidy -diff
	cd $(PEERS) && go vet ./... && $(STATICCHECK) ./... && go mod tidy -diff

cover: ## say how much of each package its tests reach
	go test -coverprofile=coverage.out -coverpkg=./... ./... >/dev/null
	@go tool cover -func=coverage.out | awk '/^total:/ { print "total " $$3 }'
	@echo "line by line: go tool cover -html=coverage.out"
