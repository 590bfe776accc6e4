package dev.kakehashi.tools.shell.http;

import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.shell.Link;
import dev.kakehashi.tools.shell.ShellException;
import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of a command that may go over HTTP.
///
/// | who asks | is proved by, the first that is there |
/// |---|---|
/// | the user of a token | `$KAKEHASHI_TOKEN` |
/// | `--user`, else the OS user | `$KAKEHASHI_PASSWORD`; the password file; what is typed at the terminal |
/// | the OS user, on a Unix socket without `--user` | the socket |
public final class HttpOptions {
  private static final String FILE = ".kakehashipass";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "goes over HTTP: http://HOST:PORT, https://HOST:PORT or unix:/PATH instead of the runtime directory")
  private @Nullable String url;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description =
          "lines host:port:user:password, for nobody else to read (default: $KAKEHASHI_PASSFILE, ~/.kakehashipass)")
  private @Nullable Path passwordFile;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description = "trusted certificates (PEM) for https, instead of those of the JVM")
  private @Nullable Path authority;

  public boolean isGiven() {
    return url != null;
  }

  /// @throws ShellException for what cannot be used
  public Link link(Connecting connecting, Link.Manner manner) throws IOException {
    HttpPlace place = HttpPlace.of(String.valueOf(url), authority);
    return new HttpLink(place, authorization(place, connecting), manner);
  }

  private String authorization(HttpPlace place, Connecting connecting) throws IOException {
    @Nullable String token = System.getenv("KAKEHASHI_TOKEN");
    if (token != null && !token.isEmpty()) {
      return "Bearer " + printable(token, "$KAKEHASHI_TOKEN");
    }
    if (place.isUnix() && !connecting.hasUser()) {
      return "";
    }
    String user = connecting.userName();
    String pair = user + ":" + password(place, user);
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static String printable(String token, String source) {
    if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new ShellException(source + " is no token");
    }
    return token;
  }

  @SuppressWarnings("SystemConsoleNull") // since JDK 22 it may be no terminal
  private String password(HttpPlace place, String user) throws IOException {
    @Nullable String given = System.getenv("KAKEHASHI_PASSWORD");
    if (given != null) {
      return given;
    }
    @Nullable String named = System.getenv("KAKEHASHI_PASSFILE");
    Path usual = Path.of(System.getProperty("user.home"), FILE);
    Path file = passwordFile != null ? passwordFile : named != null ? Path.of(named) : usual;
    if (passwordFile != null || Files.exists(file)) {
      @Nullable String found = PasswordFile.find(file, place, user);
      if (found != null) {
        return found;
      }
    }
    @Nullable Console console = System.console();
    if (console != null && console.isTerminal()) {
      char[] typed = console.readPassword("Password for user %s: ", user);
      if (typed != null) {
        return new String(typed);
      }
    }
    throw new ShellException(
        "no password for user \"" + user + "\": set $KAKEHASHI_PASSWORD, or write a password file");
  }
}
