# PostgreSQL of a Debian release, with the extension compiled for it. Arguments: BASE (debian:sid), SUITE (bookworm, trixie, sid),
# PG (15, 17, 18, 19).
ARG BASE
FROM ${BASE} AS packages
ARG SUITE
ARG PG
# A mirror of unstable that is some days behind will do.
RUN [ "${SUITE}" != sid ] || echo 'Acquire::Check-Valid-Until "false";' >/etc/apt/apt.conf.d/90late-mirror
# The same number in every container: to the endpoint an OS user is a principal.
RUN groupadd -g 5432 postgres && useradd -u 5432 -g postgres -d /var/lib/postgresql postgres
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
    postgresql-${PG} postgresql-server-dev-${PG} libicu-dev gcc make libc6-dev

FROM packages
ARG PG
COPY fdw-extension /src
# Objects of the host are of another PostgreSQL. Bitcode would only be inlined by the JIT.
RUN make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no clean \
 && make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no \
    COPT="-Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers" all \
 && make -s -C /src PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config with_llvm=no install \
 && ln -s /usr/lib/postgresql/${PG}/lib/pgxs/src/test/regress/pg_regress /usr/lib/postgresql/${PG}/bin /opt
USER postgres
RUN /usr/lib/postgresql/${PG}/bin/initdb -D /var/lib/postgresql/test -U postgres --auth=trust --locale=C.UTF-8 --no-sync >/dev/null \
 && echo 'host all all all trust' >> /var/lib/postgresql/test/pg_hba.conf \
 && ln -s /usr/lib/postgresql/${PG}/bin/postgres /var/lib/postgresql/server
EXPOSE 5432
CMD ["/var/lib/postgresql/server", "-D", "/var/lib/postgresql/test", "-c", "listen_addresses=*", "-c", "max_prepared_transactions=10", "-c", "fsync=off"]
