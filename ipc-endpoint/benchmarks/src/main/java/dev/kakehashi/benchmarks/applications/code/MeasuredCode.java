package dev.kakehashi.benchmarks.applications.code;

import dev.kakehashi.application.Application;
import dev.kakehashi.application.Call;
import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.HttpMethod;
import dev.kakehashi.application.Isolation;
import dev.kakehashi.application.TransactionMode;
import dev.kakehashi.application.TypedTable;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/// Code whose calls are measured. Its tables are `account`, `fee` and `reading`.
@SuppressWarnings("NullAway") // a Void is null
public final class MeasuredCode implements Application {
  /// A row of `account`.
  public record Account(long id, String owner, long balance) {}

  /// A row of `fee`.
  public record Fee(long id, long amount) {}

  /// A row of `reading`.
  public record Reading(long id, double x, BigDecimal price) {}

  /// Arguments of `transfer`.
  public record Transfer(long from, long to, long amount) {}

  /// The key of a reading: argument of a route.
  public record ReadingId(long id) {}

  /// Duration of the last round of messages, in nanoseconds; 0 while one is under way.
  static final AtomicLong ROUND_NANOS = new AtomicLong();

  @Override
  public void define(Definitions it) {
    it.procedure("empty", Void.class, Void.class, (call, none) -> null)
        .transaction(TransactionMode.NONE);
    it.procedure("transfer", Transfer.class, Void.class, MeasuredCode::transfer)
        .transaction(TransactionMode.OWN)
        .isolation(Isolation.REPEATABLE_READ)
        .retries(20);
    it.procedure("lookups", Long.class, Long.class, MeasuredCode::lookups);
    it.route(HttpMethod.GET, "/reading/{id}", ReadingId.class, Reading.class, MeasuredCode::reading)
        .transaction(TransactionMode.REQUIRED);
    it.longFunction("thrice", x -> x * 3 + 1).immutable().cost(2);
    it.doubleFunction("rooted", Math::sqrt).immutable().cost(2);
    it.function(
            "net",
            BigDecimal.class,
            BigDecimal.class,
            BigDecimal.class,
            (price, discount) -> price.multiply(BigDecimal.ONE.subtract(discount)))
        .immutable()
        .strict()
        .cost(5);
    it.function("shouted", String.class, String.class, text -> text.toUpperCase(Locale.ROOT))
        .immutable()
        .strict()
        .cost(5);
    it.process("ring_member", RingMember::new).autostart(false);
    it.process("ring_head", RingHead::new);
    it.procedure("pass", Long.class, Void.class, MeasuredCode::pass)
        .transaction(TransactionMode.NONE);
    it.procedure("passed", Void.class, Long.class, (call, none) -> ROUND_NANOS.get())
        .transaction(TransactionMode.NONE);
  }

  /// Three reads and two writes.
  private static Void transfer(Call call, Transfer wanted) {
    TypedTable<Account> accounts = call.table("account", Account.class);
    Account from = accounts.find(wanted.from()).orElseThrow();
    Account to = accounts.find(wanted.to()).orElseThrow();
    Fee fee = call.table("fee", Fee.class).find(wanted.amount() % 10 + 1).orElseThrow();
    long taken = wanted.amount() + fee.amount();
    boolean done =
        accounts.update(new Account(from.id(), from.owner(), from.balance() - taken))
            && accounts.update(new Account(to.id(), to.owner(), to.balance() + wanted.amount()));
    if (!done) {
      throw new IllegalStateException("an account is gone");
    }
    return null;
  }

  /// @return nanoseconds of one lookup, of so many with keys that jump through the table
  private static long lookups(Call call, long count) {
    TypedTable<Account> accounts = call.table("account", Account.class);
    long rows = 100_000;
    long id = 0;
    long began = System.nanoTime();
    for (long i = 0; i < count; i++) {
      id = (id + 997) % rows;
      if (accounts.find(id + 1).isEmpty()) {
        throw new IllegalStateException("there is no account " + (id + 1));
      }
    }
    return (System.nanoTime() - began) / count;
  }

  private static Reading reading(Call call, ReadingId wanted) {
    return call.table("reading", Reading.class).find(wanted.id()).orElseThrow();
  }

  /// Lets so many messages go round the ring of the head, which is made at first.
  private static Void pass(Call call, long messages) {
    ROUND_NANOS.set(0);
    if (!call.send(call.processes("ring_head").getFirst(), messages)) {
      throw new IllegalStateException("the head of the ring has ended");
    }
    return null;
  }
}
