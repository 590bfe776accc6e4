ARG SUITE
FROM debian:${SUITE}
ARG SUITE
ARG PG
# The package may want the PostgreSQL of the last security update. An image of debootstrap knows the release alone; unstable has no such updates.
RUN [ ! -f /etc/apt/sources.list ] || [ "$SUITE" = sid ] || sed -n "s|^deb \\([^ ]*\\)/debian/* .*|deb \\1/debian-security $SUITE-security main|p" \
    /etc/apt/sources.list >/etc/apt/sources.list.d/security.list
RUN groupadd -g 5432 postgres && useradd -u 5432 -g postgres -d /var/lib/postgresql -s /bin/bash postgres
# The cluster is made at the first start.
RUN install -d /etc/postgresql-common && echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
COPY postgresql-${PG}-kakehashi-fdw_*.deb /packages/
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends /packages/*.deb \
 && rm -rf /packages /var/lib/apt/lists/*
COPY postgres.sh /usr/local/bin/postgres-main
ENV PG=${PG} PATH=/usr/lib/postgresql/${PG}/bin:/usr/local/bin:/usr/bin:/bin
VOLUME /var/lib/postgresql
USER postgres
CMD ["/usr/local/bin/postgres-main"]
