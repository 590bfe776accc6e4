package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.api.Store.CatalogChange;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/// Parts of the catalogue that changes touch. Two transactions that touch different parts may change the catalogue side by side, and their
/// changes commit in any order. Confined to one thread at a time.
public final class Footprint {
  private final Set<Long> objects = new LinkedHashSet<>();
  private final Set<DefinedName> names = new LinkedHashSet<>();
  private final Set<DefinedName> schemas = new LinkedHashSet<>();
  private boolean whole;

  /// Adds a change; those of the physical side mean nothing here.
  ///
  /// @param before the catalogue without it
  /// @param after the catalogue with it
  public void add(CatalogSnapshot before, CatalogChange change, CatalogSnapshot after) {
    switch (change) {
      case CatalogChange.Put put -> add(before, put.key(), after);
      case CatalogChange.Remove remove -> add(before, remove.key(), after);
      case CatalogChange.CreateTable create -> {}
      case CatalogChange.DropTable drop -> {}
      case CatalogChange.CreateIndex create -> {}
      case CatalogChange.DropIndex drop -> {}
      case CatalogChange.Reshape reshape -> {}
      case CatalogChange.Redefine redefine -> {}
      case CatalogChange.StartSequence start -> {}
      case CatalogChange.ForgetSequence forget -> {}
    }
  }

  private void add(CatalogSnapshot before, String key, CatalogSnapshot after) {
    if (key.startsWith(CatalogSnapshot.SCHEMA_KEY)) {
      names.add(new DefinedName(key.substring(CatalogSnapshot.SCHEMA_KEY.length()), ""));
    } else if (Access.accepts(key)) {
      whole |= Access.isAboutRoles(key);
      names.add(new DefinedName("", key));
    } else if (key.startsWith(CatalogSnapshot.APPLICATION_KEY)
        || key.startsWith(CatalogSnapshot.JAR_KEY)) {
      whole = true;
    } else {
      long id = Long.parseLong(key.substring(key.indexOf('/') + 1));
      objects.add(id);
      Set<DefinedName> had = before.namesOf(id);
      Set<DefinedName> has = after.namesOf(id);
      addUnlessIn(had, has);
      addUnlessIn(has, had);
      has.forEach(name -> schemas.add(name.container()));
    }
  }

  private void addUnlessIn(Set<DefinedName> some, Set<DefinedName> others) {
    for (DefinedName name : some) {
      if (!others.contains(name)) {
        names.add(name);
      }
    }
  }

  /// Whether something is touched on which anything else may depend: roles, and applications.
  public boolean isWhole() {
    return whole;
  }

  /// Numbers of tables, sequences, views and queues that are made, changed or dropped.
  public Set<Long> objects() {
    return Collections.unmodifiableSet(objects);
  }

  /// Names that are given or taken, and entries that are changed.
  public Set<DefinedName> names() {
    return Collections.unmodifiableSet(names);
  }

  /// Schemas that have to stay.
  public Set<DefinedName> schemas() {
    return Collections.unmodifiableSet(schemas);
  }
}
