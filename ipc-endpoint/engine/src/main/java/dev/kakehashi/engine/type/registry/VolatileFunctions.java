package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.time.DateTimeMath;
import dev.kakehashi.engine.type.value.UuidFunctions;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgTime;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;

/// Functions that give another value at each call.
public final class VolatileFunctions {
  private static final Set<String> NAMES =
      Set.of(
          "cancel_task",
          "clock_timestamp",
          "complete",
          "complete_and_receive",
          "currval",
          "enqueue",
          "extend",
          "fail",
          "gen_random_uuid",
          "lastval",
          "nextval",
          "random",
          "receive",
          "release",
          "setseed",
          "setval",
          "terminate_transaction",
          "uuidv4",
          "uuidv7");

  private VolatileFunctions() {}

  static void register(FunctionSet set) {
    set.addStable("random", TypeOid.FLOAT8, (_, _, c) -> FloatMath.word(c.random.next()));
    // PostgreSQL's returns void, which is no type here and looks the same.
    set.addStable(
        "setseed",
        TypeOid.TEXT,
        (a, _, c) -> {
          c.random.seed(FloatMath.ofWord8(a[0]));
          return Varlena.of(c.heap, "");
        },
        TypeOid.FLOAT8);
    set.addStable(
        "terminate_transaction",
        TypeOid.BOOL,
        (a, _, c) -> c.terminateTransaction(a[0]) ? 1 : 0,
        TypeOid.INT8);
    set.addStable(
        "clock_timestamp", TypeOid.TIMESTAMPTZ, (_, _, _) -> PgTime.fromInstant(Instant.now()));
    for (String name : new String[] {"gen_random_uuid", "uuidv4"}) {
      set.addStable(name, TypeOid.UUID, (_, _, c) -> Values.ofUuid(UUID.randomUUID(), c.heap));
    }
    set.addStable("uuidv7", TypeOid.UUID, (_, _, c) -> UuidFunctions.version7(t -> t, c));
    set.addStable(
        "uuidv7",
        TypeOid.UUID,
        (a, _, c) -> UuidFunctions.version7(t -> DateTimeMath.addInterval(t, a[0], c.zone), c),
        TypeOid.INTERVAL);
  }

  /// Whether calls must be neither repeated nor left out.
  public static boolean contains(String name) {
    return NAMES.contains(name);
  }
}
