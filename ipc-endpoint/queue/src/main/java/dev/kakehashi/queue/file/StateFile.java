package dev.kakehashi.queue.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.RecordFile;
import dev.kakehashi.protocol.file.RecordFileException;
import dev.kakehashi.protocol.file.RecordFileReader;
import dev.kakehashi.protocol.file.RecordKind;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;

/// States of all queues, as of one change of the log: `state-<generation>`.
///
/// A file of records ([RecordFile]): kind (byte), queue (long), bytes; numbers have the most significant byte first. Records behind the
/// last [#COMMIT] do not count, so a state is there for all queues or for none. A file with too much of the past is written anew, as the
/// next generation. Confined to the thread that forces.
///
/// Files of format 5 and before have no header, and in front of a record length (int) and checksum (int). They are read, and the first
/// write begins the next generation.
public final class StateFile {
  private static final String PREFIX = "state-";
  private static final int STATE = 1;
  private static final int DROPPED = 2;

  /// Its number is the last change of the log that the states have.
  private static final int COMMIT = 3;

  /// Bytes of a record before the state.
  private static final int PREFIX_BYTES = 9;

  private static final int MOST_BYTES = 1 << 30;
  private static final RecordKind KIND = new RecordKind("QSTA", 1, MOST_BYTES, "state of queues");

  private final Path directory;
  private long generation = -1;
  private long length;

  /// Whether this process has made the file durable up to its length.
  private boolean isForced;

  /// Bytes of each queue's present state.
  private final Map<Long, Integer> live = new HashMap<>();

  private long liveBytes;

  /// Last change that the states have.
  public long sequence;

  public StateFile(Path directory) {
    this.directory = directory;
  }

  public Path path() {
    return path(generation);
  }

  private Path path(long number) {
    return directory.resolve(String.format(Locale.ROOT, PREFIX + "%016x", number));
  }

  /// Receives states.
  @FunctionalInterface
  public interface Visitor {
    void state(byte[] bytes);
  }

  /// Reads the newest file that has a commit; later records do not count.
  ///
  /// The file is durable when this returns. A killed process may have written it and not forced it, and nothing that is built on it must
  /// outlive it.
  ///
  /// @throws EngineException DATA_CORRUPTED if states are missing that were durable
  public void open(Visitor visitor) throws IOException {
    List<Long> generations = generations();
    for (int at = generations.size() - 1; at >= 0; at--) {
      generation = generations.get(at);
      if (read(visitor)) {
        return;
      }
    }
    generation = generations.isEmpty() ? -1 : generations.getLast();
    length = 0;
  }

  private List<Long> generations() throws IOException {
    List<Long> result = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path each : files) {
        String name = String.valueOf(each.getFileName()).substring(PREFIX.length());
        if (name.matches("[0-9a-f]{16}")) {
          result.add(Long.parseUnsignedLong(name, 16));
        }
      }
    }
    result.sort(null);
    return result;
  }

  private boolean read(Visitor visitor) throws IOException {
    Reading reading = new Reading();
    try (RecordFileReader reader = RecordFileReader.open(path(), KIND)) {
      for (byte[] each = reader.next(); each != null; each = reader.next()) {
        reading.add(each, reader.position());
      }
      if (reader.end() == RecordFileReader.End.DAMAGED) {
        throw new EngineException(
                ErrorCode.DATA_CORRUPTED,
                path() + " is damaged at byte " + reader.position() + ", and states are behind it")
            .withHint("Restore the data directory from a backup.");
      }
    } catch (RecordFileException e) {
      if (e.isNewer()) {
        throw e;
      }
      readOld(reading);
    }
    if (reading.committed == 0) {
      return false;
    }
    reading.states.forEach((queueId, bytes) -> {
      live.put(queueId, bytes.length);
      liveBytes += bytes.length;
      visitor.state(bytes);
    });
    sequence = reading.sequence;
    length = reading.isOld ? 0 : reading.committed;
    SegmentFiles.sync(path());
    isForced = true;
    return true;
  }

  /// States of a file, record by record.
  private final class Reading {
    final Map<Long, byte[]> states = new HashMap<>();
    private final Map<Long, byte[]> since = new HashMap<>();
    private final Set<Long> gone = new HashSet<>();
    long committed;
    long sequence;
    boolean isOld;

    void add(byte[] record, long end) {
      ByteBuffer from = ByteBuffer.wrap(record);
      if (record.length < PREFIX_BYTES) {
        throw corrupted(" has a record of " + record.length + " bytes");
      }
      int kind = from.get();
      long number = from.getLong();
      switch (kind) {
        case STATE -> {
          since.put(number, Arrays.copyOfRange(record, PREFIX_BYTES, record.length));
          gone.remove(number);
        }
        case DROPPED -> {
          since.remove(number);
          gone.add(number);
        }
        case COMMIT -> {
          states.keySet().removeAll(gone);
          states.putAll(since);
          gone.clear();
          since.clear();
          committed = end;
          sequence = number;
        }
        default -> throw corrupted(" has a record of kind " + kind);
      }
    }

    private EngineException corrupted(String what) {
      return new EngineException(ErrorCode.DATA_CORRUPTED, path() + what);
    }
  }

  /// Reads a file of format 5 up to its first broken record.
  private void readOld(Reading reading) throws IOException {
    reading.isOld = true;
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(path())))) {
      long left = Files.size(path());
      while (left > 2 * Integer.BYTES) {
        int bytes = in.readInt();
        int checksum = in.readInt();
        left -= 2 * Integer.BYTES;
        if (bytes < PREFIX_BYTES || bytes > MOST_BYTES || bytes > left) {
          return;
        }
        byte[] record = in.readNBytes(bytes);
        left -= bytes;
        CRC32C crc = new CRC32C();
        crc.update(record, 0, record.length);
        if ((int) crc.getValue() != checksum) {
          return;
        }
        reading.add(record, 1);
      }
    }
  }

  /// Whether the next write has to have the states of all queues.
  public boolean wantsAll() {
    return generation < 0 || length == 0 || length > 2 * liveBytes + (1 << 20);
  }

  /// Makes states durable.
  ///
  /// @param all whether these are all queues: then they are the next generation, and the present one may be deleted
  public void write(Map<Long, byte[]> states, List<Long> dropped, long upTo, boolean all) {
    long number = all ? generation + 1 : generation;
    Path path = path(number);
    if (all) {
      deleteRest(path);
    }
    boolean isDurable = isForced;
    isForced = false;
    try (RecordFile file =
        all ? RecordFile.create(path, KIND) : RecordFile.open(path, KIND, length, isDurable)) {
      for (Map.Entry<Long, byte[]> each : states.entrySet()) {
        file.append(record(STATE, each.getKey(), each.getValue()));
      }
      if (!all) {
        for (long each : dropped) {
          file.append(record(DROPPED, each, new byte[0]));
        }
      }
      file.append(record(COMMIT, upTo, new byte[0]));
      file.force();
      if (all) {
        SegmentFiles.syncDirectory(directory);
        live.clear();
        liveBytes = 0;
      }
      generation = number;
      length = file.bytes();
      sequence = upTo;
      isForced = true;
    } catch (IOException e) {
      throw SegmentFiles.failure("write", path, e);
    }
    states.forEach((queueId, bytes) -> {
      Integer before = live.put(queueId, bytes.length);
      liveBytes += bytes.length - (before == null ? 0 : before);
    });
    for (long each : dropped) {
      Integer before = live.remove(each);
      liveBytes -= before == null ? 0 : before;
    }
  }

  /// A generation that a failure or a crash has left.
  private static void deleteRest(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw SegmentFiles.failure("delete", path, e);
    }
  }

  private static byte[] record(int kind, long number, byte[] bytes) {
    return ByteBuffer.allocate(PREFIX_BYTES + bytes.length)
        .put((byte) kind)
        .putLong(number)
        .put(bytes)
        .array();
  }

  /// Deletes earlier generations.
  public void deleteOlder() throws IOException {
    for (long each : generations()) {
      if (each < generation) {
        Files.deleteIfExists(path(each));
      }
    }
  }
}
