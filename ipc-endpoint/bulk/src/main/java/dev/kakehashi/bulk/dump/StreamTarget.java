package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/// The one file of `COPY … TO STDOUT`, whose bytes go to the statement's stream as they come. Used by one thread at a time.
public final class StreamTarget implements DumpTarget {
  private static final int PIECE_BYTES = 1 << 16;

  private final StreamOutput stream;
  private final RowsOutput output;
  private final FilesTarget.Setup setup;
  private boolean isEnded;

  public StreamTarget(FilesTarget.Setup setup, DumpRequest.ByteSink sink) {
    this.setup = setup;
    stream = new StreamOutput(sink);
    output =
        setup
            .format()
            .write(
                stream,
                setup.columns(),
                new FileFormat.Description(setup.query()),
                setup.context());
  }

  /// Counts what goes to a stream.
  private static final class StreamOutput implements FileOutput {
    private final DumpRequest.ByteSink sink;
    private final MessageDigest digest = NewFile.sha256();
    private long position;

    private StreamOutput(DumpRequest.ByteSink sink) {
      this.sink = sink;
    }

    @Override
    public void write(byte[] bytes, int from, int count) {
      digest.update(bytes, from, count);
      sink.write(bytes, from, count);
      position += count;
    }

    @Override
    public void write(ByteBuffer bytes) {
      byte[] piece = new byte[Math.min(PIECE_BYTES, bytes.remaining())];
      while (bytes.hasRemaining()) {
        int count = Math.min(piece.length, bytes.remaining());
        bytes.get(piece, 0, count);
        write(piece, 0, count);
      }
    }

    @Override
    public long position() {
      return position;
    }
  }

  @Override
  public Writer writer(int number) {
    return new Writer() {
      @Override
      public void rows(MemorySegment batch) {
        setup.context().checkCanceled();
        output.rows(batch);
      }

      @Override
      public void close() {
        if (!isEnded) {
          isEnded = true;
          output.end();
        }
      }
    };
  }

  @Override
  public boolean isParallel() {
    return false;
  }

  @Override
  public List<DumpedFile> finish() {
    if (!isEnded) {
      isEnded = true;
      output.end();
    }
    return List.of(
        new DumpedFile(
            "",
            output.rowCount(),
            stream.position(),
            HexFormat.of().formatHex(stream.digest.digest())));
  }

  @Override
  public void close() {
    output.close();
  }
}
