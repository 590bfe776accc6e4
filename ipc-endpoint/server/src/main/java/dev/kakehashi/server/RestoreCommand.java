package dev.kakehashi.server;

import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `kakehashi restore`: makes a data directory of a backup.
@Command(
    name = "restore",
    description =
        "Makes a data directory of a backup. The directory has to be empty or not to exist. All checksums of the"
            + " backup are verified before anything is written.")
final class RestoreCommand implements Callable<Integer> {
  /// Where the files are until all of them are there: no endpoint starts beside it.
  static final String UNFINISHED = "restore.tmp";

  @Parameters(index = "0", paramLabel = "BACKUP", description = "directory of the backup")
  private @Nullable Path backup;

  @Parameters(index = "1", paramLabel = "DIRECTORY", description = "the new data directory")
  private @Nullable Path directory;

  @Override
  public Integer call() throws IOException {
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
      restore(from, manifest, data);
    }
    System.out.println(
        "restored the backup of %s: %d files, %d bytes"
            .formatted(manifest.begun(), manifest.entries().size(), manifest.bytes()));
    return 0;
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

  private static void restore(Path from, BackupManifest manifest, Path data) throws IOException {
    Path unfinished = data.resolve(UNFINISHED);
    try {
      for (BackupManifest.Entry entry : manifest.entries()) {
        BackupManifest.Entry copied =
            BackupManifest.copy(
                from.resolve(entry.path()), entry.bytes(), unfinished, entry.path());
        if (!copied.equals(entry)) {
          throw new IOException("\"%s\" has changed meanwhile".formatted(entry.path()));
        }
      }
      BackupManifest.forceTree(unfinished);
      // The mark of a restore under way is there before any of its parts.
      Directories.forceNames(data);
      Directories.force(data);
      try (var parts = Files.list(unfinished)) {
        for (Path part : parts.toList()) {
          Files.move(
              part, data.resolve(part.getFileName().toString()), StandardCopyOption.ATOMIC_MOVE);
        }
      }
      Directories.force(data);
    } finally {
      Directories.delete(unfinished);
      Directories.force(data);
    }
  }
}
