ARG BASE
FROM ${BASE}
# OS users are known by their numbers, which have to be the same in both containers.
RUN groupadd -g 5432 postgres && useradd -u 5432 -g postgres -d /var/lib/postgresql -s /bin/bash postgres \
 && groupadd -g 5433 kakehashi && useradd -u 5433 -g kakehashi -d /var/lib/kakehashi kakehashi
COPY kakehashi-server_*.deb kakehashi-client_*.deb kakehashi-runtime_*.deb /packages/
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends /packages/*.deb \
 && rm -rf /packages /var/lib/apt/lists/* \
 && install -d -o kakehashi -g kakehashi -m 0700 /var/lib/kakehashi
# The loopback port is for the health check; it is not reached from outside.
RUN printf 'http_port = 8080\n' >>/etc/kakehashi/kakehashi.conf
COPY healthy /usr/local/bin/healthy
VOLUME /var/lib/kakehashi
USER kakehashi
CMD ["kakehashi", "start", "--config", "/etc/kakehashi/kakehashi.conf"]
