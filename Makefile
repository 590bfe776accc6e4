# Kakehashi. "make help" lists the targets; the scripts they call are in .make/.
#
# Variables: PG_CONFIG (which PostgreSQL), JAVA_HOME (JDK 25), PREFIX (make install), DOCKER=no (deps, test without containers),
# SCALE (make run: TPC-H scale factor), MVN.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MVN ?= mvn
PREFIX ?= /usr/local
SCALE ?= 0.1
export MVN PREFIX SCALE

STAMPS := target/stamps
JAVA_SOURCES := $(shell find pom.xml .mvn scheduler ipc-endpoint -type f -not -path '*/target/*' \
	\( -name '*.java' -o -name '*.xml' -o -name '*.txt' -o -path '*/src/main/*' -o -path '.mvn/*' \))
C_SOURCES := $(shell find fdw-extension -type f \( -name '*.[ch]' -o -name '*.sql' -o -name '*.control' -o -name Makefile \))

.PHONY: help deps generate build run psql stop test test-citus test-pgwire soak fuzz mutation transfers check check-cassert check-next check-tools format hook bench bench-applications bench-bulk bench-engine bench-pgwire bench-queue bench-rest bench-scheduler bench-settings bench-shell bench-standby bench-tpch deb deb-extension site test-packages install maven clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing (apt, root or sudo; DOCKER=no: without containers)
	@.make/deps.sh

generate: ## write the C and Java accessors again from ipc-endpoint/protocol/schema
	@.make/generate.sh

build: $(STAMPS)/java $(STAMPS)/extension ## compile the endpoint and the extension

$(STAMPS)/java: $(JAVA_SOURCES)
	@.make/maven.sh build -pl '!pg-tests' -DskipTests install
	@mkdir -p $(@D) && touch $@

$(STAMPS)/extension: $(C_SOURCES)
	@.make/extension.sh
	@mkdir -p $(@D) && touch $@

run: ## start endpoint and private PostgreSQL in .run/, load TPC-H (SCALE=0.1), show a short tour
	@DOCKER=no .make/deps.sh
	@$(MAKE) --no-print-directory build
	@.make/run.sh

psql: ## open psql on the servers of "make run"
	@.make/psql.sh

stop: ## stop the servers of "make run"
	@.make/stop.sh

test: ## run all tests: Java, C, pg_regress, whole system, containers if Docker is there
	@.make/deps.sh
	@.make/test.sh

soak: build ## the randomised tests at larger sizes with new seeds, for hours (FACTOR=10 ONLY=store,power,sql,server,bulk,http,queue,applications,engines,cluster,citus,scheduler,schedules,memory,sqlsmith,system SEED=); HOURS=2: all doors under load and kills, with a report of what grew
	@.make/stage.sh
	@$(if $(HOURS),.make/soak-hours.sh,.make/soak.sh)

fuzz: ## inputs for a reader of what others write, found by coverage and kept in its corpus (TARGET=csv SECONDS=60; INPUT=FILE runs one)
	@FUZZ_SECONDS=$(SECONDS) .make/fuzz.sh

mutation: ## changes of compiled classes of a package that no test notices, by pitest (PACKAGE=dev.kakehashi.queue.order MODULE=ipc-endpoint/queue TESTS=dev.kakehashi.queue.*)
	@.make/mutation.sh

test-pgwire: build ## the tests of the whole system over endpoints with engine = pgwire, and a table of what passed and what it lacks (ONLY=TpchTest,regress LISTED=yes)
	@.make/test-pgwire.sh

test-citus: build ## the engine pgwire over a Citus cluster on this machine: conformance with distributed tables, transfers while each node is killed (KILLS=20 CITUS_SOURCE=a checkout, where Citus is not installed)
	@.make/test-citus.sh

transfers: build ## move money while the engine is killed, and look whether any is lost (KILLS=10 WRITERS=4; for other engines ENGINE= KILL= RESTART=)
	@.make/transfers.sh

check: ## what a review expects: formatters, checkers and all tests
	@.make/check.sh
	@.make/test.sh

check-cassert: $(STAMPS)/java ## pg_regress and isolation specs with a PostgreSQL built with assertions (builds it: apt-get source, libicu-dev, libxml2-dev)
	@.make/check-cassert.sh

check-next: ## whether the extension is ready for a PostgreSQL of another version: new members of its nodes, a compile, pg_regress (PG_CONFIG=.../pg_config COMPILE_ONLY=yes; the scripts need "make build")
	@PG_CONFIG=$(PG_CONFIG) .make/check-next.sh

check-tools: build ## run the programs of examples/tools: Django, SQLAlchemy, Hibernate, jOOQ, knex (installs them)
	@.make/stage.sh
	@.make/check-tools.sh

format: ## format Java and C sources in place
	@.make/check.sh format

hook: ## let git check the files of each commit, in some seconds (git commit --no-verify: without)
	@git config core.hooksPath .make/hooks

bench: build ## compare heap, postgres_fdw and Kakehashi; measure the bare transport (ROWS="select fill busy sysbench")
	@.make/bench.sh

bench-applications: build ## compare procedures, functions and routes of an application with SQL, PL/pgSQL and built-in functions (ROWS="procedure scan")
	@.make/bench-applications.sh

bench-bulk: build ## compare loads and dumps of files with PostgreSQL's COPY, DuckDB and cp (ROWS="csv parquetdump" TABLE_ROWS=10000000)
	@.make/bench-bulk.sh

bench-engine: build ## compare the engine through the Java client with PostgreSQL's heap (ROWS="scan tpch" SCALE=0.1)
	@.make/bench-engine.sh

bench-queue: build ## compare the queue with tables, PgQ, graphile-worker, pg-boss, db-scheduler, beanstalkd and JetStream (ROWS="life latency")
	@.make/bench-queue.sh

bench-rest: build ## compare the HTTP door with a service over PostgreSQL's heap (ROWS="select rows1m")
	@.make/bench-rest.sh

bench-tpch: build ## compare TPC-H's queries over foreign tables with heap (SCALE=0.1 QUERIES="1 5" REPETITIONS=5)
	@.make/bench-tpch.sh

bench-scheduler: ## compare the scheduler with ForkJoinPool, ThreadPoolExecutor and virtual threads (ROWS="tree wake")
	@.make/bench-scheduler.sh

bench-settings: build ## what watchdog, limits and other settings cost a select by key, in one run
	@.make/bench-settings.sh

bench-pgwire: build ## the engine "pgwire" against PgJDBC and postgres_fdw on the same PostgreSQL, in one run
	@.make/bench-pgwire.sh

bench-shell: build ## start, rows and memory of "kakehashi sql" beside psql, in one run
	@.make/bench-shell.sh

bench-standby: build ## what commits cost that wait for a standby, and an archive; a standby's lag, a takeover (ROWS="synchronous lag")
	@.make/bench-standby.sh

maven: build ## a repository of Maven in target/maven with API, client and test kit, for projects outside of this checkout
	@.make/maven-repository.sh

deb: maven ## Debian packages in target/deb (installs debhelper, mkdocs and lintian where they are missing)
	@.make/deb.sh

deb-extension: ## the extension's packages alone, for each PostgreSQL from 15 on whose headers are here (PG_SUPPORTED_VERSIONS="17 18"; needs no Java)
	@ONLY=extension .make/deb.sh

site: build ## the documentation as pages of HTML in target/site/html
	@.make/site.sh

test-packages: deb ## install, use, upgrade and remove the packages in a container with systemd, and run two containers (root; minutes)
	@.make/test-packages.sh

install: maven ## install the extension into PG_CONFIG's PostgreSQL and the endpoint into PREFIX (/usr/local)
	@.make/install.sh

clean: ## stop the servers, remove everything that was built or generated at run time
	@.make/clean.sh
