package dev.kakehashi.pgwire;

import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireSettings;
import java.util.List;

/// How the engine reaches its database. Immutable.
///
/// @param addresses of the servers, at least one: that which takes writes is used
/// @param wire how connections are made
/// @param pool limits of the connections
/// @param limits of the engine
/// @param nodeIsolation whether an engine of several nodes offers isolation levels that hold on each node alone
/// @param endpoint number of this endpoint among those that use the database; never that of another one
public record PgWireConfig(
    List<ServerAddress> addresses,
    WireSettings wire,
    PoolLimits pool,
    EngineLimits limits,
    boolean nodeIsolation,
    long endpoint) {
  public PgWireConfig {
    addresses = List.copyOf(addresses);
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("the engine has no address");
    }
  }
}
