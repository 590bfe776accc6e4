/// Classes of users' code as types of SQL, and records as parameters and rows.
@NullMarked
package dev.kakehashi.applications.type;

import org.jspecify.annotations.NullMarked;
