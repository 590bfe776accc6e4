package dev.kakehashi.queue.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// Files of segments: `<queue>/<first position>.data` and `.index`. Maps of them are guarded by the lock of the queue system; what writes
/// is called without it.
public final class SegmentFiles {
  private static final int MOST_MAPS = 2048;

  final Path directory;

  /// By use: those that nobody has used for long are dropped, and unmapped with their buffers.
  private final Map<TaskSegment, ByteBuffer> dataMaps = maps();

  private final Map<TaskSegment, ByteBuffer> indexMaps = maps();

  public SegmentFiles(Path directory) {
    this.directory = directory;
  }

  private static Map<TaskSegment, ByteBuffer> maps() {
    return new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1L;

      @Override
      protected boolean removeEldestEntry(Map.Entry<TaskSegment, ByteBuffer> eldest) {
        return size() > MOST_MAPS;
      }
    };
  }

  public Path folder(long queueId) {
    return directory.resolve(Long.toString(queueId));
  }

  public Path dataPath(TaskSegment segment) {
    return path(segment, "data");
  }

  public Path indexPath(TaskSegment segment) {
    return path(segment, "index");
  }

  private Path path(TaskSegment segment, String kind) {
    return folder(segment.queueId)
        .resolve(String.format(Locale.ROOT, "%016x.%s", segment.base, kind));
  }

  ByteBuffer data(TaskSegment segment) {
    ByteBuffer map = dataMaps.get(segment);
    if (map == null) {
      map = map(dataPath(segment), segment.bytes, MapMode.READ_ONLY);
      dataMaps.put(segment, map);
    }
    return map;
  }

  ByteBuffer index(TaskSegment segment) {
    ByteBuffer map = indexMaps.get(segment);
    if (map == null) {
      map = map(indexPath(segment), segment.count * TaskSegment.ENTRY, MapMode.READ_WRITE);
      indexMaps.put(segment, map);
    }
    return map;
  }

  private static ByteBuffer map(Path path, int length, MapMode mode) {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() < length) {
        throw new EngineException(
            ErrorCode.DATA_CORRUPTED,
            path + " has " + channel.size() + " bytes, but " + length + " are in use");
      }
      MappedByteBuffer map = channel.map(mode, 0, length);
      return map;
    } catch (IOException e) {
      throw failure("map", path, e);
    }
  }

  /// The segment is gone.
  void forget(TaskSegment segment) {
    dataMaps.remove(segment);
    indexMaps.remove(segment);
  }

  /// Reads a segment that still grows.
  public void load(TaskSegment segment) {
    segment.loaded(
        read(dataPath(segment), segment.bytes),
        read(indexPath(segment), segment.count * TaskSegment.ENTRY));
  }

  private static ByteBuffer read(Path path, int length) {
    ByteBuffer into = ByteBuffer.allocate(length);
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      while (into.hasRemaining()) {
        if (channel.read(into, into.position()) < 0) {
          throw new EngineException(
              ErrorCode.DATA_CORRUPTED,
              path + " has " + into.position() + " bytes, but " + length + " are in use");
        }
      }
    } catch (IOException e) {
      throw failure("read", path, e);
    }
    return into.clear();
  }

  /// Writes bytes at an offset, without making them durable.
  public static void write(Path path, ByteBuffer bytes, long offset) {
    try {
      Path folder = path.getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      try (FileChannel channel =
          FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        long at = offset;
        while (bytes.hasRemaining()) {
          at += channel.write(bytes, at);
        }
      }
    } catch (IOException e) {
      throw failure("write", path, e);
    }
  }

  /// Makes a file's content survive power loss; one that is gone has none.
  public static void sync(Path path) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
      channel.force(true);
    } catch (NoSuchFileException e) {
      throw new EngineException(ErrorCode.DATA_CORRUPTED, path + " is gone", e);
    } catch (IOException e) {
      throw failure("sync", path, e);
    }
  }

  /// Makes the names in a directory survive power loss.
  public static void syncDirectory(Path path) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      throw failure("sync", path, e);
    }
  }

  /// Exception for an error of files.
  public static EngineException failure(String what, Path path, IOException cause) {
    String message = cause.getMessage();
    boolean full =
        message != null
            && (message.contains("No space left") || message.contains("quota exceeded"));
    return new EngineException(
        full ? ErrorCode.DISK_FULL : ErrorCode.IO_ERROR,
        "could not " + what + " " + path + ": " + message,
        cause);
  }
}
