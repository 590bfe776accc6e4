package dev.kakehashi.tools.tpch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.trino.tpch.TpchEntity;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TpchTest {
  private static final double SCALE = 0.01;

  static List<TableSpec<?>> tables() {
    return Tpch.TABLES;
  }

  /// The generator's own text is the reference for every value of every column.
  @ParameterizedTest
  @MethodSource("tables")
  void shouldWriteTheSameValuesAsTheGeneratorsText(TableSpec<?> table) throws IOException {
    var text = new StringWriter();
    CopyText.write(table, SCALE, text);
    String[] lines = text.toString().split("\n", -1);
    var expected = new ArrayList<String>();
    for (TpchEntity row : table.rows(SCALE)) {
      expected.add(row.toLine());
    }
    assertEquals(expected.size(), lines.length - 1);
    for (int i = 0; i < expected.size(); i++) {
      assertEquals(normalized(expected.get(i)), lines[i].replace('\t', '|'));
    }
  }

  /// The generator ends a line with a bar, and writes quantities as integers.
  private static String normalized(String line) {
    String trimmed = line.endsWith("|") ? line.substring(0, line.length() - 1) : line;
    String[] fields = trimmed.split("\\|", -1);
    if (fields.length == 16) {
      fields[4] = fields[4] + ".00";
    }
    return String.join("|", fields);
  }

  @ParameterizedTest
  @MethodSource("tables")
  void shouldEstimateTheNumberOfRowsWithinOnePercent(TableSpec<?> table) {
    long rows = 0;
    for (var iterator = table.rows(SCALE).iterator(); iterator.hasNext(); iterator.next()) {
      rows++;
    }
    assertTrue(
        Math.abs(rows - table.estimatedRows(SCALE)) <= rows / 100, table.name() + " has " + rows);
  }

  @Test
  void shouldNameKnownTablesWhenOneDoesNotExist() {
    var failure = assertThrows(IllegalArgumentException.class, () -> Tpch.table("order"));
    assertTrue(String.valueOf(failure.getMessage()).contains("orders"));
  }

  @Test
  void shouldDescribeTheTableInSql() {
    assertEquals(
        "CREATE TABLE tpch.region (r_regionkey int4 NOT NULL, r_name char(25) NOT NULL,"
            + " r_comment varchar(152) NOT NULL, PRIMARY KEY (r_regionkey))",
        Tpch.REGION.createTable("tpch"));
    assertEquals(
        "INSERT INTO tpch.region (r_regionkey, r_name, r_comment) VALUES ($1, $2, $3)",
        Tpch.REGION.insert("tpch"));
  }
}
