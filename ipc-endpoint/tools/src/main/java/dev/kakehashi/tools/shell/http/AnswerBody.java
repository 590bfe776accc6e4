package dev.kakehashi.tools.shell.http;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/// The body of an answer of HTTP/1.1, by its length or in chunks. Ends with the answer; an answer that is cut off is an [EOFException]. Not
/// thread-safe.
final class AnswerBody extends InputStream {
  private final HttpAnswer answer;
  private final InputStream in;
  private final boolean chunked;
  private long left; // of the body, or of the chunk
  private boolean first = true;
  private boolean ended;

  /// @param length of the body; negative: it comes in chunks
  AnswerBody(HttpAnswer answer, InputStream in, long length) {
    this.answer = answer;
    this.in = in;
    this.chunked = length < 0;
    this.left = Math.max(0, length);
    this.ended = length == 0;
  }

  boolean isEnded() {
    return ended;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int from, int count) throws IOException {
    if (count == 0) {
      return 0;
    }
    if (chunked && left == 0 && !ended) {
      nextChunk();
    }
    if (ended) {
      return -1;
    }
    int got = in.read(bytes, from, (int) Math.min(left, count));
    if (got < 0) {
      throw new EOFException("the answer was cut off");
    }
    left -= got;
    if (left == 0 && !chunked) {
      ended = true;
    }
    return got;
  }

  private void nextChunk() throws IOException {
    if (!first && !answer.line().isEmpty()) {
      throw new IOException("a chunk of the answer does not end where it should");
    }
    first = false;
    String size = answer.line().replaceFirst("[ \t]*(;.*)?$", "");
    try {
      left = size.length() > 15 ? -1 : Long.parseLong(size, 16);
    } catch (NumberFormatException none) {
      left = -1;
    }
    if (left < 0) {
      throw new IOException("a chunk of the answer has no length");
    }
    if (left == 0) {
      // Fields may follow the body.
      answer.readFields();
      ended = true;
    }
  }
}
