package dev.kakehashi.engine.testing.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Everything that a program has changed below a directory, as `src/test/c/disk_trace` has written it down.
///
/// @param events in their order
public record DiskTrace(List<Event> events) {
  private static final int HEADER_BYTES = 32;

  /// Kinds of events; the order is that of its `trace.h`, from 1 on.
  public enum Kind {
    ROOT,
    CREATE,
    WRITE,
    TRUNCATE,
    ALLOCATE,
    ZERO,
    LINK,
    UNLINK,
    RENAME,
    BEGIN,
    END,
    MARK,
    PROCESS,
    STRANGE
  }

  /// One event; its `trace.h` says what the numbers and the bytes are.
  ///
  /// @param file number of an inode, which may be given again when its file is gone
  public record Event(Kind kind, long file, long a, long b, byte[] bytes) {
    String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }

    /// Words of the program; only of a [Kind#MARK].
    public String mark() {
      return text().strip();
    }
  }

  public DiskTrace {
    events = List.copyOf(events);
  }

  /// Reads a trace.
  ///
  /// @throws IllegalStateException it has a change that nobody can describe
  public static DiskTrace read(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    List<Event> events = new ArrayList<>();
    while (bytes.remaining() >= HEADER_BYTES) {
      int count = bytes.getInt();
      Kind kind = Kind.values()[bytes.getInt() - 1];
      long inode = bytes.getLong();
      long a = bytes.getLong();
      long b = bytes.getLong();
      byte[] payload = new byte[count];
      bytes.get(payload);
      Event event = new Event(kind, inode, a, b, payload);
      if (kind == Kind.STRANGE) {
        throw new IllegalStateException("the program did " + event.text());
      }
      events.add(event);
    }
    return new DiskTrace(events);
  }
}
