package dev.kakehashi.server;

import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.server.doctor.Finding;
import dev.kakehashi.server.doctor.HostChecks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `kakehashi doctor`: looks for what commonly goes wrong.
@Command(
    name = "doctor",
    description = {
      "Looks at this machine for what commonly goes wrong, and says what to do: Java, memory, directories, limits, logind's RemoveIPC, the clock, versions."
          + " Give it the settings of the endpoint, and run it as the endpoint's user.",
      "Exit code 0: no problem was found; 1: one was."
    })
final class DoctorCommand implements Callable<Integer> {
  /// Version of the extension that belongs to this endpoint.
  static final String EXTENSION_VERSION = "1.1";

  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Option(
      names = {"-q", "--quiet"},
      description = "prints what is not as it should be only")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settingsOfOther();
    Path data = settings.dataDirectory();
    DirectoryLock.@Nullable Owner owner = DirectoryLock.owner(data).orElse(null);
    HostChecks checks = new HostChecks(Path.of("/"));
    checks.memory(
        Runtime.version().feature(),
        Runtime.getRuntime().maxMemory(),
        settings.number(Setting.MEMORY));
    checks.hugePages(EmbeddedEngineFactory.isOn(settings, Setting.DIRECT_READS));
    checks.dataDirectory(data);
    checks.runtimeDirectory(
        owner == null
            ? settings.runtimeDirectory()
            : owner.runtimeDirectory(settings.runtimeDirectory()));
    ArchiveConfig archive = LogArchiveSettings.of(settings);
    checks.archive(archive == null ? null : archive.directory(), data);
    checks.limits();
    checks.removeIpc(((Number) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).longValue());
    checks.clock(Instant.now());
    checks.extensions(EXTENSION_VERSION);
    checks.endpoint(
        data, owner == null ? null : owner.pid(), owner == null ? Duration.ZERO : age(owner.pid()));
    boolean problem = false;
    for (Finding each : checks.findings()) {
      problem |= each.grade() == Finding.Grade.PROBLEM;
      if (!quiet || each.grade() != Finding.Grade.OK) {
        print(each);
      }
    }
    return problem ? 1 : 0;
  }

  private static Duration age(long pid) {
    return ProcessHandle.of(pid)
        .flatMap(each -> each.info().startInstant())
        .map(begin -> Duration.between(begin, Instant.now()))
        .orElse(Duration.ZERO);
  }

  private static void print(Finding finding) {
    System.out.printf(
        Locale.ROOT,
        "%-8s %-18s %s%n",
        finding.grade().name().toLowerCase(Locale.ROOT),
        finding.subject(),
        finding.text());
    if (!finding.advice().isEmpty()) {
      System.out.printf(Locale.ROOT, "%-8s %-18s %s%n", "", "", finding.advice());
    }
  }
}
