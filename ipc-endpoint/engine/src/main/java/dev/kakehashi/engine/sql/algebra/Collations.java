package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.Set;

/// Collations: all that there are order by bytes.
public final class Collations {
  private static final Set<String> OF_BYTES = Set.of("C", "POSIX", "ucs_basic", "default");
  private static final Set<Integer> STRINGS =
      Set.of(TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, TypeOid.NAME);

  private Collations() {}

  public static boolean isOfBytes(String name) {
    return OF_BYTES.contains(name);
  }

  /// @throws EngineException DATATYPE_MISMATCH for a type that has no collations in PostgreSQL
  public static void require(SqlType type) {
    boolean ofStrings =
        STRINGS.stream().anyMatch(oid -> oid == type.oid() || TypeOid.arrayOf(oid) == type.oid());
    if (!ofStrings) {
      throw new EngineException(
          ErrorCode.DATATYPE_MISMATCH,
          "collations are not supported by type " + Types.name(type.oid()));
    }
  }
}
