package dev.kakehashi.server;

import dev.kakehashi.rest.job.JobSettings;
import dev.kakehashi.rest.login.LoginLimits;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpLimits;
import dev.kakehashi.rest.server.HttpListener;
import dev.kakehashi.rest.sql.SqlLimits;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Settings of the HTTP door, as the door takes them. Each call throws [SettingsException] for what cannot be.
final class HttpSettings {
  private static final String OFF = "off";
  private static final int MAX_PORT = 65_535;

  private final Settings settings;

  HttpSettings(Settings settings) {
    this.settings = settings;
  }

  /// Whether there is any listener.
  boolean isOn() {
    return !listeners().isEmpty();
  }

  HttpConfig config() {
    return new HttpConfig(
        listeners(), limits(), new HashSet<>(settings.list(Setting.HTTP_HOSTS)), opensMetrics());
  }

  private List<HttpListener> listeners() {
    List<HttpListener> listeners = new ArrayList<>(3);
    String port = settings.text(Setting.HTTP_PORT);
    if (!port.equals(OFF)) {
      listeners.add(new HttpListener.Loopback(port(Setting.HTTP_PORT, port)));
    }
    String socket = settings.text(Setting.HTTP_SOCKET);
    if (!socket.equals(OFF)) {
      listeners.add(new HttpListener.UnixSocket(Path.of(socket).toAbsolutePath(), mode()));
    }
    String tls = settings.text(Setting.HTTP_TLS);
    if (!tls.equals(OFF)) {
      listeners.add(tls(tls));
    }
    return listeners;
  }

  private static int port(Setting setting, String text) {
    boolean isNumber =
        !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (isNumber && Integer.parseInt(text) <= MAX_PORT) {
      return Integer.parseInt(text);
    }
    throw new SettingsException(
        "\"%s\" cannot be \"%s\": a port is a number from 0 to %d"
            .formatted(setting.key(), text, MAX_PORT));
  }

  private HttpListener.Tls tls(String address) {
    int colon = address.lastIndexOf(':');
    if (colon < 1) {
      throw new SettingsException(
          "\"%s\" cannot be \"%s\": it has to be address:port, or off"
              .formatted(Setting.HTTP_TLS.key(), address));
    }
    String host = address.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    return new HttpListener.Tls(
        host,
        port(Setting.HTTP_TLS, address.substring(colon + 1)),
        required(Setting.HTTP_TLS_CERTIFICATE),
        required(Setting.HTTP_TLS_KEY),
        path(Setting.HTTP_TLS_CLIENT_AUTHORITY),
        choose(Setting.HTTP_TLS_CLIENT_CERTIFICATE, "optional", "required"));
  }

  private @Nullable Path path(Setting setting) {
    String text = settings.text(setting);
    return text.isEmpty() ? null : Path.of(text).toAbsolutePath();
  }

  private Path required(Setting setting) {
    Path path = path(setting);
    if (path == null) {
      throw new SettingsException(
          "\"%s\" needs \"%s\"".formatted(Setting.HTTP_TLS.key(), setting.key()));
    }
    return path;
  }

  /// Whether a setting has the second of two values.
  private boolean choose(Setting setting, String first, String second) {
    String text = settings.text(setting);
    if (!text.equals(first) && !text.equals(second)) {
      throw new SettingsException(
          "\"%s\" cannot be \"%s\": it has to be %s or %s"
              .formatted(setting.key(), text, first, second));
    }
    return text.equals(second);
  }

  private boolean opensMetrics() {
    return choose(Setting.HTTP_METRICS, "role", "everybody");
  }

  /// Whether there is the web console.
  boolean hasConsole() {
    return choose(Setting.HTTP_CONSOLE, "off", "on");
  }

  /// As chmod has it.
  private Set<PosixFilePermission> mode() {
    String text = settings.text(Setting.HTTP_SOCKET_MODE);
    if (!text.matches("0?[0-7]{3}")) {
      throw new SettingsException(
          "\"%s\" cannot be \"%s\": it has to be an octal mode, as 0660"
              .formatted(Setting.HTTP_SOCKET_MODE.key(), text));
    }
    int bits = Integer.parseInt(text, 8);
    Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
    // In the order of the bits, from the highest.
    PosixFilePermission[] all = PosixFilePermission.values();
    for (int i = 0; i < all.length; i++) {
      if ((bits & 1 << (all.length - 1 - i)) != 0) {
        permissions.add(all[i]);
      }
    }
    return permissions;
  }

  private HttpLimits limits() {
    HttpLimits defaults = HttpLimits.DEFAULT;
    return new HttpLimits(
        settings.count(Setting.HTTP_HEADER_BYTES),
        defaults.headerMillis(),
        settings.count(Setting.HTTP_CONNECTIONS),
        settings.count(Setting.HTTP_ADDRESS_CONNECTIONS),
        settings.count(Setting.HTTP_USER_REQUESTS),
        Math.toIntExact(settings.duration(Setting.HTTP_IDLE_TIMEOUT).toMillis()),
        settings.count(Setting.HTTP_BODY_RATE),
        defaults.bodyGraceMillis(),
        defaults.stopMillis(),
        defaults.streamsOfConnection());
  }

  SqlLimits sqlLimits() {
    SqlLimits defaults = SqlLimits.DEFAULT;
    return new SqlLimits(
        settings.count(Setting.HTTP_STATEMENT_BYTES),
        defaults.parameterBytes(),
        defaults.parameterRows(),
        defaults.batchBytes(),
        settings.number(Setting.HTTP_INLINE_BYTES));
  }

  long answerBytes() {
    return settings.number(Setting.HTTP_ANSWER_MEMORY);
  }

  LoginLimits loginLimits() {
    LoginLimits defaults = LoginLimits.DEFAULT;
    return new LoginLimits(
        Math.toIntExact(settings.duration(Setting.HTTP_TOKEN_LIFETIME).toSeconds()),
        defaults.tokensOfUser(),
        defaults.cacheSeconds(),
        defaults.failures(),
        defaults.maxDelaySeconds(),
        defaults.verifications());
  }

  JobSettings jobSettings() {
    JobSettings defaults = JobSettings.defaults();
    return new JobSettings(
        settings.duration(Setting.HTTP_RESULT_RETENTION),
        settings.duration(Setting.HTTP_KEY_RETENTION),
        settings.count(Setting.HTTP_JOBS),
        settings.count(Setting.HTTP_USER_JOBS),
        settings.count(Setting.HTTP_USER_RUNNING_JOBS),
        defaults.keys(),
        defaults.keysPerUser(),
        settings.number(Setting.HTTP_RESULT_SPACE),
        settings.number(Setting.HTTP_USER_RESULT_SPACE),
        settings.number(Setting.HTTP_RESULT_FILE_BYTES));
  }
}
