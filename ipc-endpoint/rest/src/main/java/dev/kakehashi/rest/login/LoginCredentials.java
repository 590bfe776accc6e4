package dev.kakehashi.rest.login;

import org.jspecify.annotations.Nullable;

/// By what a request says, or the connection shows, who its sender is.
///
/// @param authorization the field; null: there is none
/// @param address of the client, for the brake on failures; of a Unix socket a constant
/// @param proven whom the connection itself has proven: OS user or certificate; null: nobody
public record LoginCredentials(
    @Nullable String authorization, String address, Users.@Nullable Known proven) {
  /// Hides the secret.
  @Override
  public String toString() {
    return "credentials from " + address;
  }
}
