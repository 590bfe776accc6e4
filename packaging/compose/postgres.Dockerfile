ARG BASE
FROM ${BASE}
ARG PG
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
