package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.pgwire.pool.ConnectionPool;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

/// Each server of several is prepared before it is used in place of another one.
class PreparedServersTest {
  @Test
  void shouldPrepareAServerThatTakesThePlaceOfAnother() throws IOException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    try (PgWireServer server = PgWireServer.start();
        CuttingProxy first = new CuttingProxy(server.port());
        CuttingProxy second = new CuttingProxy(server.port());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
      List<ServerAddress> addresses =
          List.of(
              new ServerAddress("127.0.0.1", first.port()),
              new ServerAddress("127.0.0.1", second.port()));
      PgWireConfig config = PgWireUnderTest.config(addresses, server.passwordFile());
      ConnectionPool pool = new ConnectionPool(addresses, config.wire(), config.pool(), timer);
      PooledConnection one = pool.acquire();
      assertEquals(addresses.get(0), one.wire().address());
      List<ServerAddress> prepared = new ArrayList<>();
      pool.preparing(node -> prepared.add(node.address()));
      PooledConnection another = pool.acquire();
      assertEquals(List.of(), prepared);
      first.refuseNew();
      first.cutAll();
      one.wire().breakOff();
      pool.release(one);
      another.wire().breakOff();
      pool.release(another);
      PooledConnection next = pool.acquire();
      assertEquals(addresses.get(1), next.wire().address());
      assertEquals(List.of(addresses.get(1)), prepared);
      pool.release(next);
      pool.close();
    }
  }
}
