package dev.kakehashi.rest.bulk;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.RowEncoder;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Writes the bytes of COPY TO STDOUT, which come as rows of one bytea. Nothing is written after a failure: the sender has to break the
/// frame of the bytes. Not thread-safe.
final class DumpBytesEncoder implements RowEncoder {
  private final BatchView view = new BatchView();
  private OutputStream out = OutputStream.nullOutputStream();
  private byte[] piece = {};
  private long written;

  @Override
  public void begin(List<Statement.Column> columns, OutputStream stream) {
    out = stream;
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, 1);
    for (int row = 0; row < view.rowCount(); row++) {
      long word = view.word(view.rowAt(row), 0);
      long at = view.payloadAt(word);
      int length = view.payloadBytes(word);
      if (piece.length < length) {
        piece = new byte[length];
      }
      MemorySegment.copy(view.memory(), at, MemorySegment.ofArray(piece), 0, length);
      out.write(piece, 0, length);
      written += length;
    }
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    out.flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    out.flush();
  }

  @Override
  public long byteCount() {
    return written;
  }
}
