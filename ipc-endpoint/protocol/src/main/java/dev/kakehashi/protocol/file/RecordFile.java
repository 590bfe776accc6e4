package dev.kakehashi.protocol.file;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A file of records that are appended one by one, and whose end a crash may cut off. [RecordFileReader] reads it; its layout is that of
/// [RecordFormat].
///
/// Records are gathered in memory until [#flush] or [#force], or until they are many. After a failure the end of the file is not known, nor
/// what the system has thrown away: each later call fails, and the user opens or replaces the file again.
///
/// Written by [RandomAccessFile], because an interrupt would close a channel. One thread at a time.
public final class RecordFile implements AutoCloseable {
  private static final int BUFFER_BYTES = 256 << 10;
  private static final int FIRST_BUFFER_BYTES = 4 << 10;
  private static final SecureRandom SALTS = new SecureRandom();

  /// Takes the bytes. Tests have one whose disk becomes full.
  interface Output extends AutoCloseable {
    /// Appends all bytes, or fails after some.
    void write(byte[] bytes, int count) throws IOException;

    void force() throws IOException;

    @Override
    void close() throws IOException;
  }

  private final Output output;
  private final RecordKind kind;
  private final RecordFormat format;
  private byte[] buffer = new byte[FIRST_BUFFER_BYTES];
  private int buffered;
  private long bytes;
  private @Nullable IOException failure;
  private boolean isClosed;

  /// Whether all records of the file and the buffer are durable.
  private boolean isDurable;

  /// @param bytes of the file, whose header is there
  /// @param isDurable whether they are known to survive power loss
  RecordFile(Output output, RecordKind kind, RecordFormat format, long bytes, boolean isDurable) {
    this.output = output;
    this.kind = kind;
    this.format = format;
    this.bytes = bytes;
    this.isDurable = isDurable;
  }

  /// Makes a file without records, which only its owner may read. Its name survives power loss when somebody forces the directory.
  ///
  /// @throws java.nio.file.FileAlreadyExistsException it is there
  public static RecordFile create(Path path, RecordKind kind) throws IOException {
    return begin(ReplacedFile.create(path), kind, RecordFormat.HEADER_BYTES);
  }

  private static RecordFile begin(Path path, RecordKind kind, long wholeBytes) throws IOException {
    return begin(new FileOutput(path, 0), kind, wholeBytes);
  }

  static RecordFile begin(Output output, RecordKind kind, long wholeBytes) {
    RecordFormat format = new RecordFormat(wholeBytes, SALTS.nextInt(), true);
    RecordFile file = new RecordFile(output, kind, format, RecordFormat.HEADER_BYTES, false);
    RecordFormat.header(kind, wholeBytes, format.salt())
        .get(file.buffer, 0, RecordFormat.HEADER_BYTES);
    file.buffered = RecordFormat.HEADER_BYTES;
    return file;
  }

  /// Replaces a file, or makes it, with these records. On return they survive power loss, and a reader takes a shorter file for damaged. If
  /// that fails, the file of before is there.
  ///
  /// @return the file, to go on behind them
  public static RecordFile replace(Path path, RecordKind kind, List<byte[]> records)
      throws IOException {
    long wholeBytes = RecordFormat.HEADER_BYTES;
    for (byte[] record : records) {
      wholeBytes += RecordFormat.framedBytes(record.length);
    }
    Path fresh = ReplacedFile.fresh(path);
    RecordFile file = null;
    boolean isDone = false;
    try {
      file = begin(fresh, kind, wholeBytes);
      for (byte[] record : records) {
        file.append(record);
      }
      file.force();
      ReplacedFile.rename(fresh, path);
      isDone = true;
      return file;
    } finally {
      if (!isDone) {
        if (file != null) {
          file.output.close();
        }
        Files.deleteIfExists(fresh);
      }
    }
  }

  /// Goes on with a file that was read.
  ///
  /// @param end place behind the last record that counts ([RecordFileReader#position]); later ones are cut off
  /// @param isDurable whether the records before it are known to survive power loss, as after a force of this process
  /// @throws RecordFileException its header is none of ours
  public static RecordFile open(Path path, RecordKind kind, long end, boolean isDurable)
      throws IOException {
    byte[] header = new byte[RecordFormat.HEADER_BYTES];
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      file.readFully(header);
    }
    RecordFormat format = RecordFormat.read(header, kind, path);
    if (!format.isSound()) {
      throw RecordFileException.foreign(path, kind);
    }
    return new RecordFile(new FileOutput(path, end), kind, format, end, isDurable);
  }

  /// Appends a record.
  ///
  /// @throws IllegalArgumentException it is longer than one of this kind may be
  public void append(byte[] record) throws IOException {
    kind.requireFits(record);
    requireSound();
    int framed = RecordFormat.framedBytes(record.length);
    makeRoom(framed);
    int mark = isDurable ? RecordFormat.AFTER_FORCE : RecordFormat.PLAIN;
    isDurable = false;
    bytes += framed;
    if (framed > buffer.length) {
      byte[] frame = new byte[framed];
      format.frame(frame, 0, mark, record);
      write(frame, framed);
      return;
    }
    // Between frames there are zeros, and the buffer may have others.
    Arrays.fill(buffer, buffered + framed - RecordFormat.ALIGNMENT, buffered + framed, (byte) 0);
    format.frame(buffer, buffered, mark, record);
    buffered += framed;
  }

  private void makeRoom(int framed) throws IOException {
    if (framed <= buffer.length - buffered) {
      return;
    }
    int wanted = buffered + framed;
    if (wanted <= BUFFER_BYTES) {
      buffer = Arrays.copyOf(buffer, Math.min(BUFFER_BYTES, Math.max(2 * buffer.length, wanted)));
    } else {
      flush();
    }
  }

  /// Hands all records to the operating system: they survive this process.
  public void flush() throws IOException {
    requireSound();
    if (buffered > 0) {
      int count = buffered;
      buffered = 0;
      write(buffer, count);
    }
  }

  /// Returns when all records survive power loss.
  public void force() throws IOException {
    flush();
    try {
      output.force();
    } catch (IOException e) {
      failure = e;
      throw e;
    }
    isDurable = true;
  }

  private void write(byte[] from, int count) throws IOException {
    try {
      output.write(from, count);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  private void requireSound() throws IOException {
    if (isClosed) {
      throw new IOException("the %s is closed".formatted(kind.title()));
    }
    if (failure != null) {
      throw new IOException("the %s could not be written before".formatted(kind.title()), failure);
    }
  }

  /// Bytes of the file, with those that are gathered.
  public long bytes() {
    return bytes;
  }

  /// Bytes that a record takes.
  public static int bytes(byte[] record) {
    return RecordFormat.framedBytes(record.length);
  }

  /// Hands all records to the operating system, unless a write has failed. A second close does nothing.
  @Override
  public void close() throws IOException {
    if (isClosed) {
      return;
    }
    try (output) {
      if (failure == null) {
        flush();
      }
    } finally {
      isClosed = true;
    }
  }

  /// A file, from a place on.
  private static final class FileOutput implements Output {
    private final RandomAccessFile file;

    FileOutput(Path path, long end) throws IOException {
      file = new RandomAccessFile(path.toFile(), "rw");
      boolean isOpen = false;
      try {
        if (file.length() > end) {
          // Records of a write that came to no end. A loss of power could mix them with new ones.
          file.setLength(end);
          file.getFD().sync();
        }
        file.seek(end);
        isOpen = true;
      } finally {
        if (!isOpen) {
          file.close();
        }
      }
    }

    @Override
    public void write(byte[] bytes, int count) throws IOException {
      file.write(bytes, 0, count);
    }

    @Override
    public void force() throws IOException {
      file.getFD().sync();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
