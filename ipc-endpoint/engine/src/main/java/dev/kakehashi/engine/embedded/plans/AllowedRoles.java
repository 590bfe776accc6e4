package dev.kakehashi.engine.embedded.plans;

import java.util.Arrays;

/// Roles that may run a plan, as far as they were looked at. Thread-safe.
///
/// A plan is of one version of the catalogue, and any change of a role, a membership or a grant makes another one: so what was found stays
/// right as long as the plan is used, and a look costs one volatile read.
public final class AllowedRoles {
  private static final int MOST = 16;

  private volatile long[] roles = {};

  public boolean has(long role) {
    for (long each : roles) {
      if (each == role) {
        return true;
      }
    }
    return false;
  }

  /// When two roles are added at once one may be missing, and is looked at again.
  void add(long role) {
    long[] before = roles;
    if (before.length >= MOST) {
      before = new long[0];
    }
    long[] next = Arrays.copyOf(before, before.length + 1);
    next[before.length] = role;
    roles = next;
  }
}
