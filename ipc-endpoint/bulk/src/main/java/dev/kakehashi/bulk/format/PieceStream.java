package dev.kakehashi.bulk.format;

import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/// A stream into a file that several write at the same time: what comes up to the end of a piece goes into the file together. Used by one
/// thread at a time.
///
/// Pieces are collected in memory. One that is longer than [#MOST_BYTES] goes on with the file held, so that memory has a bound. Its close
/// is the file's owner's.
public final class PieceStream extends OutputStream {
  /// Pieces are handed on together until there are so many bytes.
  private static final int ENOUGH_BYTES = 128 << 10;

  private static final int MOST_BYTES = 512 << 10;

  private final FileOutput file;
  private final ReentrantLock lock;
  private byte[] pieces = new byte[ENOUGH_BYTES];
  private int length;

  public PieceStream(FileOutput file) {
    this(file, new ReentrantLock());
  }

  private PieceStream(FileOutput file, ReentrantLock lock) {
    this.file = file;
    this.lock = lock;
  }

  /// A stream into the same file for another thread.
  public PieceStream another() {
    return new PieceStream(file, lock);
  }

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) {
    if (length + (long) count > MOST_BYTES) {
      hold();
      handOn();
      file.write(bytes, from, count);
      return;
    }
    if (count > pieces.length - length) {
      pieces = Arrays.copyOf(pieces, Math.min(MOST_BYTES, Math.max(length + count, 2 * length)));
    }
    System.arraycopy(bytes, from, pieces, length, count);
    length += count;
  }

  private void hold() {
    if (!lock.isHeldByCurrentThread()) {
      lock.lock();
    }
  }

  private void handOn() {
    file.write(pieces, 0, length);
    length = 0;
  }

  /// Others may write behind what there is.
  public void endPiece() {
    if (length >= ENOUGH_BYTES || lock.isHeldByCurrentThread()) {
      end();
    }
  }

  /// Hands on what there is.
  public void end() {
    hold();
    try {
      handOn();
    } finally {
      release();
    }
  }

  /// Bytes of the file, and those that are collected.
  public long position() {
    return file.position() + length;
  }

  /// Lets others write, if this thread holds the file.
  public void release() {
    if (lock.isHeldByCurrentThread()) {
      lock.unlock();
    }
  }
}
