package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Html;
import java.util.List;
import java.util.Set;

/// A page of the console. Thread-safe, without state of visitors.
interface ConsolePage {
  /// Where it is, and what it is called.
  Frame.Entry entry();

  /// Whether the menu leads to it.
  default boolean isInMenu() {
    return true;
  }

  /// Path of the page of the menu that it belongs to.
  default String menuPath() {
    return entry().path();
  }

  /// Parameters of its address.
  default Set<String> parameters() {
    return Set.of();
  }

  /// Seconds after which a page that is looked at fetches [#live] again; 0: never.
  default int refreshSeconds() {
    return 0;
  }

  /// Its part that shows how things stand now.
  Html live(PageView view);

  /// Part below [#live] that stays as it is.
  default Html still(PageView view) {
    return new Html();
  }

  /// Actions of its forms.
  default List<PageAction> actions() {
    return List.of();
  }
}
