package dev.kakehashi.engine.store.check;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A copy of the files of queues for a check: queues change their files when they are opened, and a check changes nothing. It takes as much
/// room among the temporary files of the system. Confined to one thread.
public final class QueueCopy implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(QueueCopy.class);

  private final Path directory;

  private QueueCopy(Path directory) {
    this.directory = directory;
  }

  /// @param queues may be missing: there were none yet
  public static QueueCopy of(Path queues) throws IOException {
    QueueCopy copy = new QueueCopy(Files.createTempDirectory("kakehashi-check"));
    boolean complete = false;
    try {
      if (Files.exists(queues)) {
        copy.fill(queues);
      }
      complete = true;
      return copy;
    } finally {
      if (!complete) {
        copy.close();
      }
    }
  }

  private void fill(Path queues) throws IOException {
    try (Stream<Path> files = Files.walk(queues)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path target = directory.resolve(queues.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /// Opens the copy.
  public QueueSystem open(QueueOpener opener) {
    try {
      return opener.open(directory);
    } catch (UncheckedIOException e) {
      throw new EngineException(
          ErrorCode.IO_ERROR, "could not open the queues: " + e.getCause(), e);
    }
  }

  /// After the queues were closed.
  @Override
  public void close() {
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      LOG.warn("could not remove \"{}\"", directory, e);
    }
  }
}
