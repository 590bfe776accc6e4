package dev.kakehashi.engine.store.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Looks at the files of an archive, for people: lists, verifies, removes. Stateless.
public final class ArchiveCheck {
  private final ArchiveDirectory archive;

  /// A file of an archive.
  ///
  /// @param name of the file
  /// @param written when; null: it was not looked at, as that of a side file
  public record Item(String name, long bytes, @Nullable Instant written) {}

  public ArchiveCheck(Path directory) {
    archive = new ArchiveDirectory(directory);
  }

  /// Its files in the order of the log.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  public List<Item> list() throws IOException {
    List<Item> found = new ArrayList<>();
    for (ArchiveDirectory.Name each : archive.list()) {
      found.add(
          new Item(
              String.valueOf(each.path().getFileName()),
              Files.size(each.path()),
              each.isSide()
                  ? null
                  : Instant.ofEpochMilli(ArchiveFile.read(each.path()).file().writtenMillis())));
    }
    return found;
  }

  /// Reads every file.
  ///
  /// @param problem gets what is wrong, naming the file
  /// @return number of files
  public int verify(Consumer<String> problem) throws IOException {
    int count = 0;
    ArchiveFile before = null;
    ArchiveDirectory.Name nameBefore = null;
    for (ArchiveDirectory.Name name : archive.list()) {
      count++;
      if (name.isSide()) {
        continue;
      }
      ArchiveFile file = null;
      try {
        file = ArchiveFile.read(name.path()).file();
        boolean isNext =
            nameBefore != null
                && nameBefore.timeline() == name.timeline()
                && nameBefore.segment() + 1 == name.segment();
        if (nameBefore != null && nameBefore.timeline() == name.timeline() && !isNext) {
          problem.accept(
              nameBefore.segment() == name.segment()
                  ? "file \"%s\" is there beside the whole segment".formatted(name.path())
                  : String.valueOf(
                      ArchiveRestore.missing(
                              archive.whole(name.timeline(), nameBefore.segment() + 1))
                          .getMessage()));
        }
        require(file, name, timelineOf(name, file), isNext ? before : null);
        for (ArchiveFile.Side side : file.sideFiles()) {
          require(archive.side(name.timeline(), name.segment(), side.number()), side);
        }
      } catch (dev.kakehashi.engine.api.error.EngineException e) {
        problem.accept(String.valueOf(e.getMessage()));
      }
      before = file;
      nameBefore = name;
    }
    return count;
  }

  private LogFormat timelineOf(ArchiveDirectory.Name name, ArchiveFile file) throws IOException {
    Timelines timelines = archive.read(name.timeline());
    if (timelines == null) {
      throw ArchiveDirectory.missing(archive.timeline(name.timeline()));
    }
    return timelines.current().number() == name.timeline()
        ? timelines.current().format()
        : file.format();
  }

  /// Removes files that were written longer ago than some time. The last segment of a timeline stays, and what is behind a file that stays.
  ///
  /// @param removed gets the names
  public int remove(Duration keep, Consumer<String> removed) throws IOException {
    Instant limit = Instant.now().minus(keep);
    List<ArchiveDirectory.Name> all = archive.list();
    int count = 0;
    for (int timeline : archive.timelines()) {
      List<ArchiveDirectory.Name> own =
          all.stream().filter(each -> each.timeline() == timeline).toList();
      long first = own.stream().mapToLong(ArchiveDirectory.Name::segment).max().orElse(0);
      for (ArchiveDirectory.Name each : own) {
        if (each.isWhole()
            && !Instant.ofEpochMilli(ArchiveFile.read(each.path()).file().writtenMillis())
                .isBefore(limit)) {
          first = Math.min(first, each.segment());
        }
      }
      for (ArchiveDirectory.Name each : own) {
        if (each.segment() < first) {
          Files.delete(each.path());
          removed.accept(String.valueOf(each.path().getFileName()));
          count++;
        }
      }
    }
    return count;
  }

  /// Refuses a file that is not what its name says, or does not follow the one before.
  ///
  /// @param before null: it is the first that is looked at
  static void require(
      ArchiveFile file,
      ArchiveDirectory.Name name,
      LogFormat format,
      @Nullable ArchiveFile before) {
    if (file.timeline() != name.timeline()
        || file.segment() != name.segment()
        || file.isWhole() != name.isWhole()
        || !file.format().equals(format)) {
      throw ArchiveFile.damaged(name.path(), "it is the file of another segment or log");
    }
    if (before != null && !Arrays.equals(file.before(), before.digest())) {
      throw ArchiveFile.damaged(
          name.path(),
          file.beginsAgain()
              ? "the archive begins again with it"
              : "it was not made behind the file before it");
    }
  }

  /// Refuses a side file that is missing or damaged.
  static void require(Path path, ArchiveFile.Side side) throws IOException {
    if (Files.notExists(path)) {
      throw ArchiveDirectory.missing(path);
    }
    if (Files.size(path) != side.bytes()
        || !Arrays.equals(ArchiveFile.digest(path), side.digest())) {
      throw ArchiveFile.damaged(path, "its checksum does not hold");
    }
  }
}
