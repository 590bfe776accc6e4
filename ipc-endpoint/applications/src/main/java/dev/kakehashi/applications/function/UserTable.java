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
    run.begin();
    try {
      Iterable<?> iterable = (Iterable<?>) body.apply(shape.make(arguments));
      return iterable == null
          ? java.util.Collections.emptyIterator()
          : new Rows(iterable.iterator());
    } catch (Throwable t) {
      throw run.failed(t);
    } finally {
      run.end(0);
    }
  }

  /// Both methods are calls of users' code.
  private final class Rows implements Iterator<@Nullable Object[]> {
    private final Iterator<?> iterator;

    Rows(Iterator<?> iterator) {
      this.iterator = iterator;
    }

    @Override
    public boolean hasNext() {
      run.begin();
      try {
        return iterator.hasNext();
      } catch (Throwable t) {
        throw run.failed(t);
      } finally {
        run.end(0);
      }
    }

    @Override
    public @Nullable Object[] next() {
      run.begin();
      try {
        if (!iterator.hasNext()) {
          throw new NoSuchElementException();
        }
        return rows.row(iterator.next());
      } catch (Throwable t) {
        throw run.failed(t);
      } finally {
        run.end(1);
      }
    }
  }
}
