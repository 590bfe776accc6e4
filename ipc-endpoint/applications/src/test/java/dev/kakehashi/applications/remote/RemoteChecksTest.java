package dev.kakehashi.applications.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcessSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The endpoint believes nothing of a process that it has not checked.
class RemoteChecksTest {
  private static final Field ID = new Field("id", TypeOid.INT8, false);

  private static FunctionSignature function(String name, List<Field> result, double cost) {
    return new FunctionSignature(
        name, FunctionKind.SCALAR, List.of(ID), result, Volatility.STABLE, false, cost, 0);
  }

  private static ProcedureSignature procedure(String name, Field field, int retries) {
    return new ProcedureSignature(
        name, List.of(field), List.of(), CallTransaction.OWN, "", retries, 0, false);
  }

  private static ApplicationContents contents(
      List<FunctionSignature> functions, List<ProcedureSignature> procedures, String... paths) {
    List<RouteSignature> routes =
        List.of(paths).stream()
            .map(path -> new RouteSignature("GET", path, procedure("", ID, 0), Map.of()))
            .toList();
    return new ApplicationContents(functions, procedures, routes, List.of(), List.of());
  }

  private static void refused(ApplicationContents contents) {
    EngineException e =
        assertThrows(
            EngineException.class, () -> ContentsCheck.check(contents), contents::toString);
    assertEquals(ErrorCode.MALFORMED_MESSAGE, e.code());
  }

  @Test
  void shouldTakeContentsThatThereCanBe() {
    ContentsCheck.check(ApplicationContents.NONE);
    ContentsCheck.check(
        contents(
            List.of(function("vat", List.of(new Field("", TypeOid.NUMERIC, true)), 1)),
            List.of(procedure("place", ID, 3)),
            "/orders/{id}"));
  }

  @Test
  void shouldRefuseContentsThatNoCheckOfTheProcessLetsPass() {
    List<Field> result = List.of(ID);
    refused(contents(List.of(function("a\"; drop", result, 1)), List.of()));
    refused(contents(List.of(function("Upper", result, 1)), List.of()));
    refused(contents(List.of(function("vat", List.of(), 1)), List.of()));
    refused(contents(List.of(function("vat", result, 0)), List.of()));
    refused(contents(List.of(function("vat", result, Double.NaN)), List.of()));
    refused(contents(List.of(function("vat", result, 1e7)), List.of()));
    refused(contents(List.of(function("vat", Collections.nCopies(1_601, ID), 1)), List.of()));
    refused(contents(List.of(), List.of(procedure("place", ID, -1))));
    refused(contents(List.of(), List.of(procedure("place", new Field("id", 0, true), 0))));
    refused(contents(List.of(), List.of(procedure("", ID, 0))));
    refused(contents(List.of(), List.of(), "orders"));
    refused(contents(List.of(), List.of(), "/" + "a".repeat(1_000)));
    refused(
        new ApplicationContents(
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            Collections.nCopies(10_001, new ProcessSignature("p", true))));
  }

  private static void refused(AllowedUsers users, String user) {
    EngineException e = assertThrows(EngineException.class, () -> users.checked(user));
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, e.code());
  }

  @Test
  void shouldLetAProcessActForItsOwnerAndForWhomItWorks() {
    AllowedUsers users = new AllowedUsers("owner");
    assertEquals("owner", users.checked("owner"));
    refused(users, "ann");
    users.enter("ann");
    users.enter("ann");
    users.leave("ann");
    assertEquals("ann", users.checked("ann"));
    users.leave("ann");
    refused(users, "ann");
    users.enter("owner");
    users.leave("owner");
    assertEquals("owner", users.checked("owner"), "the owner stays");
    // One leave too many counts for nobody.
    users.leave("ann");
    users.enter("ann");
    assertEquals("ann", users.checked("ann"));
  }
}
