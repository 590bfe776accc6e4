package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.ChunkMeta;
import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.FileMeta.GroupMeta;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which row groups have no row that fulfils all conditions, as far as their statistics tell. Immutable.
///
/// Only what the format allows is trusted: bounds need an order of their type that the file declares. The deprecated minimum and maximum
/// are not read, a bound that is NaN or does not fit its type is none, nor are two of which the first is greater. A bound need not be a
/// value, so shortened texts do.
final class GroupFilter {
  private final List<Term> terms = new ArrayList<>();

  /// A condition on a column of the file.
  ///
  /// @param ordered whether its bounds have a known order
  private record Term(
      LoadCondition condition, FileColumn source, LoadColumn target, boolean ordered) {}

  /// @param columns of the rows: indices into those that the conditions are about
  /// @param sources columns of the file, for each of `columns`
  /// @param typeOrders of the file's leaves
  GroupFilter(
      List<LoadCondition> conditions,
      int[] columns,
      List<FileColumn> sources,
      List<LoadColumn> targets,
      List<Boolean> typeOrders) {
    for (LoadCondition condition : conditions) {
      for (int i = 0; i < columns.length; i++) {
        FileColumn source = sources.get(i);
        if (columns[i] == condition.column() && !source.isList() && source.leaves().size() == 1) {
          int leaf = source.firstLeaf();
          boolean ordered = leaf < typeOrders.size() && typeOrders.get(leaf);
          terms.add(new Term(condition, source, targets.get(i), ordered));
        }
      }
    }
  }

  boolean excludes(GroupMeta group) {
    return terms.stream().anyMatch(term -> excludes(term, group));
  }

  private static boolean excludes(Term term, GroupMeta group) {
    ChunkMeta chunk = group.chunks().get(term.source.firstLeaf());
    ChunkStatistics statistics = chunk.statistics();
    LoadCondition condition = term.condition;
    boolean allNull = statistics.nulls() == group.rows() && chunk.values() == group.rows();
    if (condition.operator() == LoadCondition.Operator.IS_NULL) {
      return statistics.nulls() == 0;
    }
    if (allNull || condition.value() == null) {
      return allNull;
    }
    return term.ordered
        && excludes(condition, GroupBounds.of(term.source, term.target, statistics));
  }

  private static boolean excludes(LoadCondition condition, @Nullable GroupBounds bounds) {
    Object value = condition.value();
    if (bounds == null || value == null) {
      return false;
    }
    return switch (condition.operator()) {
      case LESS -> bounds.leastIs(value, order -> order >= 0);
      case LESS_OR_EQUAL -> bounds.leastIs(value, order -> order > 0);
      case GREATER -> bounds.greatestIs(value, order -> order <= 0);
      case GREATER_OR_EQUAL -> bounds.greatestIs(value, order -> order < 0);
      case EQUAL ->
          bounds.leastIs(value, order -> order > 0)
              || bounds.greatestWithoutNanIs(value, order -> order < 0);
      case IS_NULL, IS_NOT_NULL -> false;
    };
  }
}
