package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.catalog.LocationUser;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rights to read and write files, by location.
class LocationRightsTest {
  @TempDir Path directory;

  private TestEngine open() {
    TestEngine engine = new TestEngine(directory);
    engine.engine.roles().operator("operator");
    engine.engine.bulkAccess(new CollectedFiles());
    return engine;
  }

  private static void makeRoles(TestEngine engine) {
    for (String role : List.of("alice", "bob", "reader", "writer")) {
      engine.run("create role " + role + " login");
    }
    engine.run("grant pg_read_server_files to reader");
    engine.run("grant pg_write_server_files to writer");
    engine.run("create table t (a int)");
    engine.run("grant select on t to public");
  }

  private static String may(TestEngine engine, String role) {
    return engine
        .query(
            "select has_location_privilege('%1$s', 'in', 'read'), has_location_privilege('%1$s', 'in', 'write'), has_location_privilege('%1$s', 'out', 'read'), has_location_privilege('%1$s', 'out', 'write')"
                .formatted(role))
        .getFirst();
  }

  @Test
  void shouldLetEverybodyDoEverythingAsLongAsThereAreNoRoles() {
    try (TestEngine engine = open()) {
      engine.run("create table t (a int)");
      engine.other("anybody").query("copy t to 'out:x'");
      assertEquals(
          List.of("in|t|f|READ, WRITE", "out|t|t|READ, WRITE"),
          engine.query("select * from kakehashi_catalog.locations"));
    }
  }

  @Test
  void shouldCountGrantsAndMembershipsWhereThereAreRoles() {
    try (TestEngine engine = open()) {
      makeRoles(engine);
      assertEquals("f|f|f|f", may(engine, "alice"));
      assertEquals("t|f|t|f", may(engine, "reader"));
      assertEquals("f|t|f|t", may(engine, "writer"));
      TestEngine.Other alice = engine.other("alice");
      assertState("42501", () -> alice.query("copy t to 'out:x'"));
      assertState("42501", () -> alice.query("select * from kakehashi_inspect('in:x')"));
      engine.run("grant read on location \"in\", out to alice");
      engine.run("grant all on location out to bob with grant option");
      assertEquals("t|f|t|f", may(engine, "alice"));
      assertEquals("f|f|t|t", may(engine, "bob"));
      assertEquals(1, alice.query("select * from kakehashi_inspect('in:x')").size());
      assertState("42501", () -> alice.query("copy t to 'out:x'"));
      engine.other("bob").run("grant write on location out to alice");
      alice.query("copy t to 'out:x'");
      assertEquals(
          List.of("in|t|f|READ", "out|t|t|READ, WRITE"),
          alice.query("select * from kakehashi_catalog.locations"));
      assertEquals(
          List.of("in|operator|alice|READ|f"),
          engine.query(
              "select object_name, grantor, grantee, privilege, is_grantable"
                  + " from kakehashi_catalog.privileges"
                  + " where object_type = 'location' and object_name = 'in' and grantee = 'alice'"));
      assertState("2BP01", () -> engine.run("revoke all on location out from bob"));
      engine.run("revoke all on location out from bob cascade");
      assertEquals("t|f|t|f", may(engine, "alice"));
      // Nobody needs the location's rights to send bytes to himself.
      alice.query("copy t to stdout");
    }
  }

  @Test
  void shouldRefuseWhatIsNotThere() {
    try (TestEngine engine = open()) {
      makeRoles(engine);
      assertState("42704", () -> engine.run("grant read on location nowhere to alice"));
      assertState("42704", () -> engine.run("revoke read on location nowhere from alice"));
      assertState("42704", () -> engine.run("grant read on location out to nobody"));
      assertState("42704", () -> engine.query("select has_location_privilege('nowhere', 'read')"));
      assertState("22023", () -> engine.query("select has_location_privilege('out', 'select')"));
      assertState("0LP01", () -> engine.run("grant select on location out to alice"));
      assertState("42601", () -> engine.run("grant read on t to alice"));
      assertState("42501", () -> engine.other("alice").run("grant read on location out to bob"));
    }
  }

  @Test
  void shouldKeepGrantsAcrossRestartsAndGiveThemUpWithTheirRole() {
    List<String> definitions;
    try (TestEngine engine = open()) {
      makeRoles(engine);
      engine.run("grant read, write on location out to alice");
      engine.run("grant read on location \"in\" to bob");
      definitions = engine.engine.definitions();
      assertTrue(
          definitions.contains("GRANT ALL ON LOCATION \"out\" TO alice"), definitions::toString);
    }
    try (TestEngine engine = open()) {
      assertEquals("f|f|t|t", may(engine, "alice"));
      assertEquals(definitions, engine.engine.definitions());
      assertState("2BP01", () -> engine.run("drop role alice"));
      engine.run("drop owned by alice");
      engine.run("drop role alice");
      // The settings have lost it: what was granted can be taken away still.
      engine.engine.bulkAccess(BulkAccess.NONE);
      assertState("2BP01", () -> engine.run("drop role bob"));
      engine.run("revoke all on location \"in\" from bob");
      engine.run("drop role bob");
      assertEquals(List.of(), engine.query("select * from kakehashi_catalog.locations"));
    }
  }

  @Test
  void shouldSeeWhatItsVersionOfTheCatalogueSays() {
    try (TestEngine engine = open()) {
      makeRoles(engine);
      engine.run("grant read on location \"in\" to alice");
      var catalog = engine.engine.catalogSnapshot();
      LocationUser alice =
          new LocationUser("alice", catalog, engine.engine.roles().role(catalog.roles(), "alice"));
      assertTrue(alice.mayRead("in") && !alice.mayWrite("in") && !alice.mayRead("out"));
    }
  }
}
