package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Options of commands that attach to an endpoint.
public final class Connecting {
  @Option(
      names = {"-R", "--runtime-directory"},
      paramLabel = "DIRECTORY",
      defaultValue = "${env:KAKEHASHI_RUNTIME_DIR}",
      description = "runtime directory of the endpoint (default: $KAKEHASHI_RUNTIME_DIR)")
  private @Nullable Path runtimeDirectory;

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(
      names = "--requirepeer",
      paramLabel = "USER",
      description =
          "OS user, by name or number, that the endpoint has to run as (default: our own)")
  private String requiredPeer = "";

  @Option(
      names = {"-U", "--user"},
      paramLabel = "NAME",
      description =
          "user of the engine (default: the OS user); its password is in $KAKEHASHI_PASSWORD")
  private @Nullable String user;

  /// @throws ParameterException it was not given
  public Path runtimeDirectory() {
    Path given = runtimeDirectory;
    if (given == null) {
      throw Missing.directory(Objects.requireNonNull(command));
    }
    return given;
  }

  /// Apart, so that who has given it needs nothing of the library for arguments.
  private static final class Missing {
    static ParameterException directory(CommandSpec command) {
      return new ParameterException(
          command.commandLine(), "Missing required option: '--runtime-directory=DIRECTORY'");
    }
  }

  /// Takes what was given without the library for arguments.
  ///
  /// @param directory null: the environment's
  /// @param name null: the OS user
  /// @return false: no runtime directory is known
  public boolean take(@Nullable String directory, @Nullable String name) {
    String given = directory == null ? System.getenv("KAKEHASHI_RUNTIME_DIR") : directory;
    if (given == null || given.isEmpty()) {
      return false;
    }
    runtimeDirectory = Path.of(given);
    user = name;
    return true;
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
        AttachOptions.of(runtimeDirectory())
            .withRequirePeer(requiredPeer)
            .withApplicationName(application);
    if (user == null) {
      return Session.attach(options);
    }
    @Nullable String password = System.getenv("KAKEHASHI_PASSWORD");
    return Session.attach(options.withUser(user, password == null ? "" : password));
  }
}
