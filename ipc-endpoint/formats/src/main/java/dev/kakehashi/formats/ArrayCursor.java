package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.valuetext.array.ArrayReader;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Steps through an array of a row batch. Its text is the engine's, so text that is no array means a broken batch. Not thread-safe; may be
/// used for one array after another.
public final class ArrayCursor {
  private final ArrayReader reader = new ArrayReader();

  /// The two arrays that elements come in, and their segments.
  private byte[] bytes = {};

  private byte[] otherBytes = {};
  private MemorySegment segment = MemorySegment.ofArray(bytes);
  private MemorySegment other = MemorySegment.ofArray(otherBytes);

  /// Begins an array of `length` bytes at `from`.
  ///
  /// @throws MalformedFrameException when there is no array
  public void open(MemorySegment memory, long from, int length) {
    try {
      reader.open(memory, from, length);
    } catch (EngineException e) {
      throw malformed(e);
    }
  }

  /// @throws MalformedFrameException when there is no array
  public Token next() {
    try {
      return reader.next();
    } catch (EngineException e) {
      throw malformed(e);
    }
  }

  /// Whether a subscript begins at another number than 1.
  public boolean hasBounds() {
    return reader.hasBounds();
  }

  /// A copy of the element.
  public byte[] copy() {
    int from = reader.from();
    return Arrays.copyOfRange(reader.bytes(), from, from + reader.length());
  }

  public String text() {
    return new String(reader.bytes(), reader.from(), reader.length(), StandardCharsets.UTF_8);
  }

  /// The array that has the element from [#from()] on, valid until the next one.
  byte[] bytes() {
    return reader.bytes();
  }

  /// [#bytes()] as a segment.
  @SuppressWarnings("ReferenceEquality") // which of the two arrays it is
  MemorySegment segment() {
    byte[] wanted = reader.bytes();
    if (wanted != bytes) {
      byte[] bytesBefore = bytes;
      MemorySegment before = segment;
      segment = wanted == otherBytes ? other : MemorySegment.ofArray(wanted);
      bytes = wanted;
      other = before;
      otherBytes = bytesBefore;
    }
    return segment;
  }

  int from() {
    return reader.from();
  }

  /// Bytes of the element.
  int length() {
    return reader.length();
  }

  /// A byte of the element; any byte behind its end.
  byte byteAt(int index) {
    return reader.bytes()[reader.from() + index];
  }

  /// The detail says what is wrong; unlike the message it has nothing of the value.
  private static MalformedFrameException malformed(EngineException e) {
    return new MalformedFrameException("value is no array: " + e.detail());
  }
}
