package dev.kakehashi.pgwire.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Statements that are prepared on one connection. With more than [#MAX_STATEMENTS], the least recently used one goes. Not thread-safe.
public final class WireStatements {
  private static final int MAX_STATEMENTS = 256;

  private final Map<Key, String> names = new LinkedHashMap<>(64, 0.75f, true);
  private final List<String> closed = new ArrayList<>();
  private long made;

  private record Key(String sql, int[] types, String zone) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && sql.equals(key.sql)
          && zone.equals(key.zone)
          && Arrays.equals(types, key.types);
    }

    @Override
    public int hashCode() {
      return 31 * sql.hashCode() + Arrays.hashCode(types);
    }
  }

  /// Writes what prepares a statement, unless it is.
  ///
  /// @param zone the time zone that it is prepared in, of which literals depend; empty: it has none
  /// @param described whether the server is to describe its columns when it is prepared now
  /// @return its name; [#wasNew()] says whether it is prepared by this
  public String name(WireOutput out, String sql, int[] types, String zone, boolean described) {
    Key key = new Key(sql, types, zone);
    String known = names.get(key);
    wasNew = known == null;
    if (known != null) {
      return known;
    }
    for (String gone : closed) {
      out.begin('C').put('S').putText(gone).end();
    }
    closed.clear();
    String name = "k" + made++;
    out.begin('P').putText(name).putText(sql).putShort(types.length);
    for (int type : types) {
      out.putInt(type);
    }
    out.end();
    if (described) {
      out.begin('D').put('S').putText(name).end();
    }
    names.put(new Key(sql, types.clone(), zone), name);
    if (names.size() > MAX_STATEMENTS) {
      var eldest = names.entrySet().iterator();
      closed.add(eldest.next().getValue());
      eldest.remove();
    }
    return name;
  }

  private boolean wasNew;

  /// Whether the last [#name] has written something.
  public boolean wasNew() {
    return wasNew;
  }

  /// Forgets a statement: it was not prepared after all, or is no good any more.
  public void forget(String sql, int[] types, String zone) {
    String name = names.remove(new Key(sql, types, zone));
    if (name != null) {
      closed.add(name);
    }
  }
}
