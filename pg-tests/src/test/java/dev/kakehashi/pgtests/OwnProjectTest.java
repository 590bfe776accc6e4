package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A project of Maven outside of the checkout finds API and test kit in the repository of `make maven`, and its tests pass.
class OwnProjectTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path home;

  @Test
  void shouldBuildAndTestAProjectOutsideOfTheCheckout() throws IOException {
    Path repository = Installation.checkout().resolve("target/maven");
    assertTrue(Files.isDirectory(repository), "make maven has made " + repository);
    Path project = home.resolve("visits");
    OsProcess.runOkAsSelf(
        List.of(
            "cp",
            "-r",
            Installation.checkout().resolve("examples/own-project").toString(),
            project.toString()),
        LIMIT);
    OsProcess.runOkAsSelf(
        List.of(
            "env",
            "JAVA_HOME=" + System.getProperty("java.home"),
            System.getenv().getOrDefault("MVN", "mvn"),
            "-B",
            "-ntp",
            "-f",
            project.resolve("pom.xml").toString(),
            "-Dkakehashi.repository=" + repository,
            "package"),
        LIMIT);
    assertTrue(Files.size(project.resolve("target/visits-1.jar")) > 0);
    try (Stream<Path> reports = Files.list(project.resolve("target/surefire-reports"))) {
      assertEquals(
          1,
          reports
              .filter(each -> each.toString().endsWith("VisitsTest.txt"))
              .filter(
                  each -> text(each).contains("Tests run: 2, Failures: 0, Errors: 0, Skipped: 0"))
              .count());
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
