package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of commands that attach to an endpoint.
public final class Connecting {
  @Option(
      names = {"-R", "--runtime-directory"},
      paramLabel = "DIRECTORY",
      description =
          "runtime directory of the endpoint (default: $KAKEHASHI_RUNTIME_DIR, or what client.conf says)")
  private @Nullable Path runtimeDirectory;

  @Option(
      names = "--requirepeer",
      paramLabel = "USER",
      description =
          "OS user, by name or number, that the endpoint has to run as (default: $KAKEHASHI_REQUIREPEER, or what client.conf says, or our own)")
  private String requiredPeer = "";

  @Option(
      names = {"-U", "--user"},
      paramLabel = "NAME",
      description =
          "user of the engine (default: the OS user); its password is in $KAKEHASHI_PASSWORD")
  private @Nullable String user;

  /// Takes what was given without the library for arguments.
  ///
  /// @param directory null: none
  /// @param name null: the OS user
  public void take(@Nullable String directory, @Nullable String name) {
    runtimeDirectory = directory == null ? null : Path.of(directory);
    user = name;
  }

  /// Where the endpoint is.
  ///
  /// @throws dev.kakehashi.client.EndpointException 08001 when nothing says which one is meant
  public Path runtimeDirectory() {
    return AttachOptions.usual(runtimeDirectory, requiredPeer).runtimeDirectory();
  }

  /// Whether a user was named.
  public boolean hasUser() {
    return user != null;
  }

  /// The user of the engine.
  public String userName() {
    return user == null ? System.getProperty("user.name") : user;
  }

  /// A new session.
  public Session attach(String application) {
    AttachOptions options =
        AttachOptions.usual(runtimeDirectory, requiredPeer).withApplicationName(application);
    if (user == null) {
      return Session.attach(options);
    }
    @Nullable String password = System.getenv("KAKEHASHI_PASSWORD");
    return Session.attach(options.withUser(user, password == null ? "" : password));
  }
}
