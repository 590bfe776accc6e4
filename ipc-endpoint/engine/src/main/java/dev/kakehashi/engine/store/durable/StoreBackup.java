package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.LogPosition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The files of a store: those of its log, and the one that names its format.
///
/// @param ended runs when it is closed
public record StoreBackup(Backup log, Path format, Runnable ended) implements Backup {
  @Override
  public List<File> changingFiles() {
    return log.changingFiles();
  }

  @Override
  public List<File> files() {
    List<File> files = new ArrayList<>(log.files());
    try {
      files.add(new File(format, Files.size(format), format.getFileName().toString()));
    } catch (IOException e) {
      throw new UncheckedIOException("could not read \"" + format + "\"", e);
    }
    return files;
  }

  @Override
  public @Nullable LogPosition position() {
    return log.position();
  }

  @Override
  public void close() {
    try {
      log.close();
    } finally {
      ended.run();
    }
  }
}
