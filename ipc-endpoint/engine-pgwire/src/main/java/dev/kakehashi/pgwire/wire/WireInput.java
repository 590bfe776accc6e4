package dev.kakehashi.pgwire.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// Messages from the server, one after another, in an array that is used again: what is read of a message holds until the next one.
///
/// Not thread-safe.
public final class WireInput {
  /// Bytes that PostgreSQL's longest value and row need.
  static final int MAX_MESSAGE_BYTES = Integer.MAX_VALUE - 64;

  private static final int USUAL_BYTES = 64 << 10;

  /// Called when nothing has come for a while.
  @FunctionalInterface
  public interface Silence {
    /// Returns if it makes sense to wait on.
    ///
    /// @throws WireException else
    void waited();
  }

  private final InputStream in;
  private final Silence silence;
  private byte[] bytes = new byte[USUAL_BYTES];
  private int start;
  private int end;
  private int bodyAt;
  private int bodyEnd;
  private int at;
  private int limit = MAX_MESSAGE_BYTES;

  WireInput(InputStream in, Silence silence) {
    this.in = in;
    this.silence = silence;
  }

  /// Longest message that is taken from now on.
  void limit(int bytes) {
    limit = bytes;
  }

  /// Reads the next message.
  ///
  /// @return its type
  /// @throws WireException the connection is of no use any more
  public char next() {
    start = bodyEnd;
    require(5);
    char type = (char) (bytes[start] & 0xFF);
    int length = intAt(start + 1);
    if (length < 4 || length > limit) {
      throw new WireException("the server sent a message of " + length + " bytes");
    }
    require(1 + length);
    bodyAt = start + 5;
    bodyEnd = start + 1 + length;
    at = bodyAt;
    return type;
  }

  /// The array that holds the message.
  public byte[] array() {
    return bytes;
  }

  /// Where the next field is.
  public int position() {
    return at;
  }

  /// Goes on behind `length` bytes.
  public void skip(int length) {
    check(length);
    at += length;
  }

  /// Bytes of the message that were not read.
  public int remaining() {
    return bodyEnd - at;
  }

  /// The whole message, without type and length.
  public byte[] body() {
    return Arrays.copyOfRange(bytes, bodyAt, bodyEnd);
  }

  public int getByte() {
    check(1);
    return bytes[at++];
  }

  public int getShort() {
    check(2);
    int value = (short) ((bytes[at] & 0xFF) << 8 | (bytes[at + 1] & 0xFF));
    at += 2;
    return value;
  }

  public int getInt() {
    check(4);
    int value = intAt(at);
    at += 4;
    return value;
  }

  /// A text up to its zero byte.
  public String getText() {
    int zero = at;
    while (zero < bodyEnd && bytes[zero] != 0) {
      zero++;
    }
    if (zero == bodyEnd) {
      throw new WireException("the server sent a text without an end");
    }
    String text = new String(bytes, at, zero - at, StandardCharsets.UTF_8);
    at = zero + 1;
    return text;
  }

  /// The fields of an ErrorResponse.
  ServerError error() {
    Map<Character, String> fields = new HashMap<>();
    while (remaining() > 0) {
      int field = getByte();
      if (field == 0) {
        break;
      }
      fields.put((char) field, getText());
    }
    return new ServerError(fields);
  }

  private int intAt(int offset) {
    return bytes[offset] << 24
        | (bytes[offset + 1] & 0xFF) << 16
        | (bytes[offset + 2] & 0xFF) << 8
        | (bytes[offset + 3] & 0xFF);
  }

  private void check(int length) {
    if (length < 0 || length > bodyEnd - at) {
      throw new WireException("the server sent a message that ends early");
    }
  }

  /// Makes `length` bytes from `start` on be here.
  private void require(int length) {
    if (end - start >= length) {
      return;
    }
    if (start > 0) {
      System.arraycopy(bytes, start, bytes, 0, end - start);
      end -= start;
      start = 0;
    }
    if (length > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.max(length, Math.min(2L * bytes.length, MAX_MESSAGE_BYTES)));
    } else if (bytes.length > 16 * USUAL_BYTES && length <= USUAL_BYTES && end <= USUAL_BYTES) {
      bytes = Arrays.copyOf(bytes, USUAL_BYTES);
    }
    while (end < length) {
      end += read();
    }
  }

  private int read() {
    while (true) {
      try {
        int read = in.read(bytes, end, bytes.length - end);
        if (read < 0) {
          throw new WireException("the server closed the connection");
        }
        return read;
      } catch (SocketTimeoutException e) {
        silence.waited();
      } catch (IOException e) {
        throw new WireException("the connection to the server broke: " + e.getMessage(), e);
      }
    }
  }
}
