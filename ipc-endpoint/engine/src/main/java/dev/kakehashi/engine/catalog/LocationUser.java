package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.rights.Privilege;

/// A role that reads or writes files, with its rights in one version of the catalogue. Immutable.
///
/// @param name of the role
/// @param permissions of the role
public record LocationUser(String name, Permissions permissions) implements BulkUser {
  /// @param role number of the role
  public LocationUser(String name, CatalogSnapshot catalog, long role) {
    this(name, new Permissions(catalog, role));
  }

  @Override
  public boolean mayRead(String location) {
    return may(location, Privilege.READ);
  }

  @Override
  public boolean mayWrite(String location) {
    return may(location, Privilege.WRITE);
  }

  private boolean may(String location, Privilege privilege) {
    return (permissions.onLocation(location) & privilege.bit()) != 0;
  }
}
