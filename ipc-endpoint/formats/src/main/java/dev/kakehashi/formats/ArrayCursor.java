package dev.kakehashi.formats;

import dev.kakehashi.protocol.MalformedFrameException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Steps through an array as PostgreSQL writes it: `{1,NULL,"a b"}`, `[0:1]={{1},{2}}`. Not thread-safe; may be used for one array after
/// another.
public final class ArrayCursor {
  /// Token at which the cursor is.
  public enum Token {
    OPEN,
    CLOSE,
    NULL,
    /// An element, see [#value()].
    VALUE,
    END
  }

  private static final int NULL_BYTES = 4;
  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;
  private int depth;
  private boolean bounds;
  private byte[] scratch = new byte[64];
  private MemorySegment value = MemorySegment.ofArray(scratch);
  private int length;

  /// Begins an array of `bytes` bytes at `from`.
  public void open(MemorySegment segment, long from, int bytes) {
    memory = segment;
    at = from;
    end = from + bytes;
    depth = 0;
    bounds = bytes > 0 && peek() == '[';
    if (bounds) {
      while (read() != '=') {
        // the bounds
      }
    }
  }

  /// Whether a subscript begins at another number than 1.
  public boolean hasBounds() {
    return bounds;
  }

  /// The text of an element is the beginning of this, valid until the next one.
  public MemorySegment value() {
    return value;
  }

  /// Bytes of the element.
  public int length() {
    return length;
  }

  public byte byteAt(int index) {
    return scratch[index];
  }

  public byte[] bytes() {
    return scratch;
  }

  /// @throws MalformedFrameException when there is no array
  public Token next() {
    if (at == end) {
      if (depth != 0) {
        throw malformed();
      }
      return Token.END;
    }
    int first = read();
    if (first == ',') {
      first = read();
    }
    return switch (first) {
      case '{' -> {
        depth++;
        yield Token.OPEN;
      }
      case '}' -> {
        depth--;
        yield Token.CLOSE;
      }
      case '"' -> {
        quoted();
        yield Token.VALUE;
      }
      default -> bare(first) ? Token.NULL : Token.VALUE;
    };
  }

  private void quoted() {
    length = 0;
    for (int each = read(); each != '"'; each = read()) {
      add(each == '\\' ? read() : each);
    }
  }

  private boolean bare(int first) {
    length = 0;
    add(first);
    while (peek() != ',' && peek() != '}') {
      add(read());
    }
    return length == NULL_BYTES
        && scratch[0] == 'N'
        && scratch[1] == 'U'
        && scratch[2] == 'L'
        && scratch[3] == 'L';
  }

  private void add(int each) {
    if (length == scratch.length) {
      scratch = Arrays.copyOf(scratch, 2 * length);
      value = MemorySegment.ofArray(scratch);
    }
    scratch[length++] = (byte) each;
  }

  private int peek() {
    if (at >= end) {
      throw malformed();
    }
    return memory.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  private int read() {
    int each = peek();
    at++;
    return each;
  }

  private static MalformedFrameException malformed() {
    return new MalformedFrameException("value is no array");
  }
}
