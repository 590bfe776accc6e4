package dev.kakehashi.examples.orders;

import dev.kakehashi.application.Application;
import dev.kakehashi.application.ApplicationException;
import dev.kakehashi.application.Call;
import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.HttpMethod;
import dev.kakehashi.application.Isolation;
import dev.kakehashi.application.QueuedTask;
import dev.kakehashi.application.TransactionMode;
import dev.kakehashi.application.TypedQueue;
import dev.kakehashi.application.TypedTable;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/// Places orders. Its tables and queue are in schema.sql.
public final class OrderService implements Application {
  /// A row of `product`.
  public record Product(long id, String name, BigDecimal price, int stock) {}

  /// A row of `customer`.
  public record Customer(String name, String email) {}

  /// A row of `orders`.
  public record Order(
      long id, String customer, long product, int quantity, BigDecimal total, String state) {}

  /// A row of `mail_sent`.
  public record MailSent(long orderId, String email, String line) {}

  /// Arguments of `place`.
  public record Placement(long id, String customer, long product, int quantity) {}

  /// The number of an order: argument of several procedures and routes.
  public record OrderId(long id) {}

  /// Result of a placement.
  public sealed interface Placed {
    record Done(long id, BigDecimal total) implements Placed {}

    record Refused(String why) implements Placed {}
  }

  /// A task of the queue `mail`.
  public record Mail(long orderId, String email) {}

  @Override
  public void define(Definitions it) {
    it.procedure("place", Placement.class, Placed.class, this::place);
    it.procedure("cancel_order", OrderId.class, Order.class, this::cancel);
    it.rowsProcedure("orders_of", String.class, Order.class, this::ordersOf);
    it.procedure("place_alone", Placement.class, Placed.class, this::place)
        .transaction(TransactionMode.OWN)
        .isolation(Isolation.SERIALIZABLE)
        .retries(20);
    it.route(HttpMethod.POST, "/orders", Placement.class, Placed.class, this::place)
        .isolation(Isolation.SERIALIZABLE)
        .status(Placed.Done.class, 201)
        .status(Placed.Refused.class, 409);
    it.route(HttpMethod.GET, "/orders/{id}", OrderId.class, Order.class, this::order);
    it.handler("mail", Mail.class, this::send).concurrency(4).lease(Duration.ofMinutes(1));
  }

  /// Three reads and two writes, and a task that is there when the transaction commits.
  private Placed place(Call call, Placement wanted) {
    TypedTable<Order> orders = call.table("orders", Order.class);
    if (orders.find(wanted.id()).isPresent()) {
      return new Placed.Refused("order " + wanted.id() + " is there already");
    }
    Optional<Customer> customer = call.table("customer", Customer.class).find(wanted.customer());
    if (customer.isEmpty()) {
      return new Placed.Refused("there is no customer " + wanted.customer());
    }
    TypedTable<Product> products = call.table("product", Product.class);
    Optional<Product> found = products.findForUpdate(wanted.product());
    if (found.isEmpty() || wanted.quantity() <= 0 || found.get().stock() < wanted.quantity()) {
      return new Placed.Refused("there are not " + wanted.quantity() + " of " + wanted.product());
    }
    Product product = found.get();
    BigDecimal total = product.price().multiply(BigDecimal.valueOf(wanted.quantity()));
    products.update(
        new Product(
            product.id(), product.name(), product.price(), product.stock() - wanted.quantity()));
    orders.insert(
        new Order(
            wanted.id(), wanted.customer(), product.id(), wanted.quantity(), total, "placed"));
    call.queue("mail", Mail.class)
        .add(
            new Mail(wanted.id(), customer.get().email()),
            TypedQueue.Options.key(wanted.customer()));
    return new Placed.Done(wanted.id(), total);
  }

  private Order cancel(Call call, OrderId wanted) {
    TypedTable<Order> orders = call.table("orders", Order.class);
    Order order = orders.findForUpdate(wanted.id()).orElseThrow(() -> noOrder(wanted.id()));
    TypedTable<Product> products = call.table("product", Product.class);
    if (order.state().equals("placed")) {
      products
          .findForUpdate(order.product())
          .ifPresent(product ->
              products.update(
                  new Product(
                      product.id(),
                      product.name(),
                      product.price(),
                      product.stock() + order.quantity())));
    }
    Order canceled =
        new Order(
            order.id(),
            order.customer(),
            order.product(),
            order.quantity(),
            order.total(),
            "canceled");
    orders.update(canceled);
    call.log("order " + order.id() + " is canceled");
    return canceled;
  }

  /// P0002 is what PL/pgSQL raises for SELECT INTO STRICT without a row.
  private static ApplicationException noOrder(long id) {
    return new ApplicationException("P0002", "there is no order " + id);
  }

  private Stream<Order> ordersOf(Call call, String customer) {
    return call.table("orders", Order.class).findAll("orders_customer", customer);
  }

  private Order order(Call call, OrderId wanted) {
    return call.table("orders", Order.class)
        .find(wanted.id())
        .orElseThrow(() -> noOrder(wanted.id()));
  }

  /// The row and the end of the task are one transaction: the mail is noted exactly once.
  private void send(Call call, QueuedTask<Mail> task) {
    Mail mail = task.value();
    call.table("mail_sent", MailSent.class)
        .put(new MailSent(mail.orderId(), mail.email(), "Thank you for order " + mail.orderId()));
  }
}
