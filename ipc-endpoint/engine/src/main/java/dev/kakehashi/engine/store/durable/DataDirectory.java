package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A data directory: `FORMAT` names the version of its format, `log/` has the segments of the log, `log.end` says how far it is durable,
/// `rows/` is the database of the base image, `queues/` has the files of the queues.
///
/// Format 1 had no `log/`: the database's own was the log. Up to format 2 all rows of a table had the same columns
/// ([dev.kakehashi.engine.store.api.Placement]). Up to format 3 the log had no files beside it, up to format 4 no changes of queues and no
/// row locks of prepared transactions, and there was no `queues/`. Up to format 5 states of queues had no header. They are read, and become
/// format 6 before anything is written.
public final class DataDirectory {
  private static final String FORMAT_FILE = "FORMAT";
  private static final String FORMAT = "kakehashi store 6";
  private static final List<String> FORMATS_BEFORE =
      List.of(
          "kakehashi store 1",
          "kakehashi store 2",
          "kakehashi store 3",
          "kakehashi store 4",
          "kakehashi store 5");

  private DataDirectory() {}

  public static Path database(Path directory) {
    return directory.resolve("rows");
  }

  public static Path log(Path directory) {
    return directory.resolve("log");
  }

  public static Path queues(Path directory) {
    return directory.resolve("queues");
  }

  public static Path formatFile(Path directory) {
    return directory.resolve(FORMAT_FILE);
  }

  /// Where a running backup keeps files; nothing there is needed after a crash.
  public static Path backupWorkspace(Path directory) {
    return directory.resolve("backup.tmp");
  }

  /// Makes the directory, or checks that its format is ours.
  public static void prepare(Path directory) {
    Path format = directory.resolve(FORMAT_FILE);
    try {
      Files.createDirectories(directory);
      if (Files.exists(format) || Files.exists(database(directory))) {
        checkFormat(directory);
        Directories.delete(backupWorkspace(directory));
        return;
      }
      // Also where they were made by a start that did not come to its end.
      Directories.forceNames(directory);
      ReplacedFile.write(format, FORMAT + "\n");
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR,
          "could not prepare data directory \"%s\": %s".formatted(directory, e),
          e);
    }
  }

  /// Checks that a directory that is there has a format of ours.
  public static void checkFormat(Path directory) throws IOException {
    Path format = directory.resolve(FORMAT_FILE);
    if (Files.notExists(format)) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "data directory \"%s\" has no file \"%s\"".formatted(directory, FORMAT_FILE));
    }
    // Not as readString, which has nothing to say of bytes that are no characters.
    String found = new String(Files.readAllBytes(format), StandardCharsets.UTF_8).strip();
    if (!found.equals(FORMAT) && !FORMATS_BEFORE.contains(found)) {
      throw new EngineException(
              ErrorCode.DATA_CORRUPTED,
              "data directory \"%s\" has format \"%s\", this version reads \"%s\" to \"%s\""
                  .formatted(directory, found, FORMATS_BEFORE.getFirst(), FORMAT))
          .withHint("Open it with the version that wrote it.");
    }
  }

  /// Notes that an older directory is of our format now.
  public static void upgrade(Path directory) {
    Path format = directory.resolve(FORMAT_FILE);
    try {
      if (!Files.readString(format, StandardCharsets.UTF_8).strip().equals(FORMAT)) {
        ReplacedFile.write(format, FORMAT + "\n");
      }
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR,
          "could not upgrade data directory \"%s\": %s".formatted(directory, e),
          e);
    }
  }
}
