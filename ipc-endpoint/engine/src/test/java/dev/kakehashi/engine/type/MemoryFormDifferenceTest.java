package dev.kakehashi.engine.type;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// By-reference values have, byte by byte, the form that PostgreSQL keeps in memory: it is read back from the pages of a table.
final class MemoryFormDifferenceTest {
  private static final int ROUNDS = 300;
  private static PostgresOracle oracle;

  @BeforeAll
  static void startServer() throws SQLException {
    oracle = new PostgresOracle();
    oracle.execute("CREATE EXTENSION pageinspect");
  }

  @AfterAll
  static void stopServer() throws SQLException {
    if (oracle != null) {
      oracle.close();
    }
  }

  @Test
  void shouldHavePostgresBytes() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261125);
    RandomValues values = new RandomValues(seed);
    for (int oid :
        new int[] {TypeOid.NUMERIC, TypeOid.TEXT, TypeOid.BYTEA, TypeOid.UUID, TypeOid.INTERVAL}) {
      List<String> texts = new ArrayList<>();
      List<String> queries = new ArrayList<>();
      for (int i = 0; i < ROUNDS; i++) {
        String text = values.value(oid);
        texts.add(text);
        queries.add("SELECT stored_bytes(" + PostgresOracle.literal(oid, text) + ")");
      }
      // The table is emptied for each value, which starts a new file; PLAIN keeps long values
      // uncompressed.
      oracle.execute(
          """
          DROP TABLE IF EXISTS stored CASCADE;
          CREATE TABLE stored (v %1$s);
          ALTER TABLE stored ALTER v SET STORAGE PLAIN;
          CREATE FUNCTION stored_bytes(x %1$s) RETURNS text AS $$
          DECLARE bytes text;
          BEGIN
            TRUNCATE stored;
            INSERT INTO stored VALUES (x);
            SELECT encode(t_data, 'hex') INTO bytes FROM heap_page_items(get_raw_page('stored', 0));
            RETURN bytes;
          END $$ LANGUAGE plpgsql
          """
              .formatted(Types.name(oid)));
      List<PostgresOracle.Outcome> expected = oracle.run(queries);
      for (int i = 0; i < ROUNDS; i++) {
        String stored = withLongHeader(oid, expected.get(i).shown());
        assertEquals(stored, bytes(oid, texts.get(i)), texts.get(i) + " seed " + seed);
      }
    }
  }

  /// A tuple may hold a short value with a header of one byte; in memory it has four.
  private static String withLongHeader(int oid, String hex) {
    boolean fixed = oid == TypeOid.UUID || oid == TypeOid.INTERVAL;
    int first = HexFormat.fromHexDigits(hex, 0, 2);
    if (fixed || (first & 1) == 0) {
      return hex;
    }
    int payload = (first >> 1) - 1;
    return HexFormat.of().toHexDigits(Integer.reverseBytes((payload + 4) << 2)) + hex.substring(2);
  }

  private static String bytes(int oid, String text) {
    try (VarHeap heap = new VarHeap()) {
      long word = Values.parse(oid, text, heap);
      boolean fixed = oid == TypeOid.UUID || oid == TypeOid.INTERVAL;
      int length = fixed ? 16 : Varlena.totalBytes(word);
      return HexFormat.of().formatHex(RawMemory.bytes(word, length));
    }
  }
}
