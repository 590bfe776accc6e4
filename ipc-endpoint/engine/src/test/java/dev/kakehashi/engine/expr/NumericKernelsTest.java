package dev.kakehashi.engine.expr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.numeric.NumericWord;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Numerics in words, in memory, and marked ones give what the functions give for numerics in memory.
final class NumericKernelsTest {
  private static final int ROUNDS = 300;
  private static final int ROWS = 200;

  private final long seed = ThreadLocalRandom.current().nextLong();
  private final Random random = new Random(seed);
  private final VectorBatch batch = new VectorBatch(2);
  private final VarHeap plain = new VarHeap();
  private final EvalContext context = new EvalContext();

  NumericKernelsTest() {
    context.functions = new FunctionContext(batch.heap, 0, 0);
  }

  @AfterEach
  void freeMemory() {
    batch.close();
    plain.close();
  }

  private static ScalarFunction function(String name) {
    return Objects.requireNonNull(
        Functions.resolve(name, new int[] {TypeOid.NUMERIC, TypeOid.NUMERIC}));
  }

  private BigDecimal number() {
    int bits =
        switch (random.nextInt(6)) {
          case 0 -> 4;
          case 1 -> 31;
          case 2 -> 54;
          case 3 -> 60;
          case 4 -> 64;
          default -> 20;
        };
    int scale = random.nextInt(8) == 0 ? random.nextInt(40) : random.nextInt(4);
    BigInteger unscaled = new BigInteger(bits, random);
    return new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
  }

  /// Fills a column with one of the forms for each row.
  ///
  /// @return the same values in memory
  private long[] fill(int column) {
    long[] memory = new long[ROWS];
    for (int row = 0; row < ROWS; row++) {
      if (random.nextInt(9) == 0) {
        batch.columns[column].setNull(row);
        continue;
      }
      long address =
          switch (random.nextInt(20)) {
            case 0 -> NumericForm.nan(plain);
            case 1 -> NumericForm.infinity(plain, random.nextBoolean());
            default -> NumericForm.of(plain, number());
          };
      long compact = CompactWord.ofNumeric(address);
      memory[row] = address;
      batch.columns[column].words[row] =
          compact != 0 && random.nextInt(4) > 0
              ? compact
              : random.nextBoolean() ? address : address | 7;
    }
    return memory;
  }

  @ParameterizedTest
  @ValueSource(strings = {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*"})
  void shouldGiveWhatTheFunctionGives(String name) {
    ScalarFunction function = function(name);
    boolean isNumber = function.resultOid() == TypeOid.NUMERIC;
    Expr.Call call =
        call(name, new Expr.Column(0, TypeOid.NUMERIC), new Expr.Column(1, TypeOid.NUMERIC));
    assertTrue(NumericKernels.takesCompact(call));
    Evaluator compact = NumericKernels.of(call, context, true);
    Evaluator inMemory = NumericKernels.of(call, context, false);
    for (int round = 0; round < ROUNDS; round++) {
      batch.reset();
      plain.reset();
      batch.size = ROWS;
      long[] left = fill(0);
      long[] right = fill(1);
      select();
      for (Evaluator evaluator : List.of(compact, inMemory)) {
        var found = evaluator.evaluate(batch);
        for (int k = 0; k < batch.liveRows(); k++) {
          int row = batch.selected < 0 ? k : batch.selection[k];
          String what = "seed %d, round %d, row %d".formatted(seed, round, row);
          if (left[row] == 0 || right[row] == 0) {
            assertTrue(found.isNull(row), what);
            continue;
          }
          assertFalse(found.isNull(row), what);
          long expected =
              function
                  .body()
                  .apply(new long[] {left[row], right[row]}, 0, new FunctionContext(plain, 0, 0));
          if (isNumber) {
            assertTrue(evaluator.equals(compact) || !CompactWord.isCompact(found.words[row]), what);
            assertEquals(
                Values.toText(TypeOid.NUMERIC, expected),
                Values.toText(TypeOid.NUMERIC, NumericWord.inMemory(found.words[row], plain)),
                what);
          } else {
            assertEquals(expected, found.words[row], what);
          }
        }
      }
    }
  }

  private void select() {
    if (random.nextBoolean()) {
      batch.selected = 0;
      for (int row = 0; row < ROWS; row++) {
        if (random.nextInt(3) == 0) {
          batch.selection[batch.selected++] = row;
        }
      }
    }
  }

  private static Expr.Call call(String name, Expr left, Expr right) {
    return new Expr.Call(function(name), List.of(left, right));
  }

  @Test
  void shouldKnowWhichColumnsItNeedsInMemory() {
    Expr column = new Expr.Column(3, TypeOid.NUMERIC);
    Expr other = new Expr.Column(5, TypeOid.NUMERIC);
    Expr sum = call("+", column, other);
    assertEquals(0, ExprRewriter.columnsInMemory(call("<", sum, column)).cardinality());
    assertEquals(
        0, ExprRewriter.columnsInMemory(new Expr.Not(call("=", column, sum))).cardinality());
    Expr isNull = new Expr.IsNull(other);
    assertEquals(
        5,
        ExprRewriter.columnsInMemory(new Expr.And(List.of(isNull, call("=", column, sum)))).length()
            - 1);
  }
}
