package dev.kakehashi.server.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.server.doctor.Finding.Grade;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Machines whose files of the system say what is wrong.
@SuppressWarnings("NullAway.Init") // set before each test
class HostChecksTest {
  @TempDir private Path root;
  private HostChecks checks;

  @BeforeEach
  void make() {
    checks = new HostChecks(root);
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private Finding only(String subject) {
    var found = checks.findings().stream().filter(each -> each.subject().equals(subject)).toList();
    assertEquals(1, found.size(), checks.findings().toString());
    return found.getFirst();
  }

  private void assertGrade(Grade grade, String subject) {
    Finding finding = only(subject);
    assertEquals(grade, finding.grade(), finding.toString());
    assertEquals(grade == Grade.OK, finding.advice().isEmpty(), "only what is wrong has an advice");
  }

  @Test
  void shouldCompareMemoryWithTheMachine() throws IOException {
    file("proc/meminfo", "MemTotal:        4194304 kB\nMemFree: 1 kB\n");
    checks.memory(25, 1L << 30, 1L << 30);
    assertGrade(Grade.OK, "memory");
    assertGrade(Grade.OK, "java");
  }

  @Test
  void shouldLookAtHugePagesOfTheMemoryThatRowsAreIn() throws IOException {
    file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    file(
        "sys/kernel/mm/transparent_hugepage/shmem_enabled",
        "always within_size advise [never] deny force\n");
    checks.hugePages(false);
    assertGrade(Grade.OK, "huge pages");
    HostChecks shared = new HostChecks(root);
    shared.hugePages(true);
    assertEquals(Grade.WARNING, shared.findings().getFirst().grade());
    HostChecks unknown = new HostChecks(root.resolve("nothing"));
    unknown.hugePages(true);
    assertTrue(unknown.findings().isEmpty(), unknown.findings()::toString);
  }

  @Test
  void shouldCompareMemoryWithTheCgroup() throws IOException {
    file("proc/meminfo", "MemTotal:        4194304 kB\n");
    file("sys/fs/cgroup/memory.max", "1073741824\n");
    checks.memory(21, 1L << 30, 1L << 30);
    assertGrade(Grade.PROBLEM, "memory");
    assertGrade(Grade.PROBLEM, "java");
  }

  @Test
  void shouldTakeACgroupWithoutALimitForNone() throws IOException {
    file("proc/meminfo", "MemTotal:        4194304 kB\n");
    file("sys/fs/cgroup/memory.max", "max\n");
    file("proc/sys/vm/overcommit_memory", "2\n");
    checks.memory(25, 2L << 30, (3L << 30) / 2);
    assertGrade(Grade.WARNING, "memory");
    assertGrade(Grade.WARNING, "overcommit");
  }

  @Test
  void shouldSeeADirectoryThatEverybodyMayChange() throws IOException {
    Path data = Files.createDirectory(root.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxrwxrwx"));
    checks.dataDirectory(data);
    assertGrade(Grade.PROBLEM, "data directory");
  }

  @Test
  void shouldAcceptADirectoryThatIsNotThereYet() {
    checks.dataDirectory(root.resolve("a/b/c"));
    assertGrade(Grade.OK, "data directory");
  }

  @Test
  void shouldSeeAnArchiveThatIsAwayOrOnTheSameDisk() throws IOException {
    Path data = Files.createDirectories(root.resolve("data"));
    checks.archive(null, data);
    assertTrue(checks.findings().isEmpty());
    checks.archive(root.resolve("away"), data);
    assertGrade(Grade.PROBLEM, "archive");
    assertTrue(only("archive").text().contains("is not there"));
    make();
    checks.archive(Files.createDirectories(root.resolve("archive")), data);
    assertGrade(Grade.WARNING, "archive");
    assertTrue(only("archive").advice().contains("disk of the data directory"));
  }

  @Test
  void shouldSeeFewOpenFiles() throws IOException {
    file(
        "proc/self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max open files            1024                 524288               files
        """);
    file("proc/sys/vm/max_map_count", "1000\n");
    checks.limits();
    assertGrade(Grade.PROBLEM, "open files");
    assertGrade(Grade.WARNING, "mappings");
  }

  @Test
  void shouldReadTheWholeNumberOfTheKernel() throws IOException {
    checks = new HostChecks(Path.of("/"));
    checks.limits();
    String kernels;
    try (var reader = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count"))) {
      kernels = reader.readLine();
    }
    assertEquals(kernels + " a process", only("mappings").text());
  }

  @Test
  void shouldWarnOfLogindOnlyWhereItRuns() {
    checks.removeIpc(1000);
    assertTrue(checks.findings().isEmpty());
  }

  @Test
  void shouldWarnOfLogindForAUserWhoIsNoSystemUser() throws IOException {
    file("run/systemd/system/a", "");
    file("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
    checks.removeIpc(1000);
    assertGrade(Grade.WARNING, "RemoveIPC");
  }

  @Test
  void shouldTakeTheLastWordAboutLogind() throws IOException {
    file("run/systemd/system/a", "");
    file("etc/systemd/logind.conf", "[Login]\nRemoveIPC=yes\n");
    file("etc/systemd/logind.conf.d/no.conf", "[Login]\nRemoveIPC=no\n");
    checks.removeIpc(1000);
    assertGrade(Grade.OK, "RemoveIPC");
  }

  @Test
  void shouldSeeASlowClockAndAWrongOne() throws IOException {
    file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    checks.clock(Instant.EPOCH);
    assertGrade(Grade.WARNING, "clock source");
    assertGrade(Grade.PROBLEM, "clock");
  }

  @Test
  void shouldCompareVersionsOfExtensions() throws IOException {
    file("usr/share/postgresql/15/extension/kakehashi_fdw.control", "default_version = '1.0'\n");
    checks.extensions("1.1");
    assertGrade(Grade.PROBLEM, "extension");
  }
}
