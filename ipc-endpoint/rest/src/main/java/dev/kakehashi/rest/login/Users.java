package dev.kakehashi.rest.login;

import dev.kakehashi.requests.RequestUser;
import org.jspecify.annotations.Nullable;

/// The users that the endpoint knows. Implemented by who puts the process together. Thread-safe.
public interface Users {
  /// @param epoch of the user's right to be here: another one when his password was changed or his role dropped
  record Known(RequestUser user, long epoch) {}

  /// Verifies a password. Takes the same time, some milliseconds of a processor, whether or not the user exists.
  ///
  /// @return null: no such user, a wrong password, or one who must not log in
  @Nullable Known verify(String name, String password);

  /// @param osUser who has connected to the Unix socket, as the kernel names him
  /// @return null: he must not get in without a password
  @Nullable Known ofOsUser(String osUser);

  /// @param commonName of a client's certificate that the door's authority has signed
  /// @return null: no such user, or one who must not log in
  @Nullable Known ofCertificate(String commonName);

  /// Whether a user still is who he was when the epoch was taken. Some nanoseconds.
  boolean isCurrent(RequestUser user, long epoch);

  /// Whether the user is a member of a role, at least indirectly, or may do everything.
  boolean isMemberOf(RequestUser user, String role);
}
