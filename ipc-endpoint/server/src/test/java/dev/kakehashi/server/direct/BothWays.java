package dev.kakehashi.server.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.server.EndpointProcess;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Two sessions of one user: one reads directly where it can, the other one always asks. One thread.
final class BothWays implements AutoCloseable {
  final Session direct;
  final Session asking;

  BothWays(EndpointProcess endpoint, String user) {
    AttachOptions options = AttachOptions.of(endpoint.runtimeDirectory()).withUser(user, "");
    direct = Session.attach(options);
    asking = Session.attach(options.withDirectReads(false));
  }

  /// A statement that both have prepared.
  final class Query implements AutoCloseable {
    private final PreparedStatement directly;
    private final PreparedStatement byRequest;

    private Query(String sql) {
      directly = direct.prepare(sql);
      byRequest = asking.prepare(sql);
    }

    /// The rows of both, which are the same, as text; or the SQLSTATE of both.
    List<String> rows(@Nullable Object... key) {
      long before = direct.directReads();
      List<String> expected = outcome(asking, byRequest, key);
      assertEquals(expected, outcome(direct, directly, key), directly.sql());
      assertEquals(0, asking.directReads());
      read = direct.directReads() > before;
      return expected;
    }

    @Override
    public void close() {
      directly.close();
      byRequest.close();
    }
  }

  /// Whether the last query was read without a request.
  boolean read;

  Query query(String sql) {
    return new Query(sql);
  }

  static List<String> outcome(
      Session session, PreparedStatement statement, @Nullable Object... key) {
    try (Rows rows =
        session.query(
            statement,
            key.length == 0 ? statement.parameters() : statement.parameters().addRow(key))) {
      List<String> found = new ArrayList<>();
      for (RowBatchReader batch = rows.nextBatch(); batch != null; batch = rows.nextBatch()) {
        for (int row = 0; row < batch.rowCount(); row++) {
          found.add(text(batch, row, statement.columns()));
        }
      }
      assertEquals(found.size(), rows.rowsAffected());
      return found;
    } catch (EndpointException e) {
      return List.of(e.sqlstate());
    }
  }

  private static String text(RowBatchReader batch, int row, List<ResultColumn> columns) {
    StringBuilder text = new StringBuilder();
    for (int column = 0; column < columns.size(); column++) {
      text.append('|');
      if (batch.isNull(row, column)) {
        text.append("null");
        continue;
      }
      switch (RowBatchReader.fixedBytes(columns.get(column).typeOid())) {
        case 0 -> text.append(HexFormat.of().formatHex(batch.getBytes(row, column)));
        case 16 -> text.append(batch.getUuid(row, column));
        default -> text.append(batch.getWord(row, column));
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    direct.close();
    asking.close();
  }
}
