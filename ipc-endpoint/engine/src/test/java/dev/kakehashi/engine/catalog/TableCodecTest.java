package dev.kakehashi.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Entries of tables, also those that earlier versions have written.
final class TableCodecTest {
  /// Bytes that version 6 wrote for [#ORDINARY], in hexadecimal.
  private static final String VERSION_6 =
      "060001730001740000000000000007"
          + "000000020002696400000017ffffffff"
          + "0100"
          + "00016100000019ffffffff00010003277827"
          + "000000010006745f706b657900000000000000080101000000010000000000"
          + "01"
          + "000000010005736d616c6c00066964203c20390000000100000000"
          + "0000000000000000"
          + "0000000000000000"
          + "000000057461626c65"
          + "ffffffff"
          + "0000000361206e"
          + "ffffffff"
          + "00000000";

  private static final Table ORDINARY =
      new Table(
          "s",
          "t",
          7,
          List.of(
              new Column("id", SqlType.of(TypeOid.INT4), true, null),
              new Column("a", SqlType.of(TypeOid.TEXT), false, "'x'").withComment("a n")),
          List.of(new Index("t_pkey", 8, List.of(0), List.of(false), true, true, true, null)),
          List.of(new CheckConstraint("small", "id < 9", List.of(0))),
          List.of(),
          "table",
          Map.of(),
          Rights.INITIAL);

  private static Table again(Table table) {
    return TableCodec.decode("table/7", TableCodec.encode(table));
  }

  @Test
  void shouldReadWhatItWrites() {
    Column generated =
        new Column("b", SqlType.of(TypeOid.INT8), false, null).withGeneration("id * 2");
    Table table =
        ORDINARY
            .withColumns(List.of(ORDINARY.columns().get(0), ORDINARY.columns().get(1), generated))
            .withConstraintComment("small", "not big")
            .withConstraintComment("t_pkey", "the key");
    assertEquals(ORDINARY, again(ORDINARY));
    Acl granted = Acl.of(List.of(new AclItem(5, 4, 3, 1)));
    Table owned =
        ORDINARY
            .withColumns(
                List.of(ORDINARY.columns().get(0).withAcl(granted), ORDINARY.columns().get(1)))
            .withRights(new Rights(4, granted));
    assertEquals(owned, again(owned));
    assertEquals(table, again(table));
    assertEquals("not big", again(table).constraintComments().get("small"));
    assertEquals("id * 2", again(table).columns().getLast().generation());
  }

  @Test
  void shouldKeepExpressionsOfAnyLength() {
    String text = "'" + "ä".repeat(100_000) + "'";
    Table table =
        ORDINARY
            .withColumns(
                List.of(new Column("id", SqlType.of(TypeOid.TEXT), true, text).withComment(text)))
            .withChecks(List.of(new CheckConstraint("long", "id < " + text, List.of(0))));
    assertEquals(table, again(table));
  }

  @Test
  void shouldReadEntriesOfTheVersionBefore() {
    assertEquals(ORDINARY, TableCodec.decode("table/7", HexFormat.of().parseHex(VERSION_6)));
  }

  @Test
  void shouldRefuseEntriesOfLaterVersions() {
    byte[] entry = TableCodec.encode(ORDINARY);
    entry[0]++;
    EngineException refused =
        assertThrows(EngineException.class, () -> TableCodec.decode("table/7", entry));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
  }

  @Test
  void shouldForgetCommentsOfConstraintsThatAreGone() {
    Table table = ORDINARY.withConstraintComment("small", "not big");
    assertEquals(Map.of(), table.withChecks(List.of()).constraintComments());
    assertEquals(Map.of(), ORDINARY.withConstraintComment("nowhere", "x").constraintComments());
  }
}
