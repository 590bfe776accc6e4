package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// From a sample of a column's values to its statistics, by the rules of PostgreSQL's `compute_scalar_stats` (analyze.c): the number of
/// distinct values after Haas and Stokes ("Estimating the number of classes in a finite population", 1998, the Duj1 estimator), the most
/// common values as far as they are significantly more frequent than the others, and a histogram of the rest with bounds of equal
/// frequency.
final class ColumnAnalyzer {
  /// Most common values and parts of the histogram, PostgreSQL's default_statistics_target.
  static final int TARGET = 100;

  private static final double GROWS_WITH_ROWS = 0.1;

  /// Comparisons between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 10) - 1;

  private final TableSample.Values values;
  private final double sampleRows;
  private final double tableRows;
  private final long[] words;

  /// Where each run of equal values begins in `words`.
  private int[] starts = new int[0];

  /// Values that occur more than once in the sample.
  private int repeated;

  private int compared;

  private ColumnAnalyzer(TableSample.Values values, int sampleRows, double tableRows) {
    this.values = values;
    this.sampleRows = sampleRows;
    this.tableRows = tableRows;
    this.words = Arrays.copyOf(values.words, values.count);
  }

  /// @param tableRows rows of the table that the sample comes from
  static ColumnStatistics analyze(TableSample.Values values, int sampleRows, double tableRows) {
    return new ColumnAnalyzer(values, sampleRows, tableRows).analyze();
  }

  private ColumnStatistics analyze() {
    double nullFraction = sampleRows == 0 ? 0 : values.nulls / sampleRows;
    int notNull = values.count + values.tooWide;
    int width = notNull == 0 ? 0 : width(notNull);
    // To read documents as often as sorting takes costs more than what is known of them gives.
    if (!Types.hasEquality(values.oid) || values.kind.isDocument()) {
      return new ColumnStatistics(values.oid, nullFraction, width, 0, null, new double[0], null);
    }
    sort();
    findRuns();
    double distinct = distinct(nullFraction);
    List<Integer> common = commonRuns(distinct, nullFraction);
    long[] commonWords = common.stream().mapToLong(run -> words[starts[run]]).toArray();
    double[] frequencies = common.stream().mapToDouble(run -> count(run) / sampleRows).toArray();
    return new ColumnStatistics(
        values.oid,
        nullFraction,
        width,
        distinct,
        ValueList.copyOf(values.oid, commonWords),
        frequencies,
        Types.hasOrder(values.oid) ? histogram(common) : null);
  }

  private int width(int notNull) {
    return switch (values.oid) {
      case TypeOid.BOOL -> 1;
      case TypeOid.INT2 -> 2;
      case TypeOid.INT4, TypeOid.DATE, TypeOid.FLOAT4 -> 4;
      default -> values.kind.byReference() ? (int) (values.bytes / notNull) : 8;
    };
  }

  private void sort() {
    ColumnKind kind = values.kind;
    if (kind == ColumnKind.INTEGER) {
      Arrays.sort(words);
      return;
    }
    Long[] boxed = Arrays.stream(words).boxed().toArray(Long[]::new);
    Arrays.sort(
        boxed,
        (a, b) -> {
          if ((++compared & CHECK_MASK) == 0) {
            Interrupts.check();
          }
          return Ordering.compare(kind, a, b);
        });
    for (int i = 0; i < boxed.length; i++) {
      words[i] = boxed[i];
    }
  }

  private void findRuns() {
    int[] found = new int[words.length + 1];
    int runs = 0;
    for (int i = 0; i < words.length; i++) {
      if (i == 0 || !Ordering.equal(values.kind, words[i - 1], words[i])) {
        found[runs++] = i;
      } else if (found[runs - 1] == i - 1) {
        repeated++;
      }
    }
    starts = Arrays.copyOf(found, runs);
  }

  private int count(int run) {
    return (run + 1 < starts.length ? starts[run + 1] : words.length) - starts[run];
  }

  private double distinct(double nullFraction) {
    double present = sampleRows - values.nulls;
    double distinct;
    if (present == 0) {
      return 0;
    } else if (repeated == 0) {
      // No value twice: a key, as far as one can see.
      return -(1 - nullFraction);
    } else if (values.tooWide == 0 && repeated == starts.length) {
      // Every value again: there are no others.
      distinct = starts.length;
    } else {
      double once = starts.length - repeated + values.tooWide;
      double seen = once + repeated;
      double all = tableRows * (1 - nullFraction);
      distinct = present * seen / (present - once + once * present / all);
      distinct = Math.floor(Math.clamp(distinct, seen, Math.max(seen, all)) + 0.5);
    }
    return distinct > GROWS_WITH_ROWS * tableRows ? -distinct / tableRows : distinct;
  }

  /// Runs of the most common values, the longest first.
  private List<Integer> commonRuns(double distinct, double nullFraction) {
    List<Integer> runs = new ArrayList<>();
    boolean all =
        values.tooWide == 0 && distinct > 0 && starts.length <= TARGET && repeated == starts.length;
    for (int run = 0; run < starts.length; run++) {
      if (count(run) > 1) {
        runs.add(run);
      }
    }
    runs.sort(Comparator.comparingInt((Integer run) -> -count(run)).thenComparing(run -> run));
    if (all || runs.isEmpty()) {
      return runs;
    }
    List<Integer> candidates = runs.subList(0, Math.min(TARGET, runs.size()));
    return candidates.subList(0, significant(candidates, distinct, nullFraction));
  }

  /// How many of the values are more frequent than chance would make one of the others, by two standard deviations (PostgreSQL's
  /// analyze_mcv_list).
  private int significant(List<Integer> runs, double distinct, double nullFraction) {
    int kept = runs.size();
    if (sampleRows >= tableRows || tableRows <= 1) {
      return kept;
    }
    double distinctInTable = distinct < 0 ? -distinct * tableRows : distinct;
    double more = 0;
    for (int i = 0; i < kept - 1; i++) {
      more += count(runs.get(i));
    }
    while (kept > 0) {
      double others = distinctInTable - (kept - 1);
      double selectivity =
          Math.clamp(1 - more / sampleRows - nullFraction, 0, 1) / Math.max(1, others);
      double last = count(runs.get(kept - 1));
      double inTable = tableRows * last / sampleRows;
      double variance =
          sampleRows
              * inTable
              * (tableRows - inTable)
              * (tableRows - sampleRows)
              / (tableRows * tableRows * (tableRows - 1));
      if (last > selectivity * sampleRows + 2 * Math.sqrt(variance) + 0.5) {
        break;
      }
      kept--;
      if (kept > 0) {
        more -= count(runs.get(kept - 1));
      }
    }
    return kept;
  }

  private @Nullable ValueList histogram(List<Integer> common) {
    int distinctOthers = starts.length - common.size();
    if (distinctOthers < 2) {
      return null;
    }
    boolean[] isCommon = new boolean[starts.length];
    common.forEach(run -> isCommon[run] = true);
    long[] others = new long[words.length];
    int count = 0;
    for (int run = 0; run < starts.length; run++) {
      if (!isCommon[run]) {
        System.arraycopy(words, starts[run], others, count, count(run));
        count += count(run);
      }
    }
    int bounds = Math.min(distinctOthers, TARGET + 1);
    long[] histogram = new long[bounds];
    for (int i = 0; i < bounds; i++) {
      histogram[i] = others[(int) ((long) i * (count - 1) / (bounds - 1))];
    }
    return ValueList.copyOf(values.oid, histogram);
  }
}
