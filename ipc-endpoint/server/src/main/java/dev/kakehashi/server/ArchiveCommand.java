package dev.kakehashi.server;

import dev.kakehashi.engine.store.log.ArchiveCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi archive`: looks at an archive of the log. Works on the files, with or without a running endpoint.
@Command(name = "archive", description = "The archive of the log (archive_location).")
final class ArchiveCommand {
  private static final String WHERE =
      "directory of the archive; that of the settings if it is left out";

  @Command(name = "list", description = "Prints the files in the order of the log.")
  int list(
      @Mixin Main.Common common,
      @Parameters(arity = "0..1", paramLabel = "ARCHIVE", description = WHERE)
          @Nullable Path archive)
      throws IOException {
    for (ArchiveCheck.Item each : check(common, archive).list()) {
      System.out.println(
          "%s %10d %s"
              .formatted(each.name(), each.bytes(), each.written() == null ? "" : each.written()));
    }
    return 0;
  }

  @Command(
      name = "verify",
      description =
          "Reads every file: checksums, and that none is missing between others. Exit code 1 if something is wrong.")
  int verify(
      @Mixin Main.Common common,
      @Parameters(arity = "0..1", paramLabel = "ARCHIVE", description = WHERE)
          @Nullable Path archive)
      throws IOException {
    List<String> problems = new ArrayList<>();
    int files = check(common, archive).verify(problems::add);
    problems.forEach(problem -> System.out.println("PROBLEM: " + problem));
    System.out.println(
        "%d files, %s"
            .formatted(
                files,
                problems.isEmpty()
                    ? "no problems"
                    : problems.size() == 1 ? "1 problem" : problems.size() + " problems"));
    return problems.isEmpty() ? 0 : 1;
  }

  @Command(
      name = "remove",
      description =
          "Removes files that were written longer ago than a time. Backups that are older cannot be brought on by the archive any more.")
  int remove(
      @Mixin Main.Common common,
      @Option(
              names = "--keep",
              required = true,
              paramLabel = "TIME",
              description = "what is younger stays, as 14d")
          String keep,
      @Parameters(arity = "0..1", paramLabel = "ARCHIVE", description = WHERE)
          @Nullable Path archive)
      throws IOException {
    Duration kept = Duration.ofNanos(Setting.duration("--keep", keep));
    int files = check(common, archive).remove(kept, System.out::println);
    System.out.println(files == 1 ? "1 file removed" : files + " files removed");
    return 0;
  }

  private static ArchiveCheck check(Main.Common common, @Nullable Path archive) throws IOException {
    if (archive != null) {
      return new ArchiveCheck(archive);
    }
    Settings settings = common.settingsOfOther();
    String location = settings.text(Setting.ARCHIVE_LOCATION);
    if (location.isEmpty()) {
      throw new SettingsException(
          "\"%s\" is empty: name the directory".formatted(Setting.ARCHIVE_LOCATION.key()));
    }
    return new ArchiveCheck(LogArchiveSettings.directory(settings, location));
  }
}
