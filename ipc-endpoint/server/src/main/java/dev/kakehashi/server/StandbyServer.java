package dev.kakehashi.server;

import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.engine.store.log.StandbyLog;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.standby.PrimaryClient;
import dev.kakehashi.server.standby.StandbyMark;
import dev.kakehashi.server.standby.StandbyReceiver;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A running standby: data directory, log, the thread that follows the primary, the door for `kakehashi status`. Clients cannot attach.
final class StandbyServer implements AutoCloseable {
  /// Socket that answers with how the standby is, in words.
  static final String FILE = "standby.sock";

  private static final Logger LOG = LoggerFactory.getLogger(StandbyServer.class);
  private final ArrayDeque<AutoCloseable> parts = new ArrayDeque<>();

  private StandbyServer() {}

  /// Whether settings are a standby's.
  static boolean isWanted(Settings settings) {
    return !settings.text(Setting.PRIMARY).isEmpty();
  }

  /// Starts to follow.
  ///
  /// @throws SettingsException when settings cannot be used, or the directory is none of a standby
  static StandbyServer start(Settings settings) throws IOException {
    StandbyServer server = new StandbyServer();
    boolean started = false;
    try {
      server.open(settings);
      started = true;
      return server;
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  private void open(Settings settings) throws IOException {
    Path data = settings.dataDirectory();
    Path runtime = settings.runtimeDirectory();
    PrivateDirectory.prepare(data);
    parts.push(DirectoryLock.take(data, runtime));
    RestoreCommand.refuseUnfinished(data);
    if (!StandbyMark.isSet(data)) {
      throw new SettingsException(
          "\"%s\" is no standby's: make one by \"kakehashi restore --standby\" of a backup of the primary"
              .formatted(data));
    }
    PrimaryClient primary = new PrimaryClient(address(settings));
    parts.push(primary);
    PrivateDirectory.prepare(runtime);
    parts.push(() -> Directories.delete(runtime));
    StandbyLog log =
        StoreRestore.openStandby(
            EmbeddedEngineFactory.storeConfig(
                EmbeddedEngineFactory.storeDirectory(data), settings.number(Setting.MEMORY)));
    parts.push(log);
    StandbyReceiver receiver = new StandbyReceiver(log, primary);
    parts.push(receiver);
    String where = settings.text(Setting.PRIMARY);
    parts.push(
        OwnerSocket.open(
            runtime,
            FILE,
            (client, served) -> {
              try (Writer out =
                  new BufferedWriter(Channels.newWriter(client, StandardCharsets.UTF_8))) {
                out.write(text(where, log, receiver.problem()));
              }
            }));
    LOG.info("standby of {} is ready: data directory {}, log {}", where, data, log.position());
  }

  private static String text(String primary, StandbyLog log, String problem) {
    StandbyLog.State state = log.state();
    StringBuilder text = new StringBuilder("standby of " + primary);
    text.append("\n  log: ").append(state.position());
    text.append("\n  behind: %d bytes".formatted(state.lagBytes()));
    text.append("\n  groups since the start: ").append(state.groups());
    if (state.lastMicros() != 0) {
      text.append("\n  last group of: ")
          .append(Instant.EPOCH.plus(state.lastMicros(), ChronoUnit.MICROS));
    }
    if (!problem.isEmpty()) {
      text.append("\n  not followed: ").append(problem);
    }
    return text.toString();
  }

  /// Asks a running standby how it is.
  static String ask(RuntimeLocation location) throws IOException {
    try (SocketChannel channel = OwnerSocket.connect(location, FILE)) {
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static PrimaryClient.Address address(Settings settings) {
    String text = settings.text(Setting.PRIMARY);
    String password = settings.text(Setting.PRIMARY_PASSWORD_FILE);
    String authority = settings.text(Setting.PRIMARY_TLS_AUTHORITY);
    if (password.isEmpty()) {
      throw new SettingsException("\"%s\" is empty".formatted(Setting.PRIMARY_PASSWORD_FILE.key()));
    }
    return new PrimaryClient.Address(
        uri(text),
        name(settings.text(Setting.STANDBY_NAME)),
        settings.text(Setting.PRIMARY_USER),
        existing(Setting.PRIMARY_PASSWORD_FILE, password),
        authority.isEmpty() ? null : existing(Setting.PRIMARY_TLS_AUTHORITY, authority));
  }

  private static Path existing(Setting setting, String file) {
    Path path = Path.of(file).toAbsolutePath();
    if (!Files.isReadable(path)) {
      throw new SettingsException("\"%s\": \"%s\" cannot be read".formatted(setting.key(), path));
    }
    return path;
  }

  private static URI uri(String text) {
    @Nullable String problem = null;
    try {
      URI uri = URI.create(text);
      boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (isHttp && uri.getHost() != null && uri.getPath().length() <= 1) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      problem = e.getMessage();
    }
    throw new SettingsException(
        "\"%s\" cannot be \"%s\": it has to be as https://host:port%s"
            .formatted(Setting.PRIMARY.key(), text, problem == null ? "" : " (" + problem + ")"));
  }

  private static String name(String configured) {
    if (!configured.isEmpty()) {
      return configured;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      throw new SettingsException(
          "\"%s\" is empty, and the machine's name is not known: %s"
              .formatted(Setting.STANDBY_NAME.key(), e.getMessage()));
    }
  }

  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.error("shutdown: could not close {}", part, e);
      }
    }
  }
}
