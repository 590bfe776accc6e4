package dev.kakehashi.rest.server;

/// Limits of the door. Times in milliseconds, sizes in bytes.
///
/// @param headerBytes of a request's line and header together (431)
/// @param headerMillis until a header is whole (408)
/// @param connections open at once, in all; more are closed at once
/// @param connectionsOfAddress open at once from one address; not for Unix sockets
/// @param requestsOfUser handled at once (429)
/// @param idleMillis a connection without a request, a body without a byte (408), a reader who reads nothing
/// @param bodyBytesPerSecond a body has to come with on average (408); 0: any
/// @param bodyGraceMillis before that rate counts
/// @param stopMillis for requests to end when the door closes
/// @param streamsOfConnection of HTTP/2 at once
public record HttpLimits(
    int headerBytes,
    int headerMillis,
    int connections,
    int connectionsOfAddress,
    int requestsOfUser,
    int idleMillis,
    int bodyBytesPerSecond,
    int bodyGraceMillis,
    int stopMillis,
    int streamsOfConnection) {
  public static final HttpLimits DEFAULT =
      new HttpLimits(16 << 10, 10_000, 2_000, 500, 100, 30_000, 1_000, 10_000, 10_000, 100);
}
