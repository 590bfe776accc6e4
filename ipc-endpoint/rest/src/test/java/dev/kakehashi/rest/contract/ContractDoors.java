package dev.kakehashi.rest.contract;

import dev.kakehashi.rest.login.LoginLimits;
import dev.kakehashi.rest.server.DoorContent;
import dev.kakehashi.rest.server.FixedUsers;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpDoor;
import dev.kakehashi.rest.server.HttpLimits;
import dev.kakehashi.rest.server.HttpListener;
import dev.kakehashi.rest.server.RawClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// Doors in the states that provoke the documented statuses. Closed by who has opened them.
final class ContractDoors implements AutoCloseable {
  private final ContractJobs jobs;
  private final ContractUploads uploads;
  private final HttpDoor usual;
  private final HttpDoor crowded;
  private final HttpDoor impatient;
  private final HttpDoor unready;

  ContractDoors() throws IOException {
    this.jobs = new ContractJobs();
    this.uploads = new ContractUploads(jobs.jobs());
    this.usual = open(HttpLimits.DEFAULT, "");
    HttpLimits usualLimits = HttpLimits.DEFAULT;
    this.crowded = open(limits(0, usualLimits.idleMillis()), "");
    this.impatient = open(limits(usualLimits.requestsOfUser(), 50), "");
    this.unready = open(usualLimits, "recovery runs");
  }

  private static HttpLimits limits(int requestsOfUser, int idleMillis) {
    HttpLimits d = HttpLimits.DEFAULT;
    return new HttpLimits(
        d.headerBytes(),
        d.headerMillis(),
        d.connections(),
        d.connectionsOfAddress(),
        requestsOfUser,
        idleMillis,
        d.bodyBytesPerSecond(),
        d.bodyGraceMillis(),
        d.stopMillis(),
        d.streamsOfConnection());
  }

  /// Routes of statements come in here, when they are there.
  private HttpDoor open(HttpLimits limits, String obstacle) throws IOException {
    return HttpDoor.start(
        new HttpConfig(List.of(new HttpListener.Loopback(0)), limits, Set.of(), false),
        new DoorContent(
            new FixedUsers(),
            LoginLimits.DEFAULT,
            Stream.concat(jobs.routes().stream(), uploads.routes().stream()).toList(),
            List.of(),
            List.of(jobs.metrics()),
            () -> obstacle,
            "test",
            Map.of()));
  }

  ContractJobs jobs() {
    return jobs;
  }

  ContractUploads uploads() {
    return uploads;
  }

  HttpDoor usual() {
    return usual;
  }

  /// Where a user may have no request at all.
  HttpDoor crowded() {
    return crowded;
  }

  /// Where nobody waits for a body.
  HttpDoor impatient() {
    return impatient;
  }

  /// Where the endpoint is not ready.
  HttpDoor unready() {
    return unready;
  }

  /// Sends one request.
  ///
  /// @param fields of the header, each with its end, with the Host
  /// @param body empty: none
  static RawClient.Answer send(
      HttpDoor door, String method, String path, String fields, String body) throws IOException {
    try (RawClient client = new RawClient(door.uri(0))) {
      String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
      return client
          .send(method + " " + path + " HTTP/1.1\r\n" + fields + length + "\r\n" + body)
          .answer(!method.equals("HEAD"));
    }
  }

  @Override
  public void close() {
    usual.close();
    crowded.close();
    impatient.close();
    unready.close();
    jobs.close();
    uploads.close();
  }
}
