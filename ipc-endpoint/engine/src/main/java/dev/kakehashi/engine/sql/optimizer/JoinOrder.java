package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.cardinality.RowEstimates;
import dev.kakehashi.engine.sql.cost.IndexLookup;
import dev.kakehashi.engine.sql.cost.JoinCost;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.rules.MultiJoin;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// The cheapest order of inner joins, of all there are: dynamic programming over sets of inputs (Selinger et al. 1979, bushy trees).
///
/// A set's rows do not depend on the order in which it is joined. A table with an index of what it is joined by costs a look for each row
/// of the other side if that is less than to read and hash it. Each row that comes out of a join costs one.
final class JoinOrder {
  /// Three to the power of this are looked at.
  static final int MAX_INPUTS = 10;

  private final MultiJoin join;
  private final RexBuilder rex;
  private final int inputs;

  /// First column of each input, and behind the last one.
  private final int[] starts;

  private final List<RexNode> terms;

  /// Inputs that each term is over.
  private final int[] termInputs;

  private final double[] rows;
  private final double[] costs;
  private final int[] lefts;

  /// Looks at an index of one input by values of others: what is known, by the terms that bind them.
  private final List<Map<BitSet, Optional<IndexLookup>>> lookups = new ArrayList<>();

  private JoinOrder(MultiJoin join) {
    this.join = join;
    this.rex = join.getCluster().getRexBuilder();
    this.inputs = join.getInputs().size();
    this.starts = new int[inputs + 1];
    for (int i = 0; i < inputs; i++) {
      starts[i + 1] = starts[i] + join.getInput(i).getRowType().getFieldCount();
    }
    this.terms = RelOptUtil.conjunctions(join.getJoinFilter());
    this.termInputs = new int[terms.size()];
    for (int t = 0; t < termInputs.length; t++) {
      for (int column : RelOptUtil.InputFinder.bits(terms.get(t))) {
        termInputs[t] |= 1 << inputOf(column);
      }
    }
    int sets = 1 << inputs;
    this.rows = new double[sets];
    this.costs = new double[sets];
    this.lefts = new int[sets];
    for (int i = 0; i < inputs; i++) {
      lookups.add(new HashMap<>());
    }
  }

  /// Replaces the multi-joins that have only inner joins, and not too many.
  static RelNode choose(RelNode rel) {
    return BottomUp.rewrite(
        rel,
        each ->
            each instanceof MultiJoin join && isOrdered(join) ? new JoinOrder(join).build() : each);
  }

  private static boolean isOrdered(MultiJoin join) {
    return join.getInputs().size() <= MAX_INPUTS
        && !join.isFullOuterJoin()
        && join.getPostJoinFilter() == null
        && join.getJoinTypes().stream().allMatch(type -> type == JoinRelType.INNER);
  }

  private int inputOf(int column) {
    int input = 0;
    while (column >= starts[input + 1]) {
      input++;
    }
    return input;
  }

  private RelNode build() {
    countRows();
    for (int i = 0; i < inputs; i++) {
      costs[1 << i] = IndexLookup.readCost(join.getInput(i), rows[1 << i], rex);
    }
    int all = (1 << inputs) - 1;
    for (int set = 1; set <= all; set++) {
      if (Integer.bitCount(set) > 1) {
        chooseSplit(set);
      }
    }
    Part whole = part(all);
    int columns = starts[inputs];
    List<RexNode> original = new ArrayList<>();
    for (int column = 0; column < columns; column++) {
      original.add(rex.makeInputRef(whole.rel, whole.position(column)));
    }
    List<String> names = join.getRowType().getFieldNames();
    RelNode ordered = whole.rel;
    List<RexNode> constant =
        java.util.stream.IntStream.range(0, terms.size())
            .filter(t -> termInputs[t] == 0)
            .mapToObj(terms::get)
            .toList();
    if (!constant.isEmpty()) {
      ordered =
          org.apache.calcite.rel.logical.LogicalFilter.create(
              ordered, RexUtil.composeConjunction(rex, constant));
    }
    return LogicalProject.create(ordered, List.of(), original, names, java.util.Set.of());
  }

  /// Rows of each set of inputs: all combinations, times the selectivities of the terms within it.
  private void countRows() {
    RowEstimates estimates = new RowEstimates();
    for (int set = 1; set < rows.length; set++) {
      double product = 1;
      for (int i = 0; i < inputs; i++) {
        if ((set >>> i & 1) != 0) {
          product *= set == 1 << i ? estimates.getRowCount(join.getInput(i)) : rows[1 << i];
        }
      }
      rows[set] = product;
    }
    // Selectivities of terms of the same inputs are reckoned together: they may be the columns of
    // one key.
    boolean[] done = new boolean[termInputs.length];
    for (int t = 0; t < termInputs.length; t++) {
      if (done[t] || termInputs[t] == 0) {
        continue;
      }
      List<RexNode> together = new ArrayList<>();
      for (int other = t; other < termInputs.length; other++) {
        if (termInputs[other] == termInputs[t]) {
          together.add(terms.get(other));
          done[other] = true;
        }
      }
      double selectivity = RowEstimates.joinSelectivity(join, together);
      for (int set = 1; set < rows.length; set++) {
        if ((set & termInputs[t]) == termInputs[t]) {
          rows[set] *= selectivity;
        }
      }
    }
    for (int set = 1; set < rows.length; set++) {
      rows[set] = Math.max(1, rows[set]);
    }
  }

  private void chooseSplit(int set) {
    costs[set] = Double.POSITIVE_INFINITY;
    // One input stays on the left, so that each pair of sides comes once.
    int first = Integer.lowestOneBit(set);
    int others = set ^ first;
    for (int right = others; right != 0; right = (right - 1) & others) {
      Interrupts.check();
      int left = set ^ right;
      double work =
          hasEquality(left, right)
              ? JoinCost.hashJoin(rows[left], rows[right])
              : JoinCost.nestedLoop(rows[left], rows[right]);
      double cost =
          Math.min(
                  costs[left] + costs[right] + work,
                  Math.min(lookupCost(left, right), lookupCost(right, left)))
              + rows[set];
      if (cost < costs[set]) {
        costs[set] = cost;
        lefts[set] = left;
      }
    }
  }

  /// Cost of joining the rows of some inputs with another by looks at its index; infinite if it has none.
  private double lookupCost(int outer, int inner) {
    if (Integer.bitCount(inner) != 1) {
      return Double.POSITIVE_INFINITY;
    }
    int input = Integer.numberOfTrailingZeros(inner);
    BitSet binding = new BitSet();
    for (int t = 0; t < termInputs.length; t++) {
      if ((termInputs[t] & inner) != 0
          && (termInputs[t] & outer) != 0
          && (termInputs[t] & ~(inner | outer)) == 0) {
        binding.set(t);
      }
    }
    return lookups
        .get(input)
        .computeIfAbsent(binding, by -> Optional.ofNullable(lookup(input, by)))
        .map(lookup -> costs[outer] + JoinCost.lookups(rows[outer], lookup.found()))
        .orElse(Double.POSITIVE_INFINITY);
  }

  private @Nullable IndexLookup lookup(int input, BitSet binding) {
    int first = starts[input];
    int end = starts[input + 1];
    List<RexNode> bound =
        binding.stream()
            .mapToObj(terms::get)
            .filter(RexUtil::isDeterministic)
            .map(term ->
                moved(
                    term,
                    reference ->
                        reference.getIndex() >= first && reference.getIndex() < end
                            ? new RexInputRef(reference.getIndex() - first, reference.getType())
                            : rex.makeDynamicParam(
                                reference.getType(),
                                IndexLookup.NO_PARAMETER + reference.getIndex())))
            .toList();
    return bound.isEmpty()
        ? null
        : IndexLookup.of(join.getInput(input), bound, IndexLookup.NO_PARAMETER, rex);
  }

  /// Whether a term compares for equality what the sides have each for themselves.
  private boolean hasEquality(int left, int right) {
    for (int t = 0; t < termInputs.length; t++) {
      int over = termInputs[t];
      if ((over & ~(left | right)) == 0
          && (over & left) != 0
          && (over & right) != 0
          && terms.get(t) instanceof RexCall call
          && call.getKind() == SqlKind.EQUALS
          && isOneSided(call.getOperands().get(0), left, right)
          && isOneSided(call.getOperands().get(1), left, right)) {
        return true;
      }
    }
    return false;
  }

  private boolean isOneSided(RexNode operand, int left, int right) {
    int over = 0;
    for (int column : RelOptUtil.InputFinder.bits(operand)) {
      over |= 1 << inputOf(column);
    }
    return (over & left) == 0 || (over & right) == 0;
  }

  /// A joined set of inputs.
  ///
  /// @param columns of the multi-join, in the order in which `rel` has them
  private record Part(RelNode rel, List<Integer> columns) {
    int position(int column) {
      return columns.indexOf(column);
    }
  }

  private Part part(int set) {
    if (Integer.bitCount(set) == 1) {
      int input = Integer.numberOfTrailingZeros(set);
      return new Part(
          join.getInput(input), ImmutableBitSet.range(starts[input], starts[input + 1]).asList());
    }
    int leftSet = lefts[set];
    int rightSet = set ^ leftSet;
    if (rows[leftSet] < rows[rightSet] && !hasEquality(leftSet, rightSet)) {
      // A nested loop keeps the rows of its right side in memory.
      leftSet = rightSet;
      rightSet = set ^ leftSet;
    }
    Part left = part(leftSet);
    Part right = part(rightSet);
    List<Integer> columns = new ArrayList<>(left.columns);
    columns.addAll(right.columns);
    List<RexNode> conditions = new ArrayList<>();
    for (int t = 0; t < termInputs.length; t++) {
      int over = termInputs[t];
      boolean within = over != 0 && (over & ~set) == 0;
      boolean before = (over & ~leftSet) == 0 || (over & leftSet) == 0;
      // A term over one input alone is checked where that is joined first: it covers a side only if
      // the side is that input.
      boolean alone = over == leftSet || over == rightSet;
      if (within && (!before || alone)) {
        conditions.add(
            moved(
                terms.get(t),
                reference ->
                    new RexInputRef(columns.indexOf(reference.getIndex()), reference.getType())));
      }
    }
    RelNode rel =
        LogicalJoin.create(
            left.rel,
            right.rel,
            List.of(),
            RexUtil.composeConjunction(rex, conditions),
            java.util.Set.of(),
            JoinRelType.INNER);
    return new Part(rel, columns);
  }

  private static RexNode moved(RexNode term, Function<RexInputRef, RexNode> column) {
    return term.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return column.apply(reference);
          }
        });
  }
}
