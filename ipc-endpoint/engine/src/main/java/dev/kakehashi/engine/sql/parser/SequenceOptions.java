package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.type.SequenceDefinition;
import org.jspecify.annotations.Nullable;

/// Options of CREATE or ALTER SEQUENCE. An option, or the value of a limit, that is not given is null.
public record SequenceOptions(
    @Nullable Integer typeOid,
    @Nullable Long start,
    @Nullable Long increment,
    Limit min,
    Limit max,
    @Nullable Long cache,
    @Nullable Boolean cycles,
    @Nullable Restart restart,
    @Nullable Owner owner) {
  static final SequenceOptions NONE = new Builder().build();

  /// MINVALUE or MAXVALUE.
  ///
  /// @param value null: not said
  /// @param byType whether it is the default of the type: NO MINVALUE, NO MAXVALUE
  public record Limit(@Nullable Long value, boolean byType) {
    private static final Limit UNSAID = new Limit(null, false);
    private static final Limit BY_TYPE = new Limit(null, true);

    private Limit orByType(boolean other) {
      return new Limit(value, byType || other);
    }
  }

  /// RESTART.
  ///
  /// @param value the next one; null: the start
  public record Restart(@Nullable Long value) {}

  /// OWNED BY.
  ///
  /// @param column null: none
  public record Owner(QualifiedName.@Nullable Column column) {}

  /// AS and nothing else.
  public static SequenceOptions of(int typeOid) {
    return new Builder().typeOid(typeOid).build();
  }

  /// All that another sequence has.
  public static SequenceOptions of(int typeOid, SequenceDefinition numbers) {
    return new Builder()
        .typeOid(typeOid)
        .start(numbers.start())
        .increment(numbers.increment())
        .min(numbers.min())
        .max(numbers.max())
        .cache(numbers.cache())
        .cycles(numbers.cycles())
        .build();
  }

  /// Also NO MINVALUE and NO MAXVALUE, where limits are not said.
  public SequenceOptions withDefaultLimits(boolean ofMin, boolean ofMax) {
    return new SequenceOptions(
        typeOid,
        start,
        increment,
        min.orByType(ofMin),
        max.orByType(ofMax),
        cache,
        cycles,
        restart,
        owner);
  }

  /// Collects options.
  static final class Builder {
    private @Nullable Integer typeOid;
    private @Nullable Long start;
    private @Nullable Long increment;
    private Limit min = Limit.UNSAID;
    private Limit max = Limit.UNSAID;
    private @Nullable Long cache;
    private @Nullable Boolean cycles;
    private @Nullable Restart restart;
    private @Nullable Owner owner;

    Builder typeOid(int oid) {
      typeOid = oid;
      return this;
    }

    Builder start(long value) {
      start = value;
      return this;
    }

    Builder increment(long value) {
      increment = value;
      return this;
    }

    Builder min(long value) {
      min = new Limit(value, false);
      return this;
    }

    Builder noMin() {
      min = Limit.BY_TYPE;
      return this;
    }

    Builder max(long value) {
      max = new Limit(value, false);
      return this;
    }

    Builder noMax() {
      max = Limit.BY_TYPE;
      return this;
    }

    Builder cache(long values) {
      cache = values;
      return this;
    }

    Builder cycles(boolean begins) {
      cycles = begins;
      return this;
    }

    /// @param value null: the start
    Builder restart(@Nullable Long value) {
      restart = new Restart(value);
      return this;
    }

    /// @param column null: none
    Builder owner(QualifiedName.@Nullable Column column) {
      owner = new Owner(column);
      return this;
    }

    SequenceOptions build() {
      return new SequenceOptions(
          typeOid, start, increment, min, max, cache, cycles, restart, owner);
    }
  }
}
