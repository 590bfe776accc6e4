package dev.kakehashi.server;

import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.server.standby.PrimaryClient;
import dev.kakehashi.server.standby.StandbyMachine;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Settings of a standby. Stateless.
final class StandbySettings {
  private StandbySettings() {}

  /// The standby that commits wait for; null: none.
  ///
  /// @throws SettingsException if a setting cannot be used
  static @Nullable SynchronousConfig synchronous(Settings settings) {
    String name = settings.text(Setting.SYNCHRONOUS_STANDBY);
    boolean isApplied = isSecond(settings, Setting.SYNCHRONOUS_LEVEL, "stored", "applied");
    boolean isAlone = isSecond(settings, Setting.SYNCHRONOUS_AWAY, "wait", "alone");
    return name.isEmpty()
        ? null
        : new SynchronousConfig(
            name,
            isApplied ? SynchronousConfig.Level.APPLIED : SynchronousConfig.Level.STORED,
            isAlone,
            settings.number(Setting.SYNCHRONOUS_PATIENCE));
  }

  private static boolean isSecond(Settings settings, Setting setting, String one, String other) {
    String text = settings.text(setting);
    if (!text.equals(one) && !text.equals(other)) {
      throw new SettingsException(
          "\"%s\" cannot be \"%s\": it has to be %s or %s"
              .formatted(setting.key(), text, one, other));
    }
    return text.equals(other);
  }

  /// Where the primary is, and as who it is asked.
  ///
  /// @throws SettingsException if a setting cannot be used
  static PrimaryClient.Address address(Settings settings) {
    String text = settings.text(Setting.PRIMARY);
    String password = settings.text(Setting.PRIMARY_PASSWORD_FILE);
    String authority = settings.text(Setting.PRIMARY_TLS_AUTHORITY);
    if (password.isEmpty()) {
      throw new SettingsException("\"%s\" is empty".formatted(Setting.PRIMARY_PASSWORD_FILE.key()));
    }
    return new PrimaryClient.Address(
        uri(text),
        name(settings.text(Setting.STANDBY_NAME)),
        StandbyMachine.of(settings.dataDirectory()),
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
}
