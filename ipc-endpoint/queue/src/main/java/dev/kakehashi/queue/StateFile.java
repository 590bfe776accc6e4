package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// States of all queues, as of one change of the log: `state-<generation>`.
///
/// Frames are added at the end: length (int) and checksum (int) of what follows, kind (byte), queue (long), bytes. Bytes behind the last
/// [#COMMIT] do not count, so a state is there for all queues or for none. A file with too much of the past is written anew, as the next
/// generation. Confined to the thread that forces.
final class StateFile {
  private static final String PREFIX = "state-";
  private static final int STATE = 1;
  private static final int DROPPED = 2;

  /// Its number is the last change of the log that the states have.
  private static final int COMMIT = 3;

  private static final int HEADER = 8;
  private static final int MOST_BYTES = 1 << 30;

  private final Path directory;
  private long generation = -1;
  private long length;

  /// Bytes of each queue's present state.
  private final Map<Long, Integer> live = new HashMap<>();

  private long liveBytes;

  /// Last change that the states have.
  long sequence;

  StateFile(Path directory) {
    this.directory = directory;
  }

  Path path() {
    return path(generation);
  }

  private Path path(long number) {
    return directory.resolve(String.format(Locale.ROOT, PREFIX + "%016x", number));
  }

  /// Receives states.
  @FunctionalInterface
  interface Visitor {
    void state(byte[] bytes);
  }

  /// Reads the newest file that has a commit; later frames are cut off.
  void open(Visitor visitor) throws IOException {
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
    Map<Long, long[]> states = new HashMap<>();
    Map<Long, long[]> since = new HashMap<>();
    long committed = 0;
    try (FileChannel channel =
        FileChannel.open(path(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long size = channel.size();
      long at = 0;
      while (size - at > HEADER) {
        ByteBuffer frame = frame(channel, at, size);
        if (frame == null) {
          break;
        }
        int kind = frame.get();
        long queueId = frame.getLong();
        long[] place = {at, frame.capacity()};
        at += HEADER + frame.capacity();
        switch (kind) {
          case STATE, DROPPED -> since.put(queueId, kind == STATE ? place : new long[0]);
          case COMMIT -> {
            states.putAll(since);
            since.clear();
            committed = at;
            sequence = queueId;
          }
          default ->
              throw new EngineException(
                  ErrorCode.DATA_CORRUPTED, path() + " has a frame of kind " + kind);
        }
      }
      if (committed == 0) {
        return false;
      }
      for (Map.Entry<Long, long[]> each : states.entrySet()) {
        long[] place = each.getValue();
        if (place.length == 0) {
          continue;
        }
        ByteBuffer frame = frame(channel, place[0], size);
        if (frame == null) {
          throw new EngineException(ErrorCode.DATA_CORRUPTED, path() + " changes while it is read");
        }
        byte[] bytes = new byte[frame.capacity() - 9];
        frame.get(9, bytes);
        live.put(each.getKey(), bytes.length);
        liveBytes += bytes.length;
        visitor.state(bytes);
      }
    }
    length = committed;
    return true;
  }

  private static @Nullable ByteBuffer frame(FileChannel channel, long at, long size)
      throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    if (!fill(channel, header, at)) {
      return null;
    }
    int length = header.getInt(0);
    if (length < 9 || length > MOST_BYTES || length > size - at - HEADER) {
      return null;
    }
    ByteBuffer frame = ByteBuffer.allocate(length);
    if (!fill(channel, frame, at + HEADER)) {
      return null;
    }
    return checksum(frame.array()) == header.getInt(4) ? frame.clear() : null;
  }

  private static boolean fill(FileChannel channel, ByteBuffer into, long at) throws IOException {
    while (into.hasRemaining()) {
      if (channel.read(into, at + into.position()) < 0) {
        return false;
      }
    }
    return true;
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    return (int) crc.getValue();
  }

  /// Whether the next write has to have the states of all queues.
  boolean wantsAll() {
    return generation < 0 || length == 0 || length > 2 * liveBytes + (1 << 20);
  }

  /// Makes states durable.
  ///
  /// @param all whether these are all queues: then they are the next generation, and the present one may be deleted
  void write(Map<Long, byte[]> states, List<Long> dropped, long upTo, boolean all) {
    long number = all ? generation + 1 : generation;
    Path path = path(number);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      long at = all ? 0 : length;
      channel.truncate(at);
      for (Map.Entry<Long, byte[]> each : states.entrySet()) {
        at = append(channel, at, STATE, each.getKey(), each.getValue());
      }
      if (!all) {
        for (long each : dropped) {
          at = append(channel, at, DROPPED, each, new byte[0]);
        }
      }
      at = append(channel, at, COMMIT, upTo, new byte[0]);
      channel.force(true);
      if (all) {
        SegmentFiles.syncDirectory(directory);
        live.clear();
        liveBytes = 0;
      }
      generation = number;
      length = at;
      sequence = upTo;
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

  private static long append(FileChannel channel, long at, int kind, long number, byte[] bytes)
      throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(HEADER + 9 + bytes.length);
    frame.putLong(0).put((byte) kind).putLong(number).put(bytes);
    CRC32C crc = new CRC32C();
    crc.update(frame.array(), HEADER, 9 + bytes.length);
    frame.putInt(0, 9 + bytes.length).putInt(4, (int) crc.getValue()).flip();
    long to = at;
    while (frame.hasRemaining()) {
      to += channel.write(frame, to);
    }
    return to;
  }

  /// Deletes earlier generations.
  void deleteOlder() throws IOException {
    for (long each : generations()) {
      if (each < generation) {
        Files.deleteIfExists(path(each));
      }
    }
  }
}
