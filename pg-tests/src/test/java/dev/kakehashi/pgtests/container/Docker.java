package dev.kakehashi.pgtests.container;

import dev.kakehashi.pgtests.harness.Installation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.images.builder.ImageFromDockerfile;

/// Operations of Docker that the container tests need.
final class Docker {
  /// Configuration parameter of JUnit, or system property: with the value `off` no daemon is looked for.
  static final String PARAMETER = "kakehashi.docker";

  private static final Path DOCKERFILES =
      Installation.checkout().resolve("pg-tests/src/test/docker");

  private Docker() {}

  /// Whether a daemon answers; the condition of the tests in this package.
  static boolean available(ExtensionContext context) {
    return !context.getConfigurationParameter(PARAMETER).orElse("on").equals("off")
        && DockerClientFactory.instance().isDockerAvailable();
  }

  /// Whether PostgreSQL of Debian's unstable release could be installed.
  static boolean unstableAvailable(ExtensionContext context) {
    return available(context) && hasImage("kakehashi-test/packages-sid");
  }

  /// Whether PostgreSQL of Debian's experimental packages could be installed on the unstable release.
  static boolean experimentalAvailable(ExtensionContext context) {
    return available(context) && hasImage("kakehashi-test/packages-experimental");
  }

  private static boolean hasImage(String name) {
    return !DockerClientFactory.lazyClient()
        .listImagesCmd()
        .withFilter("reference", List.of(name))
        .exec()
        .isEmpty();
  }

  /// Image of PostgreSQL with the extension, made of an image of Debian. Its layers stay in Docker's cache for the next run.
  static ImageFromDockerfile postgresImage(String base, String suite, int major) {
    return new ImageFromDockerfile("kakehashi-test/postgres-" + suite + "-" + major, false)
        .withFileFromPath("Dockerfile", DOCKERFILES.resolve("postgres.Dockerfile"))
        .withFileFromPath("fdw-extension", Installation.checkout().resolve("fdw-extension"))
        .withBuildArgs(Map.of("BASE", base, "SUITE", suite, "PG", Integer.toString(major)));
  }

  /// Image of the endpoint.
  static ImageFromDockerfile endpointImage(String suite) {
    ImageFromDockerfile image =
        new ImageFromDockerfile("kakehashi-test/endpoint-" + suite, false)
            .withFileFromPath("Dockerfile", DOCKERFILES.resolve("endpoint.Dockerfile"))
            .withBuildArgs(Map.of("SUITE", suite));
    List<Path> files =
        new ArrayList<>(List.of(Installation.endpointJar(), Installation.jvmOptions()));
    Installation.endpointCache().ifPresent(files::add);
    files.forEach(file -> image.withFileFromPath("lib/" + file.getFileName(), file));
    return image;
  }

  /// Release on which the JDK of this host runs: it may need a C library as new as the host's, and Debian 12 has the oldest.
  static String endpointSuite(String wanted) {
    return codename().equals("bookworm") && !wanted.equals("sid") ? wanted : "trixie";
  }

  /// Directories of the host without which its JDK does not run. Debian's keeps its configuration in /etc.
  static List<String> jdkDirectories() {
    try {
      var directories = new ArrayList<String>();
      Path home = Path.of(System.getProperty("java.home")).toRealPath();
      directories.add(home.toString());
      Path security = home.resolve("conf/security/java.security").toRealPath();
      if (!security.startsWith(home)) {
        directories.add(security.getRoot().resolve(security.subpath(0, 2)).toString());
      }
      return directories;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String codename() {
    try {
      return Files.readAllLines(Path.of("/etc/os-release")).stream()
          .filter(line -> line.startsWith("VERSION_CODENAME="))
          .map(line -> line.substring(line.indexOf('=') + 1))
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// A volume in memory that several containers can mount; belongs to the servers' user.
  static String createMemoryVolume(String name, int megabytes) {
    DockerClientFactory.lazyClient()
        .createVolumeCmd()
        .withName(name)
        .withDriver("local")
        .withDriverOpts(
            Map.of(
                "type",
                "tmpfs",
                "device",
                "tmpfs",
                "o",
                "size=" + megabytes + "m,uid=5432,gid=5432,mode=0700"))
        .exec();
    return name;
  }

  static void removeVolume(String name) {
    DockerClientFactory.lazyClient().removeVolumeCmd(name).exec();
  }
}
