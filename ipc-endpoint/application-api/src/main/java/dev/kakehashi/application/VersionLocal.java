package dev.kakehashi.application;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Replacement of [ThreadLocal] in an application's classes, made when they are loaded; for the platform.
///
/// Threads of the platform outlive a version. A value of users' code that stayed with one of them would keep the version in memory. So
/// values lie here, and go with their variable. Values of the virtual thread of a call go with the thread.
public class VersionLocal<T> extends ThreadLocal<T> {
  /// Name of virtual threads that outlive a version as well.
  public static final String LASTING_THREAD = "kakehashi-application-code";

  private static final Object NULL = new Object();

  private final Map<Thread, Object> values = new WeakHashMap<>(); // guarded by itself

  public VersionLocal() {}

  private static boolean endsWithItsCall(Thread thread) {
    return thread.isVirtual() && !thread.getName().equals(LASTING_THREAD);
  }

  /// As [ThreadLocal#withInitial].
  public static <S> ThreadLocal<S> withInitial(Supplier<? extends S> supplier) {
    return new Supplied<>(supplier);
  }

  @Override
  @SuppressWarnings({
    "unchecked", // what set has put
    "NullAway", // as ThreadLocal's, of which null is a value
    "ReferenceEquality" // one object stands for null
  })
  public T get() {
    Thread thread = Thread.currentThread();
    if (endsWithItsCall(thread)) {
      return super.get();
    }
    Object known;
    synchronized (values) {
      known = values.get(thread);
    }
    if (known == null) {
      T first = initialValue();
      set(first);
      return first;
    }
    return known == NULL ? null : (T) known;
  }

  @Override
  public void set(@Nullable T value) {
    Thread thread = Thread.currentThread();
    if (endsWithItsCall(thread)) {
      super.set(value);
      return;
    }
    synchronized (values) {
      values.put(thread, value == null ? NULL : value);
    }
  }

  @Override
  public void remove() {
    Thread thread = Thread.currentThread();
    if (endsWithItsCall(thread)) {
      super.remove();
      return;
    }
    synchronized (values) {
      values.remove(thread);
    }
  }

  private static final class Supplied<S> extends VersionLocal<S> {
    private final Supplier<? extends S> supplier;

    Supplied(Supplier<? extends S> supplier) {
      this.supplier = supplier;
    }

    @Override
    protected S initialValue() {
      return supplier.get();
    }
  }
}
