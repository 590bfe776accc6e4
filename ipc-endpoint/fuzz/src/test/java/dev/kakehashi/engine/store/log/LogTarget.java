package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.fuzz.FuzzTarget;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// Segments of the store's log behind a good header, as a start replays them. The log may be refused as damaged.
///
/// If the first byte has bit 0 set, frames get the checksums and positions that a writer would have given them, so that damage behind the
/// checksums is reached. Bits 1 and 2 say how many segments there are besides the first, which the input fills one after another.
public final class LogTarget implements FuzzTarget {
  private static final int SEGMENT_BYTES = 8 << 10;
  private static final long LOG_ID = 0x1122334455667788L;
  private static final LogFormat FORMAT = new LogFormat(LOG_ID, SEGMENT_BYTES);

  private final Path directory;

  /// Makes a directory for the segments.
  public LogTarget() throws IOException {
    directory = Files.createTempDirectory("kakehashi-fuzz-");
  }

  @Override
  public void run(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    int count = 1 + (input[0] >> 1 & 3);
    ByteBuffer segments = ByteBuffer.allocate(count * SEGMENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int read = 1;
    for (int i = 0; i < count; i++) {
      segments.put(i * SEGMENT_BYTES, FORMAT.header(i), 0, LogFormat.HEADER_BYTES);
      int room = Math.min(SEGMENT_BYTES - LogFormat.HEADER_BYTES, input.length - read);
      segments.put(i * SEGMENT_BYTES + LogFormat.HEADER_BYTES, input, read, room);
      read += room;
    }
    if ((input[0] & 1) != 0) {
      seal(segments);
    }
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[SEGMENT_BYTES];
      segments.get(i * SEGMENT_BYTES, bytes);
      Files.write(LogSegments.path(directory, i), bytes);
    }
    for (int i = count; i < 4; i++) {
      Files.deleteIfExists(LogSegments.path(directory, i));
    }
    LogSegments files =
        new LogSegments(directory, FORMAT, LogFile::openReadOnly, LogSegments.list(directory));
    LogReader reader = new LogReader(FORMAT, files, LogFile::openReadOnly);
    long start = FORMAT.firstPosition(0);
    long[] last = {start};
    try {
      long end = reader.replay(start, (group, groupEnd) -> take(group, groupEnd, last));
      if (end < last[0]) {
        throw new AssertionError(
            "the log ends at %d, behind a group at %d".formatted(end, last[0]));
      }
      reader.requireReached(end);
    } catch (EngineException e) {
      if (e.code() != ErrorCode.DATA_CORRUPTED) {
        throw e;
      }
    }
  }

  private static void take(LogRecord group, long end, long[] last) {
    if (end <= last[0]) {
      throw new AssertionError("group ends at %d, the one before at %d".formatted(end, last[0]));
    }
    last[0] = end;
    try {
      group.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {}

            @Override
            public void delete(byte[] key) {}

            @Override
            public void deleteRange(byte[] from, byte[] to) {}
          });
    } catch (IllegalArgumentException e) {
      // Declared for bytes that are no changes.
      if (e.getMessage() == null) {
        throw e;
      }
    }
  }

  /// Gives frames their checksums and positions, from the beginning as far as their lengths lead.
  private static void seal(ByteBuffer segments) {
    long at = FORMAT.firstPosition(0);
    long groupStart = at;
    int previousCrc = 0;
    while (at + LogFormat.FRAME_HEADER_BYTES < segments.capacity()) {
      int from = (int) at;
      int payloadBytes = segments.getInt(from + 4);
      if (payloadBytes <= 0 || payloadBytes > FORMAT.room(at)) {
        return;
      }
      segments.putLong(from + 8, at).putLong(from + 16, groupStart);
      CRC32C crc = FORMAT.begin(previousCrc);
      crc.update(
          segments
              .duplicate()
              .limit(from + LogFormat.FRAME_HEADER_BYTES + payloadBytes)
              .position(from + 4));
      segments.putInt(from, (int) crc.getValue());
      boolean last = (segments.getInt(from + 28) & LogFormat.LAST) != 0;
      at = FORMAT.frameStart(at + LogFormat.aligned(LogFormat.FRAME_HEADER_BYTES + payloadBytes));
      previousCrc = last ? 0 : (int) crc.getValue();
      groupStart = last ? at : groupStart;
    }
  }

  @Override
  public void close() throws IOException {
    Directories.delete(directory);
  }
}
