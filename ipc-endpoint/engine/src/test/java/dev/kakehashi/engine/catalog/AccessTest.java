package dev.kakehashi.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Entries of the catalogue about roles and rights, those of before included, and what the check says about them.
class AccessTest {
  private static final View VIEW =
      new View(
          "s",
          "v",
          7,
          "select 1 as a",
          List.of("a"),
          List.of(new Column("a", SqlType.of(TypeOid.INT4), false, null)),
          "said",
          Rights.INITIAL);

  private static final Sequence SEQUENCE =
      new Sequence(
          "s",
          "q",
          8,
          TypeOid.INT8,
          new SequenceDefinition(8, "q", 1, 1, 1, 100, 1, false),
          null,
          Rights.INITIAL);

  private static final Acl GRANTED =
      Acl.of(
          List.of(
              new AclItem(
                  5,
                  4,
                  Privilege.set(Privilege.SELECT, Privilege.INSERT),
                  Privilege.set(Privilege.SELECT))));

  private static byte[] value(CatalogChange change) {
    return ((CatalogChange.Put) change).value();
  }

  private static CatalogSnapshot of(CatalogChange... changes) {
    return CatalogSnapshot.initial().with(List.of(changes), 1);
  }

  /// The form of version 1, which ends where rights begin.
  ///
  /// @param rights bytes of the fields that came with version 2
  private static byte[] asBefore(byte[] entry, int rights) {
    byte[] before = Arrays.copyOf(entry, entry.length - rights);
    before[0] = 1;
    return before;
  }

  @Test
  void shouldReadEntriesOfBefore() {
    int ofRights = 8 + 1; // owner, and no list
    byte[] view = asBefore(value(CatalogSnapshot.put(VIEW)), ofRights + 4);
    byte[] sequence = asBefore(value(CatalogSnapshot.put(SEQUENCE)), ofRights);
    assertEquals(VIEW, CatalogCodec.decodeView("view/7", view));
    assertEquals(SEQUENCE, CatalogCodec.decodeSequence("sequence/8", sequence));
    CatalogSnapshot catalog =
        CatalogSnapshot.of(Map.of("schema/s", new byte[0], "view/7", view, "sequence/8", sequence));
    assertFalse(catalog.roles().isUsed());
    assertEquals(Rights.INITIAL, catalog.access().schema("s"));
    assertTrue(new Permissions(catalog, RoleSet.NOBODY).isSuperuser());
  }

  @Test
  void shouldReadWhatItWrites() {
    Role role =
        new Role(5, "r", true, false, true, true, true, "SCRAM-SHA-256$x", 17L, "said", true);
    Membership membership = new Membership(5, 4, 3, true);
    View view =
        VIEW.withColumns(List.of(VIEW.columns().getFirst().withAcl(GRANTED)))
            .withRights(new Rights(4, GRANTED));
    Access.Default said = new Access.Default(5, ObjectKind.TABLE, "s/t", GRANTED);
    CatalogSnapshot catalog =
        of(
            CatalogSnapshot.putSchema("s", null),
            Access.put(role),
            Access.put(membership),
            Access.putSchema("s", new Rights(5, GRANTED)),
            Access.putDatabase(new Rights(5, null)),
            Access.put(said),
            CatalogSnapshot.put(view),
            CatalogSnapshot.put(SEQUENCE.withRights(new Rights(4, GRANTED))));
    assertEquals(role, catalog.roles().role("r"));
    assertEquals(membership, catalog.roles().membership(5, 4));
    assertEquals(new Rights(5, GRANTED), catalog.access().schema("s"));
    assertEquals(new Rights(5, null), catalog.access().database());
    assertEquals(List.of(said), catalog.access().defaults());
    assertEquals(view, catalog.view(7));
    assertEquals(new Rights(4, GRANTED), Objects.requireNonNull(catalog.sequence(8)).rights());
  }

  @Test
  void shouldRefuseEntriesThatAreCutOffOrOfAnotherVersion() {
    byte[] entry = value(Access.put(new Role(5, "r")));
    for (int length = 0; length < entry.length; length++) {
      byte[] part = Arrays.copyOf(entry, length);
      assertCorrupt("role/5", part);
    }
    byte[] later = entry.clone();
    later[0]++;
    assertCorrupt("role/5", later);
    assertCorrupt("role/x", entry);
  }

  private static void assertCorrupt(String key, byte[] value) {
    assertEquals(
        ErrorCode.DATA_CORRUPTED,
        assertThrows(EngineException.class, () -> CatalogSnapshot.of(Map.of(key, value))).code());
  }

  @Test
  void shouldSayWhichRolesAreMissing() {
    Map<String, byte[]> entries = new HashMap<>();
    for (CatalogChange change :
        List.of(
            CatalogSnapshot.putSchema("s", null),
            Access.put(new Role(4, "a")),
            Access.put(new Role(5, "b")),
            Access.put(new Membership(4, 5, 4, false)),
            Access.put(new Membership(5, 4, 4, false)),
            CatalogSnapshot.put(SEQUENCE.withRights(new Rights(6, null))),
            Access.putSchema("s", new Rights(4, Acl.of(List.of(new AclItem(7, 4, 1, 0))))))) {
      CatalogChange.Put put = (CatalogChange.Put) change;
      entries.put(put.key(), put.value());
    }
    List<String> problems = new ArrayList<>();
    CatalogCheck.run(entries, Map.of(), Map.of(), new Problems(problems));
    problems.sort(null);
    assertEquals(
        List.of(
            "role \"a\" is a member of itself",
            "role \"b\" is a member of itself",
            "schema \"s\": names role 7, which does not exist",
            "sequence \"s\".\"q\": names role 6, which does not exist"),
        problems);
  }

  /// Keeps what is wrong.
  private record Problems(List<String> problems)
      implements dev.kakehashi.engine.store.check.CheckListener {
    @Override
    public void problem(String what) {
      problems.add(what);
    }

    @Override
    public void checked(String what) {}
  }
}
