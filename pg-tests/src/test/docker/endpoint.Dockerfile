# The endpoint on a Debian release. The JDK is the host's, mounted at its own path. Argument: SUITE (bookworm, trixie).
ARG SUITE
FROM debian:${SUITE}
RUN groupadd -g 5432 postgres && useradd -u 5432 -g postgres -d /var/lib/kakehashi -m postgres
COPY lib /opt/kakehashi
USER postgres
