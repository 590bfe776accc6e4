package dev.kakehashi.formats.coding;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How bytes are compressed.
public enum Coding {
  IDENTITY("identity"),
  GZIP("gzip"),
  /// Frames of Zstandard, one after the other (RFC 8878); each window is shorter than the 8 MB of RFC 9659.
  ZSTD("zstd");

  /// Default level of gzip: the fastest, because the sender's processor is scarce.
  public static final int DEFAULT_LEVEL = 1;

  private final String token;

  Coding(String token) {
    this.token = token;
  }

  /// As HTTP names it.
  public String token() {
    return token;
  }

  /// The coding that HTTP names so, `x-gzip` as well; null: there is none.
  public static @Nullable Coding find(String token) {
    String lower = token.toLowerCase(Locale.ROOT);
    for (Coding coding : values()) {
      if (coding.token.equals(lower)) {
        return coding;
      }
    }
    return lower.equals("x-gzip") ? GZIP : null;
  }

  /// A stream that compresses into another. It buffers at most 256 KiB; `flush()` lets all that was written reach the other side in a
  /// readable form. Closing it writes the end, and closes the other stream. A caller that gives up calls [CodedOutput#abort()] instead.
  ///
  /// @param level of gzip, 1 (fast) to 9; others have one
  /// @throws IllegalArgumentException for another level
  public CodedOutput encode(OutputStream out, int level) {
    if (level < 1 || level > 9) {
      throw new IllegalArgumentException("level " + level);
    }
    return switch (this) {
      case IDENTITY -> new PlainOutput(out);
      case GZIP -> new GzipOutput(out, level);
      case ZSTD -> new ZstdOutput(out);
    };
  }

  /// A stream that reads what another has in compressed form, and refuses to become longer than `maxBytes`.
  ///
  /// @throws IOException for what is not of the coding; also from reads, and [LimitExceededException] beyond the limit
  public InputStream decode(InputStream in, long maxBytes) throws IOException {
    InputStream decoded =
        switch (this) {
          case IDENTITY -> in;
          case GZIP -> new GzipInput(in);
          case ZSTD -> new ZstdInput(in);
        };
    return new LimitedInput(decoded, maxBytes);
  }

  /// Compresses nothing.
  private static final class PlainOutput extends CodedOutput {
    private final OutputStream out;

    private PlainOutput(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int value) throws IOException {
      out.write(value);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      out.write(bytes, from, count);
    }

    @Override
    public void flush() throws IOException {
      out.flush();
    }

    @Override
    public void close() throws IOException {
      out.close();
    }

    @Override
    public void abort() {
      // Nothing is held.
    }
  }

  /// Failure of an input that is longer than allowed.
  public static final class LimitExceededException extends IOException {
    private static final long serialVersionUID = 1L;

    LimitExceededException(long maxBytes) {
      super("longer than " + maxBytes + " bytes");
    }
  }
}
