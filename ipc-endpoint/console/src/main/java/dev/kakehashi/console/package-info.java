/// The web console: pages for people who run and use the endpoint. `Console` gives its routes to the HTTP door, and uses `rest` like any
/// other routes.
///
/// It has no thread, no timer and no state of visitors: a page runs statements over `kakehashi_catalog` in the visitor's name, so the
/// engine decides what he may see and do.
/// `page` knows `html` and `access`, `access` knows `html`, and `html` knows neither.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console;
