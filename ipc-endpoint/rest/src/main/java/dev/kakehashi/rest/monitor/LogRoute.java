package dev.kakehashi.rest.monitor;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeOutput;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Upgraded;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The route that standbys take the log from: what is behind their position, as soon as there is something.
public final class LogRoute {
  /// Role whose members may have all that is committed, passwords included.
  private static final String ROLE = "kakehashi_replication";

  private static final ContentType LOG = ContentType.of("application/vnd.kakehashi.log");

  /// Protocol of the connection that the log is sent over, see [LogFeed].
  private static final String PROTOCOL = "kakehashi-log";

  private static final int MOST_NAME = 63;
  private static final int BUFFER_BYTES = 64 << 10;

  /// Sends everything that a new standby begins with.
  public interface BaseBackup {
    /// @throws IOException if the client does not take it
    /// @throws dev.kakehashi.engine.api.error.EngineException before the first byte, if there can be none
    void send(OutputStream to) throws IOException;
  }

  private final Users users;
  private final Engine engine;
  private final BaseBackup backup;

  public LogRoute(Users users, Engine engine, BaseBackup backup) {
    this.users = users;
    this.engine = engine;
    this.backup = backup;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/log")
            .parameters("standby", "machine", "log", "from", "applied", "last", "checksum")
            .handle(this::log),
        Route.get("/v1/log/timelines").handle(this::timelines),
        Route.get("/v1/log/backup").parameters("standby").handle(this::backup));
  }

  private void backup(Exchange exchange) throws IOException {
    requireMember(exchange);
    String standby = name(exchange);
    // First: what comes after the backup is there when the standby asks for it.
    engine.keepLogFor(standby);
    exchange.waits();
    Answer answer = new Answer(exchange);
    backup.send(answer);
    answer.end();
  }

  private void timelines(Exchange exchange) throws IOException {
    requireMember(exchange);
    Answer answer = new Answer(exchange);
    answer.write(engine.timelines().getBytes(StandardCharsets.UTF_8));
    answer.end();
  }

  private void requireMember(Exchange exchange) {
    if (!users.isMemberOf(exchange.request().user(), ROLE)) {
      throw Problem.of(
              403,
              "insufficient-privilege",
              "Insufficient privilege",
              "the log is for members of " + ROLE)
          .withSqlstate(ErrorCode.INSUFFICIENT_PRIVILEGE);
    }
  }

  private void log(Exchange exchange) throws IOException {
    requireMember(exchange);
    String standby = name(exchange);
    LogRequest request;
    try {
      request =
          new LogRequest(
              standby,
              required(exchange, "machine"),
              Long.parseUnsignedLong(required(exchange, "log"), 16),
              LogPosition.parse(required(exchange, "from")),
              LogPosition.parse(required(exchange, "applied")),
              last(exchange));
    } catch (IllegalArgumentException e) {
      throw bad(String.valueOf(e.getMessage()));
    }
    if (!exchange.isUpgradeTo(PROTOCOL)) {
      throw Problem.of(
          426,
          "upgrade-required",
          "Upgrade required",
          "the log is sent over \"%s\"".formatted(PROTOCOL));
    }
    LogFeed feed = engine.feed(request);
    exchange.upgrade(
        PROTOCOL,
        new Upgraded.Peer() {
          @Override
          public void run(OutputStream to) throws IOException, InterruptedException {
            feed.run(to);
          }

          @Override
          public void received(ByteBuffer bytes) throws IOException {
            feed.received(bytes);
          }

          @Override
          public void close() {
            feed.close();
          }
        });
  }

  /// Sent at the beginning of a stream.
  private static @Nullable LogFrame last(Exchange exchange) {
    return exchange.request().parameter("last") == null
        ? null
        : new LogFrame(
            LogPosition.parse(required(exchange, "last")),
            Integer.parseUnsignedInt(required(exchange, "checksum"), 16));
  }

  private static String name(Exchange exchange) {
    String standby = required(exchange, "standby");
    if (standby.length() > MOST_NAME || standby.chars().anyMatch(Character::isISOControl)) {
      throw bad("\"standby\" is no name");
    }
    return standby;
  }

  private static String required(Exchange exchange, String name) {
    @Nullable String value = exchange.request().parameter(name);
    if (value == null || value.isEmpty()) {
      throw bad("parameter \"%s\" is missing".formatted(name));
    }
    return value;
  }

  private static Problem bad(String what) {
    return Problem.of(400, "invalid-request", "Invalid request", what)
        .withSqlstate(ErrorCode.INVALID_PARAMETER_VALUE);
  }

  /// The body, which begins with its first bytes: a refusal before that is a problem of its own.
  private static final class Answer extends OutputStream {
    private final Exchange exchange;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int used;
    private @Nullable ExchangeOutput output;

    Answer(Exchange exchange) {
      this.exchange = exchange;
    }

    @Override
    public void write(int value) throws IOException {
      if (used == buffer.length) {
        drain();
      }
      buffer[used++] = (byte) value;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (length > buffer.length - used) {
        drain();
      }
      if (length >= buffer.length) {
        output().write(bytes, offset, length);
      } else {
        System.arraycopy(bytes, offset, buffer, used, length);
        used += length;
      }
    }

    private ExchangeOutput output() {
      ExchangeOutput begun = output;
      if (begun == null) {
        begun = exchange.answer().header("Cache-Control", "no-store").stream(200, LOG);
        output = begun;
      }
      return begun;
    }

    private void drain() throws IOException {
      if (used > 0) {
        output().write(buffer, 0, used);
        used = 0;
      }
    }

    void end() throws IOException {
      drain();
      output().finish();
    }
  }
}
