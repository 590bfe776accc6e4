package dev.kakehashi.rest.login;

/// Costs and durations of logins. Times in seconds.
///
/// @param tokenSeconds for which a token lives
/// @param tokensOfUser at once; one more ends the oldest
/// @param cacheSeconds for which a verified password need not be verified again
/// @param failures of a user from one address before each further attempt has to wait; four times as many of an address, and twenty times
///     as many of a user from addresses where he is not known
/// @param maxDelaySeconds that it has to wait
/// @param verifications at once, because each keeps a processor busy
public record LoginLimits(
    int tokenSeconds,
    int tokensOfUser,
    int cacheSeconds,
    int failures,
    int maxDelaySeconds,
    int verifications) {
  public static final LoginLimits DEFAULT = new LoginLimits(3600, 100, 60, 5, 30, 2);
}
