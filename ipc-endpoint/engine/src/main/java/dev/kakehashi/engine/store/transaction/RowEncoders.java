package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SideFileWriter;
import dev.kakehashi.scheduler.platform.BackgroundWork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Threads that encode rows, for one that writes them in their order. Made, used and closed by that one.
///
/// The rows come in stretches. An encoder has every n-th of them, and is some pieces ahead of the writer at most. Rows that are long are
/// left to the writer: so one of them is in the heap at a time.
final class RowEncoders implements AutoCloseable {
  private static final int MOST_ENCODERS = 4;

  /// Pieces of an encoder: each is with the encoder, with the writer, or waits for one of the two.
  private static final int PIECES = 3;

  /// Room for rows behind the one with which a piece is full.
  private static final int MORE_BYTES = 64 << 10;

  private final int stretches;
  private final Rows rows;
  private final List<Encoder> encoders = new ArrayList<>();

  /// The rows.
  interface Rows {
    /// Encodes a stretch. Called by different threads at the same time.
    void encode(int stretch, Pieces to) throws InterruptedException;
  }

  /// Where the rows of a stretch go.
  interface Pieces {
    /// The piece for the next row.
    LogRecord piece() throws InterruptedException;

    /// A long row, which the writer encodes in its turn.
    void apart(Consumer<LogRecord> row) throws InterruptedException;
  }

  /// A piece, a row that is still to be encoded, or a failure.
  ///
  /// @param isLast whether it ends a stretch
  private record Encoded(
      @Nullable LogRecord piece,
      @Nullable Consumer<LogRecord> apart,
      boolean isLast,
      @Nullable Throwable failure) {
    static Encoded of(LogRecord piece, boolean isLast) {
      return new Encoded(piece, null, isLast, null);
    }
  }

  /// @param stretches that there are, at least 1
  RowEncoders(int stretches, Rows rows) {
    this.stretches = stretches;
    this.rows = rows;
    int processors = Runtime.getRuntime().availableProcessors();
    int count = Math.min(stretches, Math.min(processors, MOST_ENCODERS));
    for (int i = 0; i < count; i++) {
      encoders.add(new Encoder(i));
    }
  }

  /// Has everything encoded, and gives it away in its order. Once.
  ///
  /// @param to gets each piece, and empties it
  /// @throws dev.kakehashi.engine.api.error.EngineException what encoding throws
  void write(Consumer<LogRecord> to) {
    encoders.forEach(encoder -> encoder.thread.start());
    for (int stretch = 0; stretch < stretches; stretch++) {
      Encoder encoder = encoders.get(stretch % encoders.size());
      boolean isLast = false;
      while (!isLast) {
        Encoded next = take(encoder.full);
        LogRecord piece = next.piece;
        Consumer<LogRecord> apart = next.apart;
        if (apart != null) {
          LogRecord alone = new LogRecord(MORE_BYTES);
          apart.accept(alone);
          to.accept(alone);
        } else if (piece != null) {
          to.accept(piece);
          encoder.free.add(piece);
        } else {
          throw failed(next.failure);
        }
        isLast = next.isLast;
      }
    }
  }

  private static RuntimeException failed(@Nullable Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return failure instanceof RuntimeException exception
        ? exception
        : new IllegalStateException("rows could not be encoded", failure);
  }

  /// Waits for the next piece, also if the commit is interrupted: an interrupt does not end it.
  private static Encoded take(BlockingQueue<Encoded> queue) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return queue.take();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Returns when no encoder works any more.
  @Override
  public void close() {
    encoders.forEach(encoder -> encoder.thread.interrupt());
    boolean interrupted = false;
    for (Encoder encoder : encoders) {
      while (encoder.thread.isAlive()) {
        try {
          encoder.thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Encodes the stretches `number`, `number` + n, … It waits for the writer where that is behind.
  private final class Encoder implements Pieces {
    private final int number;
    final Thread thread;
    final BlockingQueue<LogRecord> free = new ArrayBlockingQueue<>(PIECES);
    final BlockingQueue<Encoded> full = new ArrayBlockingQueue<>(PIECES + 1);
    private @Nullable LogRecord piece;

    Encoder(int number) {
      this.number = number;
      this.thread = new Thread(this::run, "kakehashi-store-encode");
      thread.setDaemon(true);
      for (int i = 0; i < PIECES; i++) {
        free.add(new LogRecord(SideFileWriter.PIECE_BYTES + MORE_BYTES));
      }
    }

    private void run() {
      BackgroundWork.begin();
      try {
        for (int stretch = number; stretch < stretches; stretch += encoders.size()) {
          rows.encode(stretch, this);
          full.put(Encoded.of(opened(), true));
          piece = null;
        }
      } catch (InterruptedException e) {
        // The writer has given up.
        Thread.currentThread().interrupt();
      } catch (Throwable e) {
        fail(e);
      }
    }

    private void fail(Throwable reason) {
      try {
        full.put(new Encoded(null, null, true, reason));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private LogRecord opened() throws InterruptedException {
      LogRecord open = piece;
      if (open == null) {
        open = free.take();
        piece = open;
      }
      return open;
    }

    @Override
    public LogRecord piece() throws InterruptedException {
      LogRecord open = opened();
      if (open.length() < SideFileWriter.PIECE_BYTES) {
        return open;
      }
      full.put(Encoded.of(open, false));
      piece = null;
      return opened();
    }

    @Override
    public void apart(Consumer<LogRecord> row) throws InterruptedException {
      LogRecord open = piece;
      if (open != null) {
        full.put(Encoded.of(open, false));
        piece = null;
      }
      full.put(new Encoded(null, row, false, null));
    }
  }
}
