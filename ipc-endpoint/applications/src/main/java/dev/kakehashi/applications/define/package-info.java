/// Definitions of an application: its members, with signatures for the catalogue and code to be called.
@NullMarked
package dev.kakehashi.applications.define;

import org.jspecify.annotations.NullMarked;
