package dev.kakehashi.formats.coding;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/// Reads members of gzip, one after the other (RFC 1952). Other bytes behind a member are an error, and so is a source that fails there.
/// The class of the JDK takes both for the end. One thread.
final class GzipInput extends GZIPInputStream {
  private static final int BUFFER_BYTES = 1 << 13;
  private static final int TRAILER_BYTES = 8;

  /// Members without content in a row: the class of the JDK goes a call deeper for each.
  private static final int MAX_EMPTY_MEMBERS = 1000;

  private final Source source;
  private long filledTo; // of the source, when the inflater got its last bytes
  private int depth; // of calls of read

  /// @throws IOException the stream does not begin as a member, and what it throws
  GzipInput(InputStream in) throws IOException {
    this(new Source(in));
  }

  private GzipInput(Source source) throws IOException {
    super(source, BUFFER_BYTES);
    this.source = source;
  }

  @Override
  protected void fill() throws IOException {
    super.fill();
    filledTo = source.count;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (depth > MAX_EMPTY_MEMBERS) {
      throw new ZipException("too many empty members of gzip");
    }
    depth++;
    try {
      int count = super.read(bytes, offset, length);
      if (count < 0) {
        checkEnd();
      }
      return count;
    } finally {
      depth--;
    }
  }

  /// At the end the inflater still has what it has not used: the trailer, or the beginning of it. The rest of the trailer was read from the
  /// source, and nothing else if nothing is there.
  private void checkEnd() throws IOException {
    if (source.failure != null) {
      throw source.failure;
    }
    int unused = inf.getRemaining();
    if (unused > TRAILER_BYTES || source.count - filledTo != TRAILER_BYTES - unused) {
      throw new ZipException("something follows the gzip data");
    }
  }

  /// Counts what is read, and remembers a failure that its reader drops.
  private static final class Source extends FilterInputStream {
    private long count;
    private @Nullable IOException failure;

    private Source(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      try {
        int value = in.read();
        count += value < 0 ? 0 : 1;
        return value;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      try {
        int got = in.read(bytes, offset, length);
        count += Math.max(got, 0);
        return got;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }
  }
}
