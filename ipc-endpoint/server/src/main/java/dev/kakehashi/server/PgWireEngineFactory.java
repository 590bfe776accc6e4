package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.EngineLimits;
import dev.kakehashi.pgwire.PgWireConfig;
import dev.kakehashi.pgwire.PgWireEngine;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireSettings;
import dev.kakehashi.protocol.file.ReplacedFile;
import dev.kakehashi.scheduler.TaskScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The engine that is a server of PostgreSQL's protocol.
public final class PgWireEngineFactory implements EngineFactory {
  /// Number of this endpoint among those that use the database, see [PgWireConfig].
  private static final String ENDPOINT_FILE = "pgwire.endpoint";

  @Override
  public String name() {
    return PgWireEngine.NAME;
  }

  @Override
  public Engine open(Settings settings, TaskScheduler scheduler) {
    try {
      return PgWireEngine.open(
          new PgWireConfig(
              addresses(settings.list(Setting.PGWIRE_ADDRESSES)),
              wire(settings),
              new PoolLimits(
                  settings.count(Setting.PGWIRE_CONNECTIONS),
                  settings.duration(Setting.PGWIRE_FAILOVER_WINDOW)),
              new EngineLimits(
                  settings.count(Setting.MAX_TRANSACTIONS),
                  settings.number(Setting.PGWIRE_ROW_LIMIT),
                  settings.number(Setting.PGWIRE_TRANSACTION_LIMIT)),
              nodeIsolation(settings.text(Setting.PGWIRE_NODE_ISOLATION)),
              endpoint(settings.dataDirectory().resolve(ENDPOINT_FILE))));
    } catch (EngineException e) {
      String detail = e.detail().isEmpty() ? "" : " (" + e.detail() + ")";
      throw new SettingsException(
          "engine \"%s\" cannot be used: %s%s".formatted(name(), e.getMessage(), detail));
    }
  }

  private static WireSettings wire(Settings settings) {
    try {
      return new WireSettings(
          settings.text(Setting.PGWIRE_DATABASE),
          settings.text(Setting.PGWIRE_USER),
          path(settings, Setting.PGWIRE_PASSWORD_FILE),
          tls(settings.text(Setting.PGWIRE_TLS)),
          path(settings, Setting.PGWIRE_TLS_AUTHORITY),
          settings.text(Setting.TIME_ZONE),
          settings.duration(Setting.PGWIRE_CONNECT_TIMEOUT),
          settings.duration(Setting.PGWIRE_OPERATION_TIMEOUT),
          settings.duration(Setting.LOCK_TIMEOUT),
          "kakehashi " + settings.text(Setting.INSTANCE));
    } catch (IllegalArgumentException e) {
      throw new SettingsException(
          "%s: set \"%s\"".formatted(e.getMessage(), Setting.PGWIRE_TLS_AUTHORITY.key()));
    }
  }

  private static List<ServerAddress> addresses(List<String> texts) {
    if (texts.isEmpty()) {
      throw new SettingsException("\"%s\" is empty".formatted(Setting.PGWIRE_ADDRESSES.key()));
    }
    try {
      return texts.stream().map(ServerAddress::parse).toList();
    } catch (IllegalArgumentException e) {
      throw new SettingsException(
          "\"%s\": %s".formatted(Setting.PGWIRE_ADDRESSES.key(), e.getMessage()));
    }
  }

  private static @Nullable Path path(Settings settings, Setting setting) {
    String text = settings.text(setting);
    return text.isEmpty() ? null : Path.of(text).toAbsolutePath();
  }

  private static WireSettings.Tls tls(String text) {
    for (WireSettings.Tls each : WireSettings.Tls.values()) {
      if (each.key().equals(text)) {
        return each;
      }
    }
    throw new SettingsException(
        "\"%s\" cannot be \"%s\": it has to be %s"
            .formatted(
                Setting.PGWIRE_TLS.key(),
                text,
                Arrays.stream(WireSettings.Tls.values())
                    .map(WireSettings.Tls::key)
                    .collect(Collectors.joining(", "))));
  }

  private static boolean nodeIsolation(String text) {
    return switch (text) {
      case "refuse" -> false;
      case "accept" -> true;
      default ->
          throw new SettingsException(
              "\"%s\" cannot be \"%s\": it has to be refuse or accept"
                  .formatted(Setting.PGWIRE_NODE_ISOLATION.key(), text));
    };
  }

  /// The number of this data directory, drawn when it is asked for first.
  private static long endpoint(Path file) {
    try {
      if (!Files.exists(file)) {
        long drawn = new SecureRandom().nextLong() >>> 1;
        ReplacedFile.write(file, drawn + "\n");
      }
      return Long.parseLong(Files.readString(file).trim());
    } catch (NumberFormatException e) {
      throw new SettingsException("\"" + file + "\" does not hold a number");
    } catch (IOException e) {
      throw new UncheckedIOException("could not use \"" + file + "\"", e);
    }
  }
}
