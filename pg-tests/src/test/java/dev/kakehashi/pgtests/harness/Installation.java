package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Where the things under test are: what `.make/stage.sh` has put under `.run/`.
///
/// System properties: `kakehashi.root` (checkout, default: parent of the module) and `kakehashi.pgMajor`.
public final class Installation {
  private static final Path ROOT = root();

  private Installation() {}

  private static Path root() {
    String property = System.getProperty("kakehashi.root");
    Path root = property != null ? Path.of(property) : Path.of("").toAbsolutePath().getParent();
    if (root == null || !Files.exists(root.resolve("fdw-extension"))) {
      throw new IllegalStateException("cannot find the checkout: " + root);
    }
    return root;
  }

  /// The checkout.
  public static Path checkout() {
    return ROOT;
  }

  /// Directory that the servers' OS user can read and write; see `prepare_run_dir` in `.make/lib.sh`.
  public static Path runDirectory() {
    try {
      return ROOT.resolve(".run").toRealPath();
    } catch (IOException e) {
      throw notStaged(ROOT.resolve(".run"), e);
    }
  }

  /// The version of the host's PostgreSQL.
  public static int postgresMajor() {
    Integer major = Integer.getInteger("kakehashi.pgMajor");
    if (major == null) {
      throw new IllegalStateException(
          "the system property kakehashi.pgMajor is not set; run the tests with \"make test\"");
    }
    return major;
  }

  /// Binaries of a PostgreSQL that has the extension installed.
  public static Path postgresBinaries() {
    return existing(runDirectory().resolve("pgsql-" + postgresMajor()).resolve("bin"));
  }

  /// The endpoint, with its dependencies inside.
  public static Path endpointJar() {
    return existing(runDirectory().resolve("lib/kakehashi-endpoint.jar"));
  }

  /// Classes of the engine for tests.
  public static Path testEngine() {
    return existing(runDirectory().resolve("lib/test-engine"));
  }

  /// The jar of an application below `examples/`.
  public static Path exampleJar(String name) {
    return existing(runDirectory().resolve("lib/kakehashi-example-" + name + ".jar"));
  }

  /// JVM options of the endpoint, one per line, as `java @file` reads them.
  public static Path jvmOptions() {
    return existing(runDirectory().resolve("lib/jvm.options"));
  }

  /// Java and its options before `-jar` of the endpoint, as users have them: with what `.make/train.sh` has left, where it has run. A start
  /// takes a third of the time then.
  public static List<String> endpointJvm() {
    return jvm(jvmOptions(), endpointCache());
  }

  /// The same before `-jar` of the command-line tools.
  public static List<String> toolsJvm() {
    Path lib = runDirectory().resolve("lib");
    return jvm(existing(lib.resolve("tools.options")), present(lib.resolve("kakehashi-tools.aot")));
  }

  private static List<String> jvm(Path options, Optional<Path> cache) {
    List<String> command = new ArrayList<>(List.of(java().toString(), "@" + options));
    cache.ifPresent(file -> command.add("-XX:AOTCache=" + file));
    return command;
  }

  /// AOT cache of the endpoint that `.make/train.sh` has left.
  public static Optional<Path> endpointCache() {
    return present(runDirectory().resolve("lib/kakehashi-endpoint.aot"));
  }

  private static Optional<Path> present(Path path) {
    return Files.exists(path) ? Optional.of(path) : Optional.empty();
  }

  /// A client in C without PostgreSQL: `kh_ping RUNTIME_DIRECTORY COUNT`.
  public static Path ping() {
    return existing(runDirectory().resolve("lib/kh_ping"));
  }

  public static Path java() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  /// Prefix of a command that makes it run as the OS user of the servers: PostgreSQL refuses to be root.
  public static List<String> asServerUser() {
    if (!"root".equals(System.getProperty("user.name"))) {
      return List.of();
    }
    return asUser(serverUser());
  }

  /// Prefix of a command that makes it run as an OS user with his groups; root only.
  public static List<String> asUser(String user) {
    return List.of("setpriv", "--reuid=" + user, "--regid=" + user, "--init-groups");
  }

  /// OS user of the servers.
  public static String serverUser() {
    String current = System.getProperty("user.name");
    @Nullable String override = System.getenv("KAKEHASHI_OS_USER");
    return "root".equals(current) ? (override != null ? override : "postgres") : current;
  }

  private static Path existing(Path path) {
    if (!Files.exists(path)) {
      throw notStaged(path, null);
    }
    return path;
  }

  private static IllegalStateException notStaged(Path path, @Nullable Throwable cause) {
    return new IllegalStateException(
        path + " does not exist; run \"make build\" and \".make/stage.sh\"", cause);
  }
}
