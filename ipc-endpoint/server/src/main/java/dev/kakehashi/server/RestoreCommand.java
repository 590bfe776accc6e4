package dev.kakehashi.server;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.log.ArchiveRestore;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.standby.DirectoryMark;
import dev.kakehashi.valuetext.time.DateTimeFormat;
import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.Zone;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi restore`: makes a data directory of a backup.
@Command(
    name = "restore",
    description = {
      "Makes a data directory of a backup. The directory has to be empty or not to exist. All checksums of the"
          + " backup are verified before anything is written.",
      "With an archive of the log it goes on from the backup to the end of the archive, or to a moment, and begins a new timeline of the log there."
    })
final class RestoreCommand implements Callable<Integer> {
  /// Where the files are until all of them are there: no endpoint starts beside it.
  static final String UNFINISHED = "restore.tmp";

  /// No rows are brought into memory.
  private static final long UNUSED_MEMORY_BYTES = 16 << 20;

  /// The beginning of 2000, from which timestamps count, since 1970.
  private static final long EPOCH_MICROS = 946_684_800_000_000L;

  @Parameters(index = "0", paramLabel = "BACKUP", description = "directory of the backup")
  private @Nullable Path backup;

  @Parameters(index = "1", paramLabel = "DIRECTORY", description = "the new data directory")
  private @Nullable Path directory;

  @Option(
      names = "--from-archive",
      paramLabel = "ARCHIVE",
      description = "directory of an archive (archive_location)")
  private @Nullable Path archive;

  @Option(
      names = "--to-time",
      paramLabel = "TIME",
      description =
          "restores what was committed until then, as '2026-11-28 12:00:00+00'; without a zone it is UTC")
  private @Nullable String time;

  @Option(
      names = "--to-position",
      paramLabel = "POSITION",
      description = "restores what ends at a position of the log or before, as 1/2a/1f40")
  private @Nullable String position;

  @Option(
      names = "--standby",
      description =
          "makes the directory of a standby, which follows the endpoint that the backup is of (setting primary)")
  private boolean isStandby;

  @Override
  public Integer call() throws IOException {
    if (isStandby && archive != null) {
      throw new SettingsException("--standby and --from-archive exclude each other");
    }
    ArchiveRestore.Target target = target();
    Path from = Objects.requireNonNull(backup);
    Path data = Objects.requireNonNull(directory);
    Optional<DirectoryLock.Owner> owner = DirectoryLock.owner(data);
    if (owner.isPresent()) {
      throw new SettingsException(
          "an endpoint runs on \"%s\" (process %d)".formatted(data, owner.get().pid()));
    }
    refuseUnfinished(data);
    if (!Directories.isEmpty(data)) {
      throw new SettingsException("\"" + data + "\" is not empty");
    }
    BackupManifest manifest = BackupManifest.read(from);
    List<String> problems = manifest.verify(from);
    if (!problems.isEmpty()) {
      throw new SettingsException(
          "backup \"%s\" is damaged: %s".formatted(from, String.join("; ", problems)));
    }
    PrivateDirectory.prepare(data);
    try (DirectoryLock _ = DirectoryLock.take(data)) {
      ArchiveRestore.Result result = restore(from, manifest, data, target);
      System.out.println(
          "restored the backup of %s: %d files, %d bytes"
              .formatted(manifest.moment(), manifest.entries().size(), manifest.bytes()));
      if (result != null) {
        System.out.println(
            "applied %d %s of the archive, up to %s (%s); the log goes on at %s"
                .formatted(
                    result.groups(),
                    result.groups() == 1 ? "group" : "groups",
                    result.end(),
                    time(result.micros()),
                    result.begin()));
      }
    }
    return 0;
  }

  /// @throws SettingsException if the options cannot be read, or do not fit
  private ArchiveRestore.Target target() {
    if (archive == null && (time != null || position != null)) {
      throw new SettingsException("--to-time and --to-position need --from-archive");
    }
    try {
      return new ArchiveRestore.Target(
          time == null ? Long.MAX_VALUE : micros(time),
          position == null ? null : LogPosition.parse(position));
    } catch (IllegalArgumentException | ArithmeticException | EngineException e) {
      throw new SettingsException(String.valueOf(e.getMessage()));
    }
  }

  private static long micros(String text) {
    long micros = DateTimeInput.timestamptz(text, Zone.UTC, RestoreCommand::now);
    return Math.addExact(micros, EPOCH_MICROS);
  }

  private static long now() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) - EPOCH_MICROS;
  }

  private static String time(long micros) {
    return micros == 0
        ? "at an unknown time"
        : DateTimeFormat.timestamptz(micros - EPOCH_MICROS, Zone.UTC);
  }

  /// Refuses a directory in which a restore was killed: what is there besides may be a part of the backup, or nothing at all.
  ///
  /// @throws SettingsException if there is one
  static void refuseUnfinished(Path data) {
    if (Files.exists(data.resolve(UNFINISHED))) {
      throw new SettingsException(
          "\"%s\" has a restore that was not finished (\"%s\"): remove its content and restore again"
              .formatted(data, UNFINISHED));
    }
  }

  /// A directory under way: it has its mark from the beginning on, and no endpoint starts there until that is gone. Used by one thread.
  static final class Unfinished implements AutoCloseable {
    private final Path data;
    private final Path directory;
    private boolean isPartly;

    Unfinished(Path data) {
      this.data = data;
      this.directory = data.resolve(UNFINISHED);
    }

    /// The mark, in which there is room for what comes.
    Path directory() {
      return directory;
    }

    /// Gives the parts of a directory that is whole their places.
    void moveIn(Path whole) throws IOException {
      BackupManifest.forceTree(whole);
      // The mark is there before any of the parts.
      Directories.forceNames(data);
      Directories.force(data);
      isPartly = true;
      try (var parts = Files.list(whole)) {
        for (Path part : parts.toList()) {
          Files.move(
              part, data.resolve(part.getFileName().toString()), StandardCopyOption.ATOMIC_MOVE);
        }
      }
      Directories.force(data);
      isPartly = false;
    }

    /// Removes the mark, unless a part of the whole has its place, and others have not.
    @Override
    public void close() throws IOException {
      if (!isPartly) {
        Directories.delete(directory);
        Directories.force(data);
      }
    }
  }

  /// Deletes what an unfinished restore has left; its mark goes last.
  static void deleteContent(Path data) throws IOException {
    try (var parts = Files.list(data)) {
      for (Path part : parts.filter(each -> !each.endsWith(UNFINISHED)).toList()) {
        Directories.delete(part);
      }
    }
    Directories.force(data);
    Directories.delete(data.resolve(UNFINISHED));
  }

  /// @return what the archive has added; null: there is none
  private ArchiveRestore.@Nullable Result restore(
      Path from, BackupManifest manifest, Path data, ArchiveRestore.Target target)
      throws IOException {
    ArchiveRestore.Result result = null;
    try (Unfinished restore = new Unfinished(data)) {
      Path unfinished = restore.directory();
      for (BackupManifest.Entry entry : manifest.entries()) {
        BackupManifest.Entry copied =
            BackupManifest.copy(
                from.resolve(entry.path()), entry.bytes(), unfinished, entry.path());
        if (!copied.equals(entry)) {
          throw new IOException("\"%s\" has changed meanwhile".formatted(entry.path()));
        }
      }
      StoreConfig store =
          EmbeddedEngineFactory.storeConfig(
              EmbeddedEngineFactory.storeDirectory(unfinished), UNUSED_MEMORY_BYTES);
      if (archive != null) {
        result = StoreRestore.run(store, archive, target);
      } else if (isStandby) {
        AutoSettings.leaveOutPrimarys(unfinished, null)
            .forEach(setting -> System.out.println("left out, as it is the primary's: " + setting));
        DirectoryMark.STANDBY.set(unfinished);
      } else {
        // The endpoint that the backup is of may go on with the old one.
        StoreRestore.leaveTimeline(store);
      }
      restore.moveIn(unfinished);
    }
    return result;
  }
}
