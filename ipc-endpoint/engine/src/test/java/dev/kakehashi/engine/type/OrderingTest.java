package dev.kakehashi.engine.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Order, equality and hash agree with each other and with the comparison operators (which are compared with PostgreSQL's elsewhere).
final class OrderingTest {
  private static final int ROUNDS = 400;

  @Test
  void shouldOrderAsTheOperatorsDoAndHashEqualValuesEqually() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    RandomValues values = new RandomValues(seed);
    try (VarHeap heap = new VarHeap()) {
      FunctionContext context = new FunctionContext(heap, 0, 0);
      for (int oid : Types.all()) {
        int compared = oid == TypeOid.VARCHAR ? TypeOid.TEXT : oid;
        ScalarFunction less = resolve("<", compared);
        ScalarFunction equal = resolve("=", compared);
        for (int i = 0; i < ROUNDS; i++) {
          String textA = values.value(oid);
          String textB = i % 3 == 0 ? textA : values.value(oid);
          long a = Values.parse(oid, textA, heap);
          long b = Values.parse(oid, textB, heap);
          int order = Ordering.compare(oid, a, b);
          long[] both = {a, b};
          String shown = Types.name(oid) + " " + textA + ", " + textB + ", seed " + seed;
          assertEquals(less.body().apply(both, 0, context) != 0, order < 0, shown);
          assertEquals(equal.body().apply(both, 0, context) != 0, order == 0, shown);
          assertEquals(order == 0, Ordering.equal(oid, a, b), shown);
          assertEquals(Integer.signum(order), -Integer.signum(Ordering.compare(oid, b, a)), shown);
          if (order == 0) {
            assertEquals(Ordering.hash(oid, a), Ordering.hash(oid, b), shown);
          }
        }
      }
    }
  }

  private static ScalarFunction resolve(String name, int oid) {
    ScalarFunction function = Functions.resolve(name, new int[] {oid, oid});
    if (function == null) {
      throw new AssertionError(name + " of " + Types.name(oid));
    }
    return function;
  }

  @Test
  void shouldTakeDifferentFormsOfEqualValuesForEqual() {
    assertEqualForms(TypeOid.NUMERIC, "1.0", "1.00");
    assertEqualForms(TypeOid.NUMERIC, "0", "0.000");
    assertEqualForms(TypeOid.NUMERIC, "1e70", "1" + "0".repeat(70) + "." + "0".repeat(80));
    assertEqualForms(TypeOid.FLOAT8, "0", "-0");
    assertEqualForms(TypeOid.FLOAT4, "0", "-0");
    assertEqualForms(TypeOid.BPCHAR, "a", "a   ");
    assertEqualForms(TypeOid.INTERVAL, "1 mon", "30 days");
    assertEqualForms(TypeOid.INTERVAL, "1 day", "24:00:00");
  }

  private static void assertEqualForms(int oid, String a, String b) {
    try (VarHeap heap = new VarHeap()) {
      long left = Values.parse(oid, a, heap);
      long right = Values.parse(oid, b, heap);
      assertEquals(0, Ordering.compare(oid, left, right));
      assertTrue(Ordering.equal(oid, left, right));
      assertEquals(Ordering.hash(oid, left), Ordering.hash(oid, right));
    }
  }

  @Test
  void shouldPutNanAboveEverything() {
    try (VarHeap heap = new VarHeap()) {
      for (int oid : new int[] {TypeOid.NUMERIC, TypeOid.FLOAT4, TypeOid.FLOAT8}) {
        List<Long> ascending = new ArrayList<>();
        for (String text : List.of("-Infinity", "-1", "0", "1", "Infinity", "NaN")) {
          ascending.add(Values.parse(oid, text, heap));
        }
        for (int i = 1; i < ascending.size(); i++) {
          assertTrue(Ordering.compare(oid, ascending.get(i - 1), ascending.get(i)) < 0);
        }
      }
    }
  }
}
