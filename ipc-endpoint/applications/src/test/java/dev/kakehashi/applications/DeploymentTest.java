package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is null fails the test
class DeploymentTest {
  private static final String ORDER = "record Order(long id, String customer, BigDecimal total) {}";

  private static ApplicationContents inspect(JarContent... jars) {
    try (PlatformRig rig = new PlatformRig()) {
      return rig.system.inspect("shop", List.of(jars), CodeIsolation.NONE);
    }
  }

  private static String refusal(JarContent... jars) {
    EngineException e = assertThrows(EngineException.class, () -> inspect(jars));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code(), e.getMessage());
    return e.getMessage();
  }

  @Test
  void shouldTellWhatAJarDefines() {
    ApplicationContents contents =
        inspect(
            UserJar.shop(
                    """
                    it.function("vat", BigDecimal.class, BigDecimal.class, v -> v).immutable().strict().cost(3);
                    it.longFunction("twice", (long v) -> 2 * v).stable();
                    it.procedure("place", Order.class, Placed.class, (call, order) -> new Placed.Done(order.id()));
                    it.route(HttpMethod.GET, "/orders/{id}", Long.class, Order.class, (call, id) -> null);
                    """,
                    ORDER
                        + """
                        sealed interface Placed {
                          record Done(long id) implements Placed {}
                          record Refused(String why, Integer[] lines) implements Placed {}
                        }
                        """)
                .content());
    var vat = contents.functions().get(0);
    assertEquals(Volatility.IMMUTABLE, vat.volatility());
    assertTrue(vat.strict());
    assertEquals(3, vat.cost());
    assertEquals(List.of(new Field("", TypeOid.NUMERIC, true)), vat.parameters());
    assertEquals(Volatility.STABLE, contents.functions().get(1).volatility());
    var place = contents.procedures().get(0);
    assertEquals(
        List.of(
            new Field("id", TypeOid.INT8, false),
            new Field("customer", TypeOid.TEXT, true),
            new Field("total", TypeOid.NUMERIC, true)),
        place.parameters());
    assertEquals(
        List.of("kind", "id", "why", "lines"), place.result().stream().map(Field::name).toList());
    assertEquals(1007, place.result().get(3).typeOid());
    assertEquals("/orders/{id}", contents.routes().get(0).path());
  }

  @Test
  void shouldCallAFunctionAndAProcedure() {
    try (PlatformRig rig = new PlatformRig()) {
      LoadedApplication loaded =
          rig.system.load(
              rig.deploy(
                  UserJar.shop(
                          """
                          it.function("vat", BigDecimal.class, BigDecimal.class, v -> v.movePointLeft(1));
                          it.longFunction("sum", (long a, long b) -> a + b);
                          it.procedure("place", Order.class, Long.class, (call, order) -> {
                            call.table("orders", Order.class).insert(order);
                            return order.id();
                          });
                          """,
                          ORDER)
                      .content()));
      try (LoadedApplication.Use use = loaded.use()) {
        Object[] results = new Object[2];
        use.scalar(0)
            .call(new Object[][] {{new BigDecimal("10.0"), new BigDecimal("5.0")}}, results, 2);
        assertArrayEquals(new Object[] {new BigDecimal("1.00"), new BigDecimal("0.50")}, results);
        long[] sums = new long[2];
        use.scalar(1).callLongs(new long[][] {{1, 2}, {10, 20}}, sums, 2);
        assertArrayEquals(new long[] {11, 22}, sums);
      }
      assertEquals(7L, rig.call(loaded, "place", 7L, "ann", BigDecimal.TEN).succeeded().get(0)[0]);
      assertArrayEquals(new Object[] {7L, "ann", BigDecimal.TEN}, rig.host.row(7));
    }
  }

  @Test
  void shouldRefuseWhatIsNoJar() {
    assertTrue(
        refusal(new JarContent("x.jar", PlatformRig.bytes("no jar at all, only a text")))
            .contains("\"x.jar\" is no jar"));
    assertTrue(refusal(UserJar.named("e.jar").file("a", "b").content()).contains("no application"));
  }
}
