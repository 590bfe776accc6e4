package dev.kakehashi.rest.header;

import dev.kakehashi.protocol.messages.TransactionState;
import java.util.Locale;

/// How a transaction stands after a request: the field `Kakehashi-Transaction` of answers. Immutable.
///
/// @param handle the external one; empty: there is none
/// @param expires end of the lease in seconds since 1970; 0: it has none
/// @param sqlstate why it was rolled back; empty: as asked, or it was not
public record TransactionAnswer(
    TransactionState state, String handle, long expires, String sqlstate) {
  /// As `active;handle="…";expires=1764031200`.
  public String field() {
    StringBuilder field = new StringBuilder(96).append(state.name().toLowerCase(Locale.ROOT));
    if (!handle.isEmpty()) {
      field.append(";handle=\"").append(handle).append('"');
    }
    if (expires > 0) {
      field.append(";expires=").append(expires);
    }
    if (!sqlstate.isEmpty()) {
      field.append(";sqlstate=\"").append(sqlstate).append('"');
    }
    return field.toString();
  }
}
