package dev.kakehashi.applications.function;

import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.engine.api.application.LoadedApplication.TableCode;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A table function. Its iterator is used by one task at a time.
record UserTable(
    FunctionRun run, ArgumentShape shape, ResultShape rows, Function<Object, Object> body)
    implements TableCode {
  @Override
  public Iterator<@Nullable Object[]> open(@Nullable Object[] arguments) {
    return run.call(
        0,
        () -> {
          Iterable<?> iterable = (Iterable<?>) body.apply(shape.make(arguments));
          return iterable == null
              ? java.util.Collections.emptyIterator()
              : new Rows(iterable.iterator());
        });
  }

  /// Takes rows in batches that grow while they are quick, because each is a call of users' code.
  private final class Rows implements Iterator<@Nullable Object[]> {
    private static final int MOST_ROWS = 256;

    /// A batch that has taken so long is not made longer.
    private static final long ENOUGH_NANOS = 1_000_000;

    private final Iterator<?> iterator;
    private int batchRows = 1;
    private Batch batch = new Batch(new @Nullable Object[0][], 0, true, null);
    private int next;

    Rows(Iterator<?> iterator) {
      this.iterator = iterator;
    }

    @Override
    public boolean hasNext() {
      while (next == batch.count()) {
        if (batch.thrown() != null) {
          run.call(
              0,
              () -> {
                throw batch.thrown();
              });
        }
        if (!batch.goesOn()) {
          return false;
        }
        next = 0;
        batch = run.call(batchRows, () -> take(iterator, batchRows));
        if (batch.count() == batchRows) {
          batchRows = Math.min(MOST_ROWS, 2 * batchRows);
        }
      }
      return true;
    }

    @Override
    public @Nullable Object[] next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return batch.rows()[next++];
    }

    /// An exception comes behind the rows before it, which may be all that the reader wants.
    private Batch take(Iterator<?> from, int most) throws Throwable {
      @Nullable Object[][] taken = new @Nullable Object[most][];
      int count = 0;
      long began = System.nanoTime();
      try {
        while (count < most && System.nanoTime() - began < ENOUGH_NANOS) {
          run.check();
          if (!from.hasNext()) {
            return new Batch(taken, count, false, null);
          }
          taken[count] = rows.row(from.next());
          count++;
        }
      } catch (Throwable t) {
        if (count == 0) {
          throw t;
        }
        return new Batch(taken, count, false, t);
      }
      return new Batch(taken, count, true, null);
    }
  }

  /// Rows that have been taken.
  ///
  /// @param goesOn whether there may be more
  /// @param thrown what the code threw behind them
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Batch(
      @Nullable Object[][] rows, int count, boolean goesOn, @Nullable Throwable thrown) {}
}
