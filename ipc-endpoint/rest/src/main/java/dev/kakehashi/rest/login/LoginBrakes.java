package dev.kakehashi.rest.login;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/// Slows down clients that guess passwords, and not the users whose passwords they guess. Wrong passwords are counted three times: of a
/// user from one address, of an address, and of a user from all addresses from which he has not logged in. A user who logs in from an
/// address is known there and does not feel the third count. So guesses from many addresses do not lock him out. Thread-safe.
final class LoginBrakes {
  /// Many users may share an address, as all of the host do.
  private static final int ADDRESS_FACTOR = 4;

  /// So many addresses may be wrong at their first attempts before strangers wait for each other.
  private static final int USER_FACTOR = 20;

  private static final int MAX_KNOWN = 10_000;

  private final Brake guessers;
  private final Brake addresses;
  private final Brake users;

  /// Addresses with the users who have logged in from them, the longest unused first. Guarded by itself.
  private final Map<String, Boolean> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MAX_KNOWN;
        }
      };

  LoginBrakes(LoginLimits limits, LongSupplier nanoTime) {
    int failures = limits.failures();
    guessers = new Brake(failures, limits.maxDelaySeconds(), nanoTime);
    addresses = new Brake(failures * ADDRESS_FACTOR, limits.maxDelaySeconds(), nanoTime);
    users = new Brake(failures * USER_FACTOR, limits.maxDelaySeconds(), nanoTime);
  }

  /// For how long an attempt has to wait; 0: not at all.
  long delayNanos(String user, String address) {
    long delay = Math.max(guessers.delayNanos(pair(user, address)), addresses.delayNanos(address));
    return isKnown(user, address) ? delay : Math.max(delay, users.delayNanos(user));
  }

  void failed(String user, String address) {
    guessers.failed(pair(user, address));
    addresses.failed(address);
    if (!isKnown(user, address)) {
      users.failed(user);
    }
  }

  void succeeded(String user, String address) {
    guessers.succeeded(pair(user, address));
    synchronized (known) {
      known.put(Brake.clipped(pair(user, address)), true);
    }
  }

  private boolean isKnown(String user, String address) {
    synchronized (known) {
      return known.get(Brake.clipped(pair(user, address))) != null;
    }
  }

  private static String pair(String user, String address) {
    return address + " " + user;
  }
}
