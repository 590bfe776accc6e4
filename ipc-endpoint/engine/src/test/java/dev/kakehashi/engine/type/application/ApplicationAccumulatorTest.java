package dev.kakehashi.engine.type.application;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApplicationAccumulatorTest {
  private static final int GROUPS = 7;
  private static final int BATCHES = Integer.getInteger("kakehashi.accumulator.batches", 20);

  /// Gives back the values that it got, in their order.
  private static final class Listing implements AggregateCode {
    @Override
    public Object begin() {
      return "";
    }

    @Override
    public Object add(Object state, @Nullable Object[][] arguments, int count) {
      StringBuilder text = new StringBuilder((String) state);
      for (int i = 0; i < count; i++) {
        text.append(arguments[0][i]).append(' ');
      }
      return text.toString();
    }

    @Override
    public Object merge(Object state, Object other) {
      return (String) state + other;
    }

    @Override
    public Object result(Object state) {
      return state;
    }
  }

  private static ApplicationAggregate aggregate(boolean strict) {
    FunctionSignature signature =
        new FunctionSignature(
            "listed",
            FunctionKind.AGGREGATE,
            List.of(new Field("", TypeOid.INT8, true)),
            List.of(new Field("", TypeOid.TEXT, true)),
            Volatility.IMMUTABLE,
            strict,
            1,
            1);
    ApplicationContents contents =
        new ApplicationContents(List.of(signature), List.of(), List.of(), List.of(), List.of());
    return new ApplicationAggregate(
        new ApplicationDefinition(
            1,
            "public",
            "app",
            "owner",
            new VersionDefinition(2, 1, CodeIsolation.NONE, List.of(), contents),
            ApplicationOptions.DEFAULT),
        0,
        "listed");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldGiveEachGroupItsRowsInOrder(boolean strict) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    ApplicationAggregate aggregate = aggregate(strict);
    List<TreeMap<Integer, StringBuilder>> expected = new ArrayList<>();
    List<Accumulator> accumulators = new ArrayList<>();
    for (int part = 0; part < 2; part++) {
      Accumulator accumulator =
          new ApplicationAccumulator(aggregate, new Listing(), new FunctionMeter());
      accumulator.resize(GROUPS);
      TreeMap<Integer, StringBuilder> texts = new TreeMap<>();
      for (int batch = 0; batch < BATCHES; batch++) {
        ColumnVector column = new ColumnVector(1024);
        int count = random.nextInt(1024);
        int[] rows = new int[count];
        int[] groups = new int[count];
        for (int k = 0; k < count; k++) {
          rows[k] = k;
          // The last group gets none of the first part's rows.
          groups[k] = random.nextInt(GROUPS - 1 + part);
          column.words[k] = random.nextInt(1000);
          boolean isNull = random.nextInt(5) == 0;
          if (isNull) {
            column.setNull(k);
          }
          if (!isNull || !strict) {
            texts
                .computeIfAbsent(groups[k], _ -> new StringBuilder())
                .append(isNull ? "null" : Long.toString(column.words[k]))
                .append(' ');
          }
        }
        boolean dense = random.nextBoolean();
        accumulator.add(new ColumnVector[] {column}, dense ? null : rows, groups, count);
      }
      expected.add(texts);
      accumulators.add(accumulator);
    }
    int[] moved = new int[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
      moved[i] = (i + 3) % GROUPS;
    }
    accumulators.getFirst().merge(accumulators.getLast(), moved, GROUPS);
    try (VarHeap heap = new VarHeap()) {
      ColumnVector out = new ColumnVector(GROUPS);
      FunctionContext context = new FunctionContext(heap, 0, 0);
      for (int group = 0; group < GROUPS; group++) {
        accumulators.getFirst().result(group, out, group, context);
        int from = Math.floorMod(group - 3, GROUPS);
        String text =
            Objects.requireNonNullElse(expected.getFirst().get(group), new StringBuilder())
                    .toString()
                + Objects.requireNonNullElse(expected.getLast().get(from), new StringBuilder());
        assertEquals(text, JavaValues.toObject(TypeOid.TEXT, out.words[group]), "seed " + seed);
      }
    }
    accumulators.forEach(Accumulator::close);
  }
}
