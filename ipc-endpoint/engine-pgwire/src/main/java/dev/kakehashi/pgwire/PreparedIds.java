package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Names of prepared transactions on the server. They say what the engine has to know of them, because nothing else of such a transaction
/// can be read.
final class PreparedIds {
  /// GIDSIZE of PostgreSQL without the zero byte.
  private static final int MAX_BYTES = 199;

  private static final String PREFIX = "kakehashi";

  private PreparedIds() {}

  /// @throws EngineException INVALID_PARAMETER_VALUE when it is too long
  static String encode(PreparedTransaction transaction) {
    String text =
        PREFIX
            + "/"
            + escape(transaction.owner())
            + "/"
            + escape(transaction.userName())
            + "/"
            + transaction.reference()
            + "/"
            + transaction.globalId();
    if (transaction.globalId().isEmpty()
        || text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "transaction identifier \"" + transaction.globalId() + "\" is too long for the engine");
    }
    return text;
  }

  /// @param gid as the server has it
  /// @param number of the transaction
  /// @param preparedMicros since 2000-01-01 UTC
  /// @return null: it is none of an endpoint
  static @Nullable PreparedTransaction decode(String gid, long number, long preparedMicros) {
    String[] parts = gid.split("/", 5);
    if (parts.length < 5 || !parts[0].equals(PREFIX) || !parts[3].matches("-?[0-9]{1,19}")) {
      return null;
    }
    return new PreparedTransaction(
        parts[4],
        unescape(parts[1]),
        unescape(parts[2]),
        Long.parseLong(parts[3]),
        number,
        preparedMicros);
  }

  private static String escape(String text) {
    return text.replace("%", "%25").replace("/", "%2F");
  }

  private static String unescape(String text) {
    return text.replace("%2F", "/").replace("%25", "%");
  }
}
