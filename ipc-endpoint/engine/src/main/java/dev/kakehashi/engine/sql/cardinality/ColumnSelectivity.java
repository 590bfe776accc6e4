package dev.kakehashi.engine.sql.cardinality;

import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.statistics.ColumnStatistics;
import dev.kakehashi.engine.statistics.ValueList;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.value.Values;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/// Fractions of a table's rows whose column compares with a value in some way, as PostgreSQL's selfuncs.c reckons them: most common values
/// are looked at one by one, the others by the histogram, with a straight line between its bounds.
public final class ColumnSelectivity {
  /// PostgreSQL's DEFAULT_EQ_SEL.
  static final double DEFAULT_EQUAL = 0.005;

  /// PostgreSQL's DEFAULT_INEQ_SEL.
  public static final double DEFAULT_INEQUALITY = 1 / 3.0;

  private ColumnSelectivity() {}

  /// Column equals a value.
  static double equal(ColumnOrigin column, Constant value) {
    if (value.isNull()) {
      return 0;
    }
    if (column.isUnique()) {
      return 1 / Math.max(1, column.tableRows());
    }
    ColumnStatistics statistics = column.statistics();
    ValueList common = statistics == null ? null : statistics.mostCommon();
    if (statistics == null || common == null || !sameKind(common, value)) {
      return equalToSome(column);
    }
    for (int i = 0; i < common.size(); i++) {
      if (common.equal(i, value.word())) {
        return statistics.frequencies()[i];
      }
    }
    double others = column.distinct() - common.size();
    double rest = Math.max(0, 1 - statistics.commonFraction() - statistics.nullFraction());
    double each = others > 1 ? rest / others : rest;
    double[] frequencies = statistics.frequencies();
    // A value that is not among the most common ones is rarer than they are.
    return frequencies.length == 0 ? each : Math.min(each, frequencies[frequencies.length - 1]);
  }

  /// Column equals a value that is not known now.
  static double equalToSome(ColumnOrigin column) {
    return (1 - column.nullFraction()) / column.distinct();
  }

  /// Column is less or greater than a value.
  ///
  /// @param kind one of the four order comparisons
  static double compared(ColumnOrigin column, SqlKind kind, Constant value) {
    if (value.isNull()) {
      return 0;
    }
    ColumnStatistics statistics = column.statistics();
    if (statistics == null
        || !Types.hasOrder(statistics.oid())
        || Types.kind(statistics.oid()) != Types.kind(value.type().oid())) {
      return DEFAULT_INEQUALITY * (1 - column.nullFraction());
    }
    boolean less = kind == SqlKind.LESS_THAN || kind == SqlKind.LESS_THAN_OR_EQUAL;
    boolean orEqual = kind == SqlKind.LESS_THAN_OR_EQUAL || kind == SqlKind.GREATER_THAN_OR_EQUAL;
    double matching = 0;
    ValueList common = statistics.mostCommon();
    for (int i = 0; common != null && i < common.size(); i++) {
      int order = common.compare(i, value.word());
      if (order == 0 ? orEqual : order < 0 == less) {
        matching += statistics.frequencies()[i];
      }
    }
    double rest = Math.max(0, 1 - statistics.commonFraction() - statistics.nullFraction());
    if (rest > 0) {
      ValueList histogram = statistics.histogram();
      double below = histogram == null ? 0.5 : below(histogram, value.word());
      matching += rest * (less ? below : 1 - below);
    }
    return Math.clamp(matching, 0, 1);
  }

  private static boolean sameKind(ValueList values, Constant value) {
    return Types.kind(values.oid()) == Types.kind(value.type().oid());
  }

  /// Fraction of a histogram's rows that is less than a value; never quite nothing and never quite all, because the ends are those of a
  /// sample.
  private static double below(ValueList histogram, long word) {
    int parts = histogram.size() - 1;
    double least = 0.01 / parts;
    int low = 0;
    int high = parts + 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (histogram.compare(middle, word) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) {
      return least;
    }
    if (low > parts) {
      return 1 - least;
    }
    ColumnKind kind = Types.kind(histogram.oid());
    Double from = number(kind, histogram.oid(), histogram.word(low - 1));
    Double to = number(kind, histogram.oid(), histogram.word(low));
    Double at = number(kind, histogram.oid(), word);
    histogram.keepAlive();
    double within = 0.5;
    if (from != null && to != null && at != null && to > from) {
      within = Math.clamp((at - from) / (to - from), 0, 1);
    }
    return Math.clamp((low - 1 + within) / parts, least, 1 - least);
  }

  /// Where a value lies on a line; null if that cannot be said.
  private static @Nullable Double number(ColumnKind kind, int oid, long word) {
    Double number =
        switch (kind) {
          case INTEGER -> (double) word;
          case FLOAT4 -> (double) FloatMath.ofWord4(word);
          case FLOAT8 -> FloatMath.ofWord8(word);
          case NUMERIC -> {
            String text = Values.toText(oid, word);
            yield text.equals("NaN") ? null : Double.valueOf(text);
          }
          case VARLENA, BPCHAR -> prefixNumber(Values.toText(oid, word));
          default -> null;
        };
    return number == null || !Double.isFinite(number) ? null : number;
  }

  /// The first characters as digits of a fraction.
  private static double prefixNumber(String text) {
    double number = 0;
    double unit = 1;
    for (int i = 0; i < Math.min(8, text.length()); i++) {
      unit /= 256;
      number += Math.min(255, text.charAt(i)) * unit;
    }
    return number;
  }
}
