package dev.kakehashi.engine.rights;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import java.util.function.ToIntFunction;

/// A list of what was granted on one object, at most one entry for each grantor and grantee. Immutable. The rules are those of PostgreSQL's
/// `acl.c`.
///
/// The owner is a grantee like others, but never loses the right to grant.
public final class Acl {
  /// Everybody, as a grantee.
  public static final long PUBLIC = 0;

  /// Nothing was granted to anybody.
  public static final Acl EMPTY = new Acl(List.of());

  private final List<AclItem> items;

  private Acl(List<AclItem> items) {
    this.items = List.copyOf(items);
  }

  /// A list of entries that are known to be right.
  public static Acl of(List<AclItem> items) {
    return items.isEmpty() ? EMPTY : new Acl(items);
  }

  /// Privileges as long as nothing was granted or revoked: all for the owner, and the ones that everybody has.
  public static Acl initial(ObjectKind kind, long owner) {
    if (kind == ObjectKind.COLUMN) {
      return EMPTY;
    }
    List<AclItem> items = new ArrayList<>();
    if (kind.ofEverybody() != 0) {
      items.add(new AclItem(PUBLIC, owner, kind.ofEverybody(), 0));
    }
    items.add(new AclItem(owner, owner, kind.all(), 0));
    return new Acl(items);
  }

  public List<AclItem> items() {
    return items;
  }

  /// The privileges that somebody has.
  ///
  /// @param roles whether he has what a role has; true for himself
  public int privileges(LongPredicate roles) {
    return sum(roles, AclItem::privileges);
  }

  /// The privileges that somebody may grant, unless he is the owner, who may grant all.
  public int grantable(LongPredicate roles) {
    return sum(roles, AclItem::grantable);
  }

  private int sum(LongPredicate roles, ToIntFunction<AclItem> of) {
    int sum = 0;
    for (AclItem item : items) {
      if ((sum | of.applyAsInt(item)) != sum
          && (item.grantee() == PUBLIC || roles.test(item.grantee()))) {
        sum |= of.applyAsInt(item);
      }
    }
    return sum;
  }

  /// Privileges granted to the role itself that it may grant to others.
  int grantableDirectly(long role) {
    return items.stream()
        .filter(item -> item.grantee() == role)
        .mapToInt(AclItem::grantable)
        .reduce(0, (a, b) -> a | b);
  }

  /// Whether it names a role.
  public boolean names(long role) {
    return items.stream().anyMatch(item -> item.grantee() == role || item.grantor() == role);
  }

  /// A change of what a role has granted to another.
  ///
  /// @param owner of the object
  /// @param grant false: it is taken away
  /// @param cascade what depends on what is taken away goes, too; otherwise it is refused
  public record Change(AclItem item, long owner, boolean grant, boolean cascade, RoleSet roles) {}

  /// @throws EngineException INVALID_GRANT_OPERATION, DEPENDENT_OBJECTS_EXIST
  public Acl changed(Change change) {
    AclItem item = change.item();
    if (change.grant() && item.grantable() != 0) {
      refuseCircle(change);
    }
    List<AclItem> changed = new ArrayList<>(items);
    int at = 0;
    while (at < changed.size()
        && (changed.get(at).grantee() != item.grantee()
            || changed.get(at).grantor() != item.grantor())) {
      at++;
    }
    AclItem before =
        at < changed.size() ? changed.get(at) : new AclItem(item.grantee(), item.grantor(), 0, 0);
    AclItem after =
        change.grant()
            ? before.with(
                before.privileges() | item.privileges(), before.grantable() | item.grantable())
            : before.with(
                before.privileges() & ~item.privileges(), before.grantable() & ~item.grantable());
    if (at == changed.size()) {
      changed.add(after);
    } else {
      changed.set(at, after);
    }
    changed.removeIf(AclItem::isEmpty);
    Acl result = of(changed);
    int lost = before.grantable() & ~after.grantable();
    return lost == 0 ? result : result.without(item.grantee(), lost, change);
  }

  /// Privileges that a role has granted end with its right to grant them.
  private Acl without(long grantor, int lost, Change change) {
    if (grantor == change.owner()) {
      return this;
    }
    int gone = lost & ~grantableBy(grantor, change);
    if (gone == 0) {
      return this;
    }
    for (AclItem item : items) {
      if (item.grantor() == grantor && (item.privileges() & gone) != 0) {
        if (!change.cascade()) {
          throw new EngineException(ErrorCode.DEPENDENT_OBJECTS_EXIST, "dependent privileges exist")
              .withHint("Use CASCADE to revoke them too.");
        }
        AclItem dependent = new AclItem(item.grantee(), grantor, gone, gone);
        return changed(new Change(dependent, change.owner(), false, true, change.roles()))
            .without(grantor, lost, change);
      }
    }
    return this;
  }

  private int grantableBy(long role, Change change) {
    RoleSet roles = change.roles();
    return roles.hasRightsOf(role, change.owner())
        ? -1
        : grantable(each -> roles.hasRightsOf(role, each));
  }

  /// A right to grant must not come back to whom it comes from.
  private void refuseCircle(Change change) {
    AclItem item = change.item();
    if (item.grantor() == change.owner()) {
      return;
    }
    Acl left = this;
    while (true) {
      AclItem given =
          left.items.stream()
              .filter(each -> each.grantee() == item.grantee() && each.grantable() != 0)
              .findFirst()
              .orElse(null);
      if (given == null) {
        break;
      }
      left = left.changed(new Change(given, change.owner(), false, true, change.roles()));
    }
    if ((item.grantable() & ~left.grantableBy(item.grantor(), change)) != 0) {
      throw new EngineException(
          ErrorCode.INVALID_GRANT_OPERATION,
          "grant options cannot be granted back to your own grantor");
    }
  }

  /// Both lists in one.
  public Acl and(Acl other) {
    Acl all = this;
    for (AclItem item : other.items) {
      List<AclItem> merged = new ArrayList<>();
      boolean found = false;
      for (AclItem each : all.items) {
        boolean same = each.grantee() == item.grantee() && each.grantor() == item.grantor();
        found |= same;
        merged.add(
            same
                ? each.with(
                    each.privileges() | item.privileges(), each.grantable() | item.grantable())
                : each);
      }
      if (!found) {
        merged.add(item);
      }
      all = of(merged);
    }
    return all;
  }

  /// The list with other numbers for roles, as when the object gets another owner.
  public Acl renamed(LongUnaryOperator roles) {
    Acl all = EMPTY;
    for (AclItem item : items) {
      all =
          all.and(
              new Acl(
                  List.of(
                      new AclItem(
                          item.grantee() == PUBLIC ? PUBLIC : roles.applyAsLong(item.grantee()),
                          roles.applyAsLong(item.grantor()),
                          item.privileges(),
                          item.grantable()))));
    }
    return all;
  }

  /// Whether both grant the same, in whatever order.
  public boolean isSameAs(Acl other) {
    return items.size() == other.items.size() && items.containsAll(other.items);
  }

  @Override
  public boolean equals(@org.jspecify.annotations.Nullable Object other) {
    return other instanceof Acl acl && items.equals(acl.items);
  }

  @Override
  public int hashCode() {
    return items.hashCode();
  }

  @Override
  public String toString() {
    return items.toString();
  }
}
