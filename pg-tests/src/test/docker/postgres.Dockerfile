# PostgreSQL of a Debian release, with the extension compiled for it. Arguments: SUITE (bookworm, trixie), PG (15, 17).
ARG SUITE
FROM debian:${SUITE} AS build
ARG PG
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
    postgresql-server-dev-${PG} libicu-dev gcc make libc6-dev
COPY fdw-extension /src
# Objects of the host are of another PostgreSQL. Bitcode would only be inlined by the JIT.
RUN make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no clean \
 && make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no all \
 && make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no DESTDIR=/out install

FROM debian:${SUITE}
ARG PG
# The same number in every container: to the endpoint an OS user is a principal.
RUN groupadd -g 5432 postgres && useradd -u 5432 -g postgres -d /var/lib/postgresql postgres
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends postgresql-${PG}
COPY --from=build /out /
USER postgres
RUN /usr/lib/postgresql/${PG}/bin/initdb -D /var/lib/postgresql/test -U postgres --auth=trust --locale=C.UTF-8 --no-sync >/dev/null \
 && echo 'host all all all trust' >> /var/lib/postgresql/test/pg_hba.conf \
 && ln -s /usr/lib/postgresql/${PG}/bin/postgres /var/lib/postgresql/server
EXPOSE 5432
CMD ["/var/lib/postgresql/server", "-D", "/var/lib/postgresql/test", "-c", "listen_addresses=*"]
